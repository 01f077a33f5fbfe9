import { classify } from '../core/classify.js';
import type { OutcomeCode } from '../core/errors/outcome.js';
import type { WriteOutcome } from '../core/outcome.js';
import type { RealmProfile } from '../core/profile.js';
import type { MemberRecord } from '../realm/client/client.js';
import type { ReadResult } from '../realm/client/read-result.js';

/**
 * Why a balance could not be read.
 *
 *   halted      the answer speaks of the key, the proxy or the certificate
 *   refused     the realm does not know the member
 *   slow-down   asked for by the realm; says nothing else
 *   unreached   no connection came about; says nothing of the member
 *   unread      all else: it may be the realm, or this one member for ever
 */
export type ReadTrouble = Pick<WriteOutcome, 'message' | 'status' | 'retryAfterMs'> & {
  readonly kind: 'halted' | 'refused' | 'slow-down' | 'unreached' | 'unread';
  readonly code: OutcomeCode;
};

export function balanceRead(
  result: ReadResult<MemberRecord>,
  { statusOverrides }: Pick<RealmProfile, 'statusOverrides'>,
): string | ReadTrouble {
  const { status, retryAfterMs } = result.facts;
  if (!result.ok) {
    const { message } = result.error;
    return { ...judged(result, statusOverrides), message, status, retryAfterMs };
  }
  const { id, balance } = result.value;
  if (balance !== null) return balance;
  const message = `The record of member ${id} does not show the balance.`;
  return { kind: 'unread', code: 'ALM_SEND_NO_BALANCE', message, status, retryAfterMs };
}

function judged(
  { error, reached, facts }: Extract<ReadResult<unknown>, { ok: false }>,
  overrides: RealmProfile['statusOverrides'],
): Pick<ReadTrouble, 'kind' | 'code'> {
  if (error.code === 'ALM_REALM_KEY_UNUSABLE') return { kind: 'halted', code: 'ALM_KEY_UNUSABLE' };
  if (error.code === 'ALM_REALM_BAD_CERTIFICATE') return { kind: 'halted', code: 'ALM_SEND_BAD_CERTIFICATE' };
  if (!reached) return { kind: 'unreached', code: 'ALM_SEND_NOT_SENT' };
  if (facts.status === null) return UNREAD;
  // A status that the realm uses in its own way means the same to a read.
  const { kind, code } = classify({ ended: 'answer', status: facts.status, body: 'readable' }, overrides);
  if (kind === 'realm-halted') return { kind: 'halted', code };
  if (kind === 'slow-down') return { kind, code };
  const declared = overrides[facts.status] === kind;
  return kind === 'refused' && (declared || code === 'ALM_REFUSED_NOT_FOUND') ? { kind, code } : UNREAD;
}

const UNREAD = { kind: 'unread', code: 'ALM_SEND_UNREAD' } as const;
