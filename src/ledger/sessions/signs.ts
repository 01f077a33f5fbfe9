import type { Sign } from '../../core/standing.js';
import { isAtWork } from '../../core/what-waits.js';
import { storeNowMs } from '../moves/feed.js';
import type { RealmLedger } from '../realm-ledger.js';
import { listSessions } from './session.js';

/** The signs of life of a realm's sending processes, and the store's time. */
export type Signs = { readonly nowMs: number; readonly signs: readonly Sign[] };

export async function readSigns(ledger: RealmLedger): Promise<Signs> {
  const { scripts, keyPrefix } = ledger;
  const [entries, [seen, nowMs]] = await Promise.all([
    listSessions(ledger),
    scripts.retryWhileAway('read signs of life', () =>
      Promise.all([scripts.redis.hgetall(`${keyPrefix}:seen`), storeNowMs(ledger)]),
    ),
  ]);
  const signs = await Promise.all(
    entries.map(async (entry): Promise<Sign> => {
      const { id: session, kind, pid, machine, startedAt } = entry;
      const beat = seen[session];
      const seenMs = beat === undefined ? startedAt : Number(beat);
      const life = await scripts.here.liveness(entry);
      return { session, kind, pid, machine, life, seenMs, beats: beat !== undefined };
    }),
  );
  return { nowMs, signs };
}

/** The workers of a realm that are neither dead nor silent. */
export async function workersAtWork(ledger: RealmLedger): Promise<string[]> {
  const { nowMs, signs } = await readSigns(ledger);
  return signs
    .filter((sign) => sign.kind === 'worker' && isAtWork(sign, nowMs))
    .map(({ session }) => session);
}
