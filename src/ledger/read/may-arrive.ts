import { storeNowMs } from '../moves/feed.js';
import type { RealmLedger } from '../realm-ledger.js';

/** As in includes/record.lua, until a crew has noted its profile's. */
const SETTLE_MS = 1_200_000;

/** What the scripts reckon in `mayArriveUntil` (includes/record.lua), for those who only look. */
export type Arrivals = {
  readonly nowMs: number;
  /** Until when requests may still arrive that were to be over by `ms`; null where they are. */
  readonly until: (ms: number | null) => number | null;
};

/** By the store's clock, which may have been found stepped. */
export async function readArrivals(ledger: RealmLedger): Promise<Arrivals> {
  const { scripts, keyPrefix } = ledger;
  const [nowMs, [stepped, settle]] = await scripts.retryWhileAway('read the clock', () =>
    Promise.all([storeNowMs(ledger), scripts.redis.hmget(keyPrefix, 'steppedUntil', 'settleMs')]),
  );
  const steppedMs = Number(stepped ?? 0);
  const held = steppedMs <= nowMs + Number(settle ?? SETTLE_MS) ? steppedMs : 0;
  return {
    nowMs,
    until: (ms) => (ms === null || Math.max(ms, held) <= nowMs ? null : Math.max(ms, held)),
  };
}
