import type { MemberId } from '../core/ids.js';
import type { Order } from '../core/order.js';
import type { Books } from '../ledger/books.js';
import { type Balances, type Detail, encodeDetail } from '../ledger/detail.js';
import { batchKeys } from '../ledger/keys.js';
import type { OrderRef } from '../ledger/sending.js';
import type { RealmClient } from '../realm/client/client.js';
import type { Pace } from './pace.js';

/** Balances read, at the realm's pace, so that a person or the read-back can judge. */
export class Evidence {
  constructor(
    private readonly books: Books,
    private readonly client: RealmClient,
    private readonly pace: Pace,
  ) {}

  /** One read each; null where it could not be read. */
  async balances(order: Order): Promise<Balances> {
    const member = await this.balance(order.member);
    const recipient = order.recipient === null ? null : await this.balance(order.recipient);
    return { member, recipient };
  }

  /** Becoming a doubt triggers one read of the members involved; what was seen is kept with the order. */
  async ofDoubt(ref: OrderRef, order: Order): Promise<void> {
    const detail: Detail = {
      event: 'balances',
      at: Date.now(),
      when: 'doubt',
      balances: await this.balances(order),
    };
    await this.note(ref, detail);
  }

  async note(ref: OrderRef, detail: Detail): Promise<void> {
    const { redis } = this.books.caller;
    const key = batchKeys(this.books.realm, ref.no).details(ref.index);
    await this.books.caller.patiently('note evidence', () => redis.rpush(key, encodeDetail(detail)));
  }

  private async balance(member: MemberId): Promise<string | null> {
    const slot = await this.pace.take();
    const result = await this.client.readMemberOnce(member);
    slot?.answered(result.facts);
    return result.ok ? result.value.balance : null;
  }
}
