import type { Rate } from '../../core/profile.js';
import type { RealmLedger } from '../realm-ledger.js';

/** What the pace of a realm has learnt (see includes/pace.lua): for `status`, the desk and metrics. */
export type PaceState = {
  /** A limit lower than the configured one, and whether the realm's headers said so or refusals showed it. */
  readonly learnt: (Rate & { readonly by: 'headers' | 'refusals' }) | null;
  /** Requests a window that somebody else makes on the same realm; 0 when it is only jitter. */
  readonly others: number;
  /** How long the whole realm still holds back (Retry-After). */
  readonly holdMs: number;
};

/** The scripts call fewer than this share of the limit jitter; so does this. */
const OTHERS_SHARE = 0.15;
const OTHERS_MIN = 3;

export async function readPaceState(
  ledger: RealmLedger,
  configured: Rate | null,
  now: number,
): Promise<PaceState> {
  const { redis } = ledger.scripts;
  const key = `${ledger.keyPrefix}:pace`;
  const [limit, limitMs, limitBy, others, othersAt, hold] = await ledger.scripts.retryWhileAway(
    'read pace',
    () => redis.hmget(key, 'limit', 'limitMs', 'limitBy', 'others', 'othersAt', 'hold'),
  );
  const learnt =
    limit == null
      ? null
      : ({
          requests: Number(limit),
          windowMs: Number(limitMs),
          by: limitBy === 'h' ? 'headers' : 'refusals',
        } as const);
  const rate = learnt ?? configured;
  const fresh = rate !== null && now < Number(othersAt ?? 0) + 2 * rate.windowMs;
  const seen = fresh ? Math.floor(Number(others ?? 0)) : 0;
  return {
    learnt,
    others: rate !== null && seen >= Math.max(OTHERS_MIN, OTHERS_SHARE * rate.requests) ? seen : 0,
    holdMs: Math.max(0, Math.ceil(Number(hold ?? 0) - now)),
  };
}
