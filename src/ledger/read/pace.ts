import type { Rate } from '../../core/profile.js';
import type { RealmLedger } from '../realm-ledger.js';
import { texts } from '../script-client.js';

/** The slots of a realm's pace: one is taken for each request, and it is told when the request was answered. */

/** What the configuration allows. */
export type Allowed = {
  /** Empty for no limit. */
  readonly requests: number | '';
  readonly windowMs: number;
  /** Requests a window that are left for others. */
  readonly reserve: number;
};

/** No rate is configured; the window only spaces what is told. */
export const UNLIMITED: Allowed = { requests: '', windowMs: 1000, reserve: 0 };

/** What the pace of a realm has learnt (see includes/pace.lua): for `status`, `pace`, the desk and metrics. */
type PaceState = {
  /** A limit lower than the configured one, whether the realm's headers said so or refusals showed it, and when. */
  readonly learnt: LearntLimit | null;
  /** Requests a window that somebody else makes on the same realm; 0 when it is only jitter. */
  readonly others: number;
  /** Requests of ours that count in the window now. */
  readonly used: number;
  /** The whole realm holds back (Retry-After). */
  readonly hold: { readonly sinceMs: number; readonly untilMs: number } | null;
};

type LearntLimit = Rate & { readonly by: 'headers' | 'refusals'; readonly sinceMs: number };

export async function readPaceState(
  { scripts, keyPrefix }: RealmLedger,
  configured: Rate | null,
): Promise<PaceState> {
  const { requests, windowMs } = configured ?? UNLIMITED;
  const [holdEnd, holdMs, others, used, limit, limitMs, by, since] = texts(
    await scripts.script('read-pace', keyPrefix, [requests, windowMs]),
  );
  const learnt: LearntLimit | null =
    limit === undefined
      ? null
      : {
          requests: Number(limit),
          windowMs: Number(limitMs),
          by: by === 'h' ? 'headers' : 'refusals',
          sinceMs: Number(since),
        };
  const untilMs = Number(holdEnd);
  const hold = untilMs === 0 ? null : { sinceMs: untilMs - Number(holdMs), untilMs };
  return { learnt, others: Number(others), used: Number(used), hold };
}
