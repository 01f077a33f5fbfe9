import { backoffMs, LONGEST_PAUSE_MS } from './backoff.js';
import { classifyResend } from './classify-resend.js';
import type { WriteOutcome } from './outcome.js';
import type { Certainty, RealmProfile } from './profile.js';

/**
 * From an attempt's outcome to the order's next state. Decided once, here; the settle script acts on it.
 * An order is sent again only after a definite "not applied", or with the same key where the realm honours
 * keys; everything else is unknown and needs evidence.
 */
export type Decision = {
  readonly next: 'paid' | 'refused' | 'exhausted' | 'wait' | 'unknown' | 'doubt';
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
  readonly keyLifetimeMs: number;
  readonly resend: boolean;
  readonly keyNumber: number;
  /** Attempts used up before this one. */
  readonly tries: number;
  /** All attempts so far, this one included. */
  readonly sent: number;
  /** Since the first attempt whose outcome is unknown; both clocks must agree, else Infinity. */
  readonly unknownForMs: number;
  readonly random: () => number;
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
  const proven = context.resend ? classifyResend(outcome) : outcome;
  switch (proven.kind) {
    case 'paid':
      return { ...same, next: 'paid', evidence: context.resend ? 'key' : 'answer' };
    case 'refused':
      // A definite no: should a person retry it, a new key asks a new question.
      return {
        ...same,
        next: 'refused',
        keyNumber: context.keyNumber + 1,
        evidence: context.resend ? 'key' : 'answer',
      };
    case 'slow-down':
      return {
        ...same,
        next: 'wait',
        dueInMs: asked(outcome) ?? backoffMs(0, context.attempts, context.random),
      };
    case 'realm-halted':
      return { ...same, next: 'wait' };
    case 'not-sent': {
      if (same.haltRealm) return { ...same, next: 'wait' };
      const tries = context.tries + 1;
      if (tries >= context.attempts.max) return { ...same, next: 'exhausted', tries };
      return {
        ...same,
        next: 'wait',
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
      if (context.unknownForMs >= context.keyLifetimeMs) return { next: 'doubt', dueInMs: 0 };
      return {
        next: 'unknown',
        dueInMs: asked(outcome) ?? backoffMs(context.sent - 1, context.attempts, context.random),
      };
  }
}

/** Longer than that is the pace's to wait for: it holds the whole realm. */
function asked({ retryAfterMs }: WriteOutcome): number | null {
  return retryAfterMs === null ? null : Math.min(retryAfterMs, LONGEST_PAUSE_MS);
}
