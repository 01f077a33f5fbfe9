import { readPaceState } from '../../src/ledger/pace/pace.js';
import { Pace } from '../../src/queue/pace.js';
import type { LedgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { testProfile } from '../support/ledger/realm-profile.js';

/** A pace against realms that refuse, request by request in real time. */
export const WINDOW_MS = 300;
export const RATE = { requests: 30, windowMs: WINDOW_MS };

/** Returns how many ms to wait, or null if the realm accepts the request. */
type Realm = (now: number) => number | null;

/** Counts the accepted requests of the last window. */
export function sliding(limit: () => number): Realm {
  let taken: number[] = [];
  return (now) => {
    taken = taken.filter((at) => at > now - WINDOW_MS);
    if (taken.length >= limit()) return WINDOW_MS;
    taken.push(now);
    return null;
  };
}

/** Counts from the first request of a window on, and says when the next window begins. */
export function fixed(limit: number): Realm {
  let [begun, count] = [Number.NEGATIVE_INFINITY, 0];
  return (now) => {
    if (now >= begun + WINDOW_MS) [begun, count] = [now, 0];
    count += 1;
    return count > limit ? begun + WINDOW_MS - now : null;
  };
}

export async function sendingTo(realm: Realm, bench: LedgersOnRedis) {
  const ledger = await bench.ledger();
  const pace = new Pace(ledger, testProfile({ rate: RATE }));
  const seen = { taken: 0, refused: 0, limits: new Set<number>() };
  /** Sends requests one after the other until this holds. */
  const whileNot = async (isOver: () => Promise<boolean> | boolean) => {
    for (let sent = 0; sent < 3_000; sent++) {
      const slot = await pace.take();
      const retryAfterMs = realm(performance.now());
      if (retryAfterMs === null) seen.taken += 1;
      else seen.refused += 1;
      slot?.answered({ status: retryAfterMs === null ? 200 : 429, retryAfterMs, rate: null });
      if (await isOver()) return;
    }
    throw new Error('this was not seen within 3,000 requests');
  };
  const learnt = async () => (await readPaceState(ledger, RATE)).learnt;
  return { seen, whileNot, learnt, ledger };
}
