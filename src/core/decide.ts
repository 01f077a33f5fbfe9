import type { WriteOutcome } from './classify.js';
import type { Certainty, RealmProfile } from './profile.js';

/**
 * The order's next state after one attempt. `decide` makes the decision once; the settle script only applies it. An
 * order is sent again after a definite "not applied", or with the same key where the realm honours keys. Every other
 * outcome is unknown and needs evidence.
 */
export type Decision = {
  readonly next: 'paid' | 'refused' | 'exhausted' | 'planned' | 'unknown' | 'doubt';
  readonly keyNumber: number;
  readonly tries: number;
  readonly dueInMs: number;
  readonly evidence: 'answer' | 'key' | null;
  /** True if no worker may send another request with this API key. */
  readonly haltRealm: boolean;
  readonly limited: boolean;
};

/** Everything that the decision depends on besides the outcome. */
export type DecisionContext = {
  readonly certainty: Certainty;
  readonly attempts: RealmProfile['attempts'];
  /**
   * Set only for the resend of an unknown order: whether its earlier attempt can still arrive. Null for any other
   * attempt.
   */
  readonly resend: Resend | null;
  readonly keyNumber: number;
  /** Attempts used before this one. */
  readonly tries: number;
  /** All attempts so far, including this one. */
  readonly sent: number;
  readonly random: () => number;
};

/** The state of the settle time when an unknown order is sent again. */
export type Resend = {
  /** `over`: both clocks agree that the settle time has passed, so the earlier request has arrived or never will. */
  readonly settleTime: 'over' | 'not-yet' | 'clocks-disagree';
  readonly settleLeftMs: number;
};

/** Delay before the first read-back: late enough for a slow answer, early enough not to hold up the order. */
const FIRST_LOOK_MS = 250;

/**
 * Decides what becomes of the order: settled, sent again later, or unknown. A resend is judged by `classifyResend`.
 */
export function decide(outcome: WriteOutcome, context: DecisionContext): Decision {
  const unchanged = {
    keyNumber: context.keyNumber,
    tries: context.tries,
    dueInMs: 0,
    evidence: null,
    haltRealm: outcome.kind === 'realm-halted' || outcome.code === 'ALM_SEND_BAD_CERTIFICATE',
    limited: outcome.kind === 'slow-down',
  } as const;
  const [proven, evidence] =
    context.resend === null ? [outcome, 'answer' as const] : [classifyResend(outcome), 'key' as const];
  switch (proven.kind) {
    case 'paid':
      return { ...unchanged, next: 'paid', evidence };
    case 'refused':
      // The realm refuses the resend, but the earlier request may still arrive and be applied.
      if (context.resend !== null && context.resend.settleTime !== 'over')
        return { ...unchanged, ...unsettled(context.resend) };
      // A definite refusal. If a person retries the order, it is sent under a new idempotency key.
      return { ...unchanged, next: 'refused', keyNumber: context.keyNumber + 1, evidence };
    case 'slow-down':
      return {
        ...unchanged,
        next: 'planned',
        dueInMs: requestedPauseMs(outcome) ?? backoffMs(0, context.attempts, context.random),
      };
    case 'realm-halted':
      return { ...unchanged, next: 'planned' };
    case 'not-sent': {
      if (unchanged.haltRealm) return { ...unchanged, next: 'planned' };
      // The realm was not reached, so this attempt does not count against the order. The realm's circuit breaker
      // counts it.
      if (outcome.status === null) return { ...unchanged, next: 'planned', dueInMs: unreachedMs(context) };
      // The profile declares this status as "not sent". It is an answer all the same, and answers use up attempts.
      const tries = context.tries + 1;
      if (tries >= context.attempts.max) return { ...unchanged, next: 'exhausted', tries };
      return {
        ...unchanged,
        next: 'planned',
        tries,
        dueInMs: backoffMs(tries - 1, context.attempts, context.random),
      };
    }
    case 'unknown':
      return { ...unchanged, ...unknown(context, outcome) };
  }
}

/** Chooses how an unknown outcome is resolved, by the realm's certainty. */
function unknown(context: DecisionContext, outcome: WriteOutcome): Pick<Decision, 'next' | 'dueInMs'> {
  switch (context.certainty) {
    case 'manual':
      return { next: 'doubt', dueInMs: 0 };
    case 'readback':
      return { next: 'unknown', dueInMs: FIRST_LOOK_MS };
    case 'idempotent':
      return {
        next: 'unknown',
        dueInMs:
          requestedPauseMs(outcome) ??
          (outcome.kind === 'not-sent'
            ? unreachedMs(context)
            : backoffMs(context.sent - 1, context.attempts, context.random)),
      };
  }
}

/**
 * Keeps a refused resend unknown until the settle time of the earlier request is over. If the clocks disagree, only a
 * person can decide.
 */
function unsettled({ settleTime, settleLeftMs }: Resend): Pick<Decision, 'next' | 'dueInMs'> {
  return settleTime === 'not-yet'
    ? { next: 'unknown', dueInMs: Math.min(settleLeftMs, LONGEST_PAUSE_MS) }
    : { next: 'doubt', dueInMs: 0 };
}

/**
 * Longest pause of one order while its realm is unreachable. The breaker's probe finds out when the realm is back; a
 * long pause per order would only delay the payments.
 */
const UNREACHED_PAUSE_MAX_MS = 5_000;

function unreachedMs({ sent, attempts, random }: DecisionContext): number {
  const backoffMaxMs = Math.min(attempts.backoffMaxMs, UNREACHED_PAUSE_MAX_MS);
  return backoffMs(sent - 1, { ...attempts, backoffMaxMs }, random);
}

/** The pause that the realm asked for, capped. The pace handles longer ones: it holds the whole realm. */
function requestedPauseMs({ retryAfterMs }: WriteOutcome): number | null {
  return retryAfterMs === null ? null : Math.min(retryAfterMs, LONGEST_PAUSE_MS);
}

/**
 * The statuses that settle a resend as refused. Only an answer to the idempotency key itself settles an order whose
 * earlier attempt is unknown. A 401, 429 or 5xx, or a resend that was not sent, concerns the resend alone: the first
 * request may still have been applied, so the order stays unknown.
 */
const ENDS_AS_REFUSED: ReadonlySet<number> = new Set([400, 404, 422]);

/** Takes the outcome that `classify` gave to a resend (overrides included) and keeps only what it proves. */
export function classifyResend(outcome: WriteOutcome): WriteOutcome {
  if (outcome.kind === 'paid') return outcome;
  const refused =
    outcome.kind === 'refused' && outcome.status !== null && ENDS_AS_REFUSED.has(outcome.status);
  return refused || outcome.kind === 'unknown' ? outcome : { ...outcome, kind: 'unknown' };
}

/**
 * No order is delayed longer than this, neither by the realm's Retry-After nor by a setting. A due time further away
 * was written before a clock was set back, and readers ignore it.
 */
export const LONGEST_PAUSE_MS = 30 * 60_000;

/**
 * Exponential backoff with full jitter. It spreads retries over the whole interval; without jitter they would arrive
 * together at its end.
 */
export function backoffMs(
  tries: number,
  settings: { readonly backoffMs: number; readonly backoffMaxMs: number },
  random: () => number,
): number {
  const doubled = settings.backoffMs * 2 ** Math.min(tries, 30);
  return Math.ceil(random() * Math.min(LONGEST_PAUSE_MS, settings.backoffMaxMs, doubled));
}
