import { describe, expect, test } from 'vitest';
import { readPaceState } from '../../src/ledger/moves/pace-slots.js';
import { Pace } from '../../src/queue/pace.js';
import { ledgersOnRedis } from '../support/ledgers-on-redis.js';
import { testProfile } from '../support/realm-profile.js';
import { storeClockGoesBack } from '../support/store-clock.js';
import { until } from '../support/until.js';

/** A pace against realms that refuse, request by request in real time; the rules themselves are in ledger/moves. */
const bench = ledgersOnRedis();
const WINDOW_MS = 300;
const RATE = { requests: 30, windowMs: WINDOW_MS };

/** Answers with the ms to be patient for, or null where the request is taken. */
type Realm = (now: number) => number | null;

/** Counts what it took within the last window. */
function sliding(limit: () => number): Realm {
  let taken: number[] = [];
  return (now) => {
    taken = taken.filter((at) => at > now - WINDOW_MS);
    if (taken.length >= limit()) return WINDOW_MS;
    taken.push(now);
    return null;
  };
}

/** Counts from the first request of a window on, and says when the next begins. */
function fixed(limit: number): Realm {
  let [begun, count] = [Number.NEGATIVE_INFINITY, 0];
  return (now) => {
    if (now >= begun + WINDOW_MS) [begun, count] = [now, 0];
    count += 1;
    return count > limit ? begun + WINDOW_MS - now : null;
  };
}

async function sending(realm: Realm) {
  const ledger = await bench.ledger();
  const pace = new Pace(ledger, testProfile({ rate: RATE }));
  const seen = { taken: 0, refused: 0, limits: new Set<number>() };
  /** Requests one after the other until this holds. */
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

describe('a realm that refuses', () => {
  test('one request of fifty: it is waited as long as it asks, and never slower after that', async () => {
    const gaps = [31, 29, 44, 70, 33, 41, 90, 35, 37, 61, 38, 53];
    let left = 20;
    const { seen, whileNot, learnt } = await sending(() => {
      left -= 1;
      if (left > 0) return null;
      left = gaps[(seen.refused + 1) % gaps.length] ?? 0;
      return 30;
    });
    await whileNot(async () => {
      const limit = await learnt();
      if (limit !== null) seen.limits.add(limit.requests);
      return seen.taken >= 400;
    });
    expect(seen.refused).toBeGreaterThan(5);
    expect([...seen.limits]).toEqual([]);
  });

  test('from half the rate on finds the limit, keeps to it, and is found again when it takes all', async () => {
    let limit = 30;
    const { seen, whileNot, learnt } = await sending(sliding(() => limit));
    await whileNot(() => seen.taken >= 40);
    limit = 15;
    await whileNot(async () => (await learnt()) !== null);
    expect((await learnt())?.requests).toBeGreaterThanOrEqual(12);
    expect((await learnt())?.requests).toBeLessThanOrEqual(15);
    const before = { ...seen };
    await whileNot(() => seen.taken >= before.taken + 200);
    // A try now and then, where one that only waits would be refused every fifteenth.
    expect(seen.refused - before.refused).toBeLessThanOrEqual(6);
    limit = 30;
    await whileNot(async () => (await learnt()) === null);
  });

  test('is tried again soon although the store’s clock went back', async () => {
    let limit = 15;
    const { whileNot, learnt, ledger } = await sending(sliding(() => limit));
    await whileNot(async () => (await learnt()) !== null);
    await storeClockGoesBack(ledger, 3_600_000);
    limit = 30;
    await whileNot(async () => (await learnt()) === null);
  });

  test('from half the rate on, counted from a fixed beginning, is found as well', async () => {
    const { whileNot, learnt } = await sending(fixed(15));
    await whileNot(async () => (await learnt()) !== null);
    expect((await learnt())?.requests).toBeLessThanOrEqual(20);
  });
});

test('what was learnt and a hold are there for everybody who asks', async () => {
  const { ledger, whileNot, learnt } = await sending(sliding(() => 10));
  await whileNot(async () => (await learnt()) !== null);
  await until('the hold to be over', async () => (await readPaceState(ledger, RATE)).hold === null);
  expect(await learnt()).toMatchObject({ by: 'refusals', windowMs: WINDOW_MS });
});
