import { PACE } from '../../core/pace-constants.js';
import type { Rate } from '../../core/profile.js';
import type { RealmLedger } from '../realm-ledger.js';
import { newNonce, texts } from '../script-client.js';

/**
 * The pace of a realm, one question: may a request leave now, and if not, when? (docs/pace.md) A slot is taken for each request,
 * and the pace is told when it was answered and what the answer said.
 */

/** What the configuration allows. */
export type Allowed = {
  /** Empty for no limit. */
  readonly requests: number | '';
  readonly windowMs: number;
  /** Requests a window that are left for others. */
  readonly reserve: number;
};

/** No rate is configured; the window only spaces what is told. */
export const UNLIMITED: Allowed = { requests: '', windowMs: PACE.UNLIMITED_WINDOW_MS, reserve: 0 };

type SlotsTaken =
  | { readonly answer: 'go'; readonly slots: readonly string[] }
  | { readonly answer: 'wait'; readonly ms: number }
  /** Nothing limits the realm. */
  | { readonly answer: 'free' };

export async function takeSlots(
  { scripts, keyPrefix }: RealmLedger,
  { requests, windowMs, reserve }: Allowed,
  ask: { readonly timeoutMs: number; readonly wanted: number; readonly session: string },
): Promise<SlotsTaken> {
  const given = [requests, windowMs, ask.timeoutMs, reserve, ask.wanted, ask.session, newNonce()];
  const reply = await scripts.script('take-slot', keyPrefix, [...given, ''], [...given, '1']);
  const [answer, ...slots] = texts(reply);
  if (answer === 'go') return { answer, slots };
  const [ms] = slots;
  return answer === 'free' ? { answer } : { answer: 'wait', ms: Number(ms) };
}

/** What became of the request of a slot, and what its answer said of the limit; null for what is not known. */
export type SlotAnswer = {
  readonly slot: string;
  readonly holdMs: number | null;
  /** Refused for the rate, or passed the realm's limit; empty where the answer tells neither. */
  readonly became: 'refused' | 'passed' | '';
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly windowMs: number | null;
};

export type Learnt =
  | {
      readonly what: 'limit';
      readonly requests: number;
      readonly windowMs: number;
      readonly by: 'headers' | 'refusals';
    }
  | { readonly what: 'others'; readonly requests: number }
  | { readonly what: 'free' | 'alone' };

/** Answers with what was learnt of the limit. */
export async function answerSlots(
  { scripts, keyPrefix }: RealmLedger,
  { requests, windowMs, reserve }: Allowed,
  answers: readonly SlotAnswer[],
): Promise<Learnt[]> {
  const told = answers.flatMap((one) => [
    one.slot,
    one.holdMs === null ? '' : Math.ceil(one.holdMs),
    one.became,
    one.limit ?? '',
    one.remaining ?? '',
    one.windowMs ?? '',
  ]);
  const words = texts(await scripts.script('answer-slot', keyPrefix, [requests, windowMs, reserve, ...told]));
  const learnt: Learnt[] = [];
  for (let what = words.shift(); what !== undefined; what = words.shift()) {
    if (what === 'limit') {
      const [limit, ms, by] = words.splice(0, 3);
      learnt.push({
        what,
        requests: Number(limit),
        windowMs: Number(ms),
        by: by === 'h' ? 'headers' : 'refusals',
      });
    } else if (what === 'others') learnt.push({ what, requests: Number(words.shift()) });
    else if (what === 'free' || what === 'alone') learnt.push({ what });
  }
  return learnt;
}

/** The slots that a session died with: the realm need not wait for their time-out. */
export async function freeSlots(ledger: RealmLedger, session: string): Promise<number> {
  return Number(await ledger.scripts.script('free-slots', ledger.keyPrefix, [session]));
}

/** What was learnt while this rate was configured, and a hold that the realm asked for. */
export async function forgetPace(
  { scripts, keyPrefix }: RealmLedger,
  configured: Rate | null,
): Promise<void> {
  const { requests, windowMs } = configured ?? UNLIMITED;
  await scripts.ask('forget pace', (redis) =>
    Promise.all([
      redis.del(`${keyPrefix}:pace:l:${requests}/${windowMs}`),
      redis.hdel(`${keyPrefix}:pace`, 'hold', 'holdMs'),
    ]),
  );
}

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
