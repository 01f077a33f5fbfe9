import type { WriteOutcome } from '../core/classify.js';
import type { Decision } from '../core/decide.js';
import { UNDO } from '../core/ids.js';
import type { RealmProfile } from '../core/profile.js';
import type { Manifest, OrderEvent, sending } from '../ledger/index.js';
import { haltReason, refusalReason } from './reasons.js';

/** An attempt that has begun. */
export type Attempt = {
  readonly manifest: Manifest;
  readonly nonce: string;
  readonly begun: sending.Begun;
  readonly key: string;
  readonly reference: string | null;
};

/** Makes the settlement that the ledger takes, from the outcome of an attempt and the decision about it. */
export function settlementOf(
  profile: RealmProfile,
  { manifest, nonce, begun, key, reference }: Attempt,
  outcome: WriteOutcome,
  decision: Decision,
): sending.Settlement {
  // Members who have spent their points say nothing of the file or the address: the undo goes on.
  const isSpent = reference?.startsWith(UNDO) === true && outcome.code === 'ALM_REFUSED_BALANCE';
  const plain = decision.next === 'paid' && begun.attempts === 1;
  // A reply that does not settle the order does not reset its settle timer.
  const until =
    begun.unansweredUntil !== null && decision.next === 'unknown' && outcome.kind !== 'unknown'
      ? begun.unansweredUntil
      : begun.sentAt + outcome.latencyMs;
  return {
    to: decision.next,
    keyNumber: decision.keyNumber,
    keyFirstAt: decision.keyNumber === begun.keyNumber ? begun.keyFirstAt : null,
    attempts: begun.attempts,
    tries: decision.tries,
    status: outcome.status,
    balance: outcome.balance,
    sentAt: begun.firstSentAt,
    tookMs: Math.max(0, until - begun.firstSentAt),
    latencyMs: outcome.latencyMs,
    evidence: decision.evidence,
    dueInMs: decision.dueInMs,
    detail: plain ? null : attemptDetail(key, nonce, outcome, begun.sentAt),
    requests: outcome.kind === 'not-sent' ? 0 : 1,
    limited: decision.limited,
    errorCode: outcome.code,
    sliceMs: manifest.sliceMs,
    batchCreatedAt: manifest.createdAt,
    haltRealm: decision.haltRealm ? haltReason(profile, outcome) : null,
    refusalReason: decision.next === 'refused' && !isSpent ? refusalReason(outcome) : null,
  };
}

function attemptDetail(key: string, attempt: string, outcome: WriteOutcome, at: number): OrderEvent {
  const { kind, code, message, status, phase, requestId, latencyMs, body } = outcome;
  return {
    event: 'attempt',
    at,
    key,
    attempt,
    kind,
    code,
    message,
    status,
    phase,
    requestId,
    latencyMs,
    body,
  };
}
