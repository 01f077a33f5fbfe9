import type { MemberId } from '../core/ids.js';
import type { Order } from '../core/order.js';
import type { RealmProfile } from '../core/profile.js';
import { batchKeys } from '../ledger/keys.js';
import { type Balances, encodeEvent, type OrderEvent } from '../ledger/order-event.js';
import type { RealmLedger } from '../ledger/realm-ledger.js';
import type { OrderRef } from '../ledger/sending.js';
import type { RealmClient } from '../realm/client/client.js';
import type { Pace } from './pace.js';
import { balanceRead, type ReadTrouble } from './read-trouble.js';

/** Balances read, at the realm's pace, so that a person or the read-back can judge. */
export class Evidence {
  constructor(
    private readonly ledger: RealmLedger,
    private readonly client: RealmClient,
    private readonly pace: Pace,
    private readonly profile: Pick<RealmProfile, 'statusOverrides'>,
  ) {}

  /** One read each, in the currency of the order's batch, up to the first that fails. */
  async balances(order: Order, currency: string | null): Promise<Balances | ReadTrouble> {
    const member = await this.balance(order.member, currency);
    if (typeof member !== 'string') return member;
    const recipient = order.recipient === null ? null : await this.balance(order.recipient, currency);
    return recipient === null || typeof recipient === 'string' ? { member, recipient } : recipient;
  }

  /** One read each; null where it could not be read. */
  async shown(order: Order, currency: string | null): Promise<Balances> {
    const shown = async (id: MemberId) => {
      const read = await this.balance(id, currency);
      return typeof read === 'string' ? read : null;
    };
    const member = await shown(order.member);
    return { member, recipient: order.recipient === null ? null : await shown(order.recipient) };
  }

  /** Becoming a doubt triggers one read of the members involved; what was seen is kept with the order. */
  async ofDoubt(ref: OrderRef, order: Order, currency: string | null): Promise<void> {
    const detail: OrderEvent = {
      event: 'balances',
      at: Date.now(),
      when: 'doubt',
      balances: await this.shown(order, currency),
    };
    await this.note(ref, detail);
  }

  async note(ref: OrderRef, detail: OrderEvent): Promise<void> {
    const { redis } = this.ledger.scripts;
    const key = batchKeys(this.ledger.keyPrefix, ref.no).details(ref.index);
    await this.ledger.scripts.retryWhileAway('note evidence', () => redis.rpush(key, encodeEvent(detail)));
  }

  private async balance(member: MemberId, currency: string | null): Promise<string | ReadTrouble> {
    const slot = await this.pace.take();
    const result = await this.client.readMemberOnce(member, currency);
    slot?.answered(result.facts);
    return balanceRead(result, this.profile);
  }
}
