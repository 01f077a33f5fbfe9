import type { ErrorCode } from './errors/catalogue.js';

/**
 * What one write attempt came to. The set is closed: decided once, from phase and status, and acted on once.
 * `paid` and `refused` are definite answers, `not-sent` proves that nothing left, `slow-down` and
 * `realm-halted` are answers that promise nothing was applied; everything else is `unknown`.
 */
export const OUTCOME_KINDS = ['paid', 'not-sent', 'refused', 'realm-halted', 'slow-down', 'unknown'] as const;
export type OutcomeKind = (typeof OUTCOME_KINDS)[number];

/** How far the exchange got. Only `connect` and `tls` on a fresh socket prove that nothing was sent. */
export type Phase = 'connect' | 'tls' | 'sent' | 'headers' | 'body' | 'done';

export type RateHeaders = {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetMs: number | null;
  readonly windowMs: number | null;
};

export type WriteOutcome = {
  readonly kind: OutcomeKind;
  /** Stable class of the outcome; null only when paid. */
  readonly code: ErrorCode | null;
  /** One sentence for a person; never holds the key. */
  readonly message: string;
  readonly phase: Phase;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly rate: RateHeaders | null;
  readonly latencyMs: number;
  /** The first 500 characters of the answer's body. */
  readonly body: string;
  /** The member's balance as the answer gave it: digits with an optional sign, exact. */
  readonly balance: string | null;
};
