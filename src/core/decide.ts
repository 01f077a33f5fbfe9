import type { WriteOutcome } from './classify.js';
import type { Certainty, RealmProfile } from './profile.js';

/**
 * From an attempt's outcome to the order's next state. It is decided once, here; the settle script acts on it.
 * An order is sent again only after a definite "not applied", or with the same key where the realm honours
 * keys; everything else is unknown and needs evidence.
 */
export type Decision = {
  readonly next: 'paid' | 'refused' | 'exhausted' | 'planned' | 'unknown' | 'doubt';
  readonly keyNumber: number;
  readonly tries: number;
  readonly dueInMs: number;
  readonly evidence: 'answer' | 'key' | null;
  /** No further request with this key may leave any worker. */
  readonly haltRealm: boolean;
  readonly limited: boolean;
};

export type DecisionContext = {
  readonly certainty: Certainty;
  readonly attempts: RealmProfile['attempts'];
  /** Whether an earlier attempt can still arrive, of a resend of an unknown. Null for any other attempt. */
  readonly resend: Resend | null;
  readonly keyNumber: number;
  /** Attempts used up before this one. */
  readonly tries: number;
  /** All attempts so far, this one included. */
  readonly sent: number;
  readonly random: () => number;
};

export type Resend = {
  /** `over`: by both clocks, what stayed unanswered has arrived by now or never will. */
  readonly settleTime: 'over' | 'not-yet' | 'clocks-disagree';
  readonly settleLeftMs: number;
};

/** How soon a read-back looks for the first time: late enough for a slow answer, early enough to go on. */
const FIRST_LOOK_MS = 250;

export function decide(outcome: WriteOutcome, context: DecisionContext): Decision {
  const same = {
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
      return { ...same, next: 'paid', evidence };
    case 'refused':
      // The realm says no to the resend, and what is being resent may still be on its way to a yes.
      if (context.resend !== null && context.resend.settleTime !== 'over')
        return { ...same, ...unsettled(context.resend) };
      // A definite no: should a person retry it, a new key asks a new question.
      return { ...same, next: 'refused', keyNumber: context.keyNumber + 1, evidence };
    case 'slow-down':
      return {
        ...same,
        next: 'planned',
        dueInMs: asked(outcome) ?? backoffMs(0, context.attempts, context.random),
      };
    case 'realm-halted':
      return { ...same, next: 'planned' };
    case 'not-sent': {
      if (same.haltRealm) return { ...same, next: 'planned' };
      // Nothing was reached, so nothing is known against this order: the realm's breaker counts it instead.
      if (outcome.status === null) return { ...same, next: 'planned', dueInMs: unreachedMs(context) };
      // A status that the profile declares a "not sent" is an answer, and answers use attempts up.
      const tries = context.tries + 1;
      if (tries >= context.attempts.max) return { ...same, next: 'exhausted', tries };
      return {
        ...same,
        next: 'planned',
        tries,
        dueInMs: backoffMs(tries - 1, context.attempts, context.random),
      };
    }
    case 'unknown':
      return { ...same, ...unknown(context, outcome) };
  }
}

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
          asked(outcome) ??
          (outcome.kind === 'not-sent'
            ? unreachedMs(context)
            : backoffMs(context.sent - 1, context.attempts, context.random)),
      };
  }
}

function unsettled({ settleTime, settleLeftMs }: Resend): Pick<Decision, 'next' | 'dueInMs'> {
  return settleTime === 'not-yet'
    ? { next: 'unknown', dueInMs: Math.min(settleLeftMs, LONGEST_PAUSE_MS) }
    : { next: 'doubt', dueInMs: 0 };
}

/** A realm that is back gets its orders at once: the breaker's probe says when, not a long pause of each order. */
const UNREACHED_PAUSE_MAX_MS = 5_000;

function unreachedMs({ sent, attempts, random }: DecisionContext): number {
  const backoffMaxMs = Math.min(attempts.backoffMaxMs, UNREACHED_PAUSE_MAX_MS);
  return backoffMs(sent - 1, { ...attempts, backoffMaxMs }, random);
}

/** Longer than that is the pace's to wait for: it holds the whole realm. */
function asked({ retryAfterMs }: WriteOutcome): number | null {
  return retryAfterMs === null ? null : Math.min(retryAfterMs, LONGEST_PAUSE_MS);
}

/**
 * The second table. Once an attempt was unknown and the same key is sent again, only an answer *to that key*
 * ends it. A 401, 429 or 5xx, or a resend that was never sent, speaks of the resend alone: the first
 * request may still have been applied, so the order stays unknown.
 */
const ENDS_AS_REFUSED: ReadonlySet<number> = new Set([400, 404, 422]);

/** Takes a resend's outcome as the first table gave it (overrides included) and keeps only what it proves. */
export function classifyResend(outcome: WriteOutcome): WriteOutcome {
  if (outcome.kind === 'paid') return outcome;
  const refused =
    outcome.kind === 'refused' && outcome.status !== null && ENDS_AS_REFUSED.has(outcome.status);
  return refused || outcome.kind === 'unknown' ? outcome : { ...outcome, kind: 'unknown' };
}

/**
 * No order is put off for longer, by a realm that asks for it or by a setting. A time further away was noted
 * before a clock was stepped back, and whoever finds it goes on at once.
 */
export const LONGEST_PAUSE_MS = 30 * 60_000;

/** Exponential with full jitter: spreads retries over the whole interval instead of bunching them at its end. */
export function backoffMs(
  tries: number,
  settings: { readonly backoffMs: number; readonly backoffMaxMs: number },
  random: () => number,
): number {
  const doubled = settings.backoffMs * 2 ** Math.min(tries, 30);
  return Math.ceil(random() * Math.min(LONGEST_PAUSE_MS, settings.backoffMaxMs, doubled));
}
