import { classify, type WriteOutcome } from '../core/classify.js';
import type { OutcomeCode } from '../core/errors/orders.js';
import type { MemberId } from '../core/ids.js';
import type { Order } from '../core/order.js';
import type { RealmProfile } from '../core/profile.js';
import { type OrderRef, type RealmLedger, reading, sending } from '../ledger/index.js';
import type { MemberRecord, RealmClient } from '../realm/client/client.js';
import type { ReadResult } from '../realm/client/outcomes.js';
import type { Pace } from './pace.js';

/** Balances read, at the realm's pace, so that a person or the read-back can judge. */
export class Evidence {
  constructor(
    private readonly ledger: RealmLedger,
    private readonly client: RealmClient,
    private readonly pace: Pace,
    private readonly profile: Pick<RealmProfile, 'statusOverrides'>,
  ) {}

  /** One read each, in the currency of the order's batch, up to the first that fails. */
  async balances(order: Order, currency: string | null): Promise<reading.Balances | ReadTrouble> {
    const member = await this.balance(order.member, currency);
    if (typeof member !== 'string') return member;
    const recipient = order.recipient === null ? null : await this.balance(order.recipient, currency);
    return recipient === null || typeof recipient === 'string' ? { member, recipient } : recipient;
  }

  /** One read each; null where it could not be read. */
  async shown(order: Order, currency: string | null): Promise<reading.Balances> {
    const shown = async (id: MemberId) => {
      const read = await this.balance(id, currency);
      return typeof read === 'string' ? read : null;
    };
    const member = await shown(order.member);
    return { member, recipient: order.recipient === null ? null : await shown(order.recipient) };
  }

  /** Becoming a doubt triggers one read of the members involved; what was seen is kept with the order. */
  async ofDoubt(ref: OrderRef, order: Order, currency: string | null): Promise<void> {
    const { doubt } = reading.evidence.namedBy(
      await reading.orders.record({ ledger: this.ledger, no: ref.no }, ref.index),
    );
    if (doubt === null) return;
    const balances = await this.shown(order, currency);
    const event = { event: 'balances', at: Date.now(), when: 'doubt', doubt, balances } as const;
    await sending.readback.noteEvent(this.ledger, ref, event);
  }

  private async balance(member: MemberId, currency: string | null): Promise<string | ReadTrouble> {
    const slot = await this.pace.take();
    const result = await this.client.readMember(member, currency);
    slot?.answered(result.facts);
    return balanceRead(result, this.profile.statusOverrides);
  }
}

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

function balanceRead(
  result: ReadResult<MemberRecord>,
  overrides: RealmProfile['statusOverrides'],
): string | ReadTrouble {
  const { status, retryAfterMs } = result.facts;
  if (!result.ok) {
    const { message } = result.error;
    return { ...judged(result, overrides), message, status, retryAfterMs };
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
