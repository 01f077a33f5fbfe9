import type { WriteOutcome } from './outcome.js';

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
