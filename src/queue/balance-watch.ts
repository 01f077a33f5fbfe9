import { effectsOf, membersOf, type Order } from '../core/order.js';
import { type Balances, endReadback, type OrderRef, type RealmLedger } from '../ledger/index.js';

/**
 * The continuous check of read-back: while nothing else moves a member, a paid order leaves the balance at
 * exactly what it was plus the tokens, and the next read of that member, by whatever process, finds it so.
 * Once it does not, read-back proves nothing in this run any more.
 */
export class BalanceWatch {
  constructor(
    private readonly ledger: RealmLedger,
    private readonly onTrouble: (message: string) => void,
  ) {}

  /**
   * What the order's members should have, under the hold and before sending. It is held against what was read
   * only once the order is paid: the ledger has said then that nobody else had the hold in between. (Two
   * deliveries of one order may read at once, and one may find what the other has paid.)
   */
  async expected(order: Order): Promise<Expected> {
    const { redis } = this.ledger.scripts;
    return this.ledger.scripts.retryWhileAway('read balances', () =>
      redis.hmget(this.key, ...membersOf(order)),
    );
  }

  /**
   * Whether a request that nobody can speak for may have moved a member since it was read for this order: one
   * whose order became a doubt, or one that only a journal knew of. Such a mark stays while a hold does.
   */
  async overtaken(order: Order, sentAt: number): Promise<boolean> {
    const { redis } = this.ledger.scripts;
    const { keyPrefix } = this.ledger;
    return this.ledger.scripts.retryWhileAway('read void marks', async () => {
      const [marks, [unheldAt, settleMs, stepped]] = await Promise.all([
        redis.hmget(`${keyPrefix}:void`, ...membersOf(order)),
        redis.hmget(keyPrefix, 'unheldAt', 'settleMs', 'steppedUntil'),
      ]);
      if (marks.some((mark) => mark !== null)) return true;
      // Orders of other certainties hold nothing, so that they may have moved any member meanwhile.
      if (unheldAt == null) return false;
      const waitMs = Number(settleMs ?? SETTLE_MS);
      const steppedMs = Number(stepped ?? 0);
      return Number(unheldAt) + waitMs >= sentAt || (steppedMs >= sentAt && steppedMs - waitMs <= sentAt);
    });
  }

  /** Before the settle lets go of the members. */
  async paid(
    ref: OrderRef,
    order: Order,
    before: Balances,
    expected: Expected,
    answered: string | null,
  ): Promise<void> {
    const after: [member: string, balance: string][] = [];
    for (const [i, { member, delta }] of effectsOf(order).entries()) {
      const was = balanceOf(order, member, before);
      if (was === null) continue;
      const should = expected[i] ?? was;
      if (should !== was) await this.end(ref, order, member, should, was);
      const now = String(BigInt(was) + delta);
      if (member === order.member && answered !== null && answered !== now)
        await this.end(ref, order, member, now, answered);
      else after.push([member, now]);
    }
    const { redis } = this.ledger.scripts;
    // Never over what another order has left since: this process may have been frozen, and its hold given up.
    await this.ledger.scripts.retryWhileAway('note balances', () =>
      Promise.all(after.map(([member, balance]) => redis.hsetnx(this.key, member, balance))),
    );
  }

  private async end(
    ref: OrderRef,
    order: Order,
    member: string,
    expected: string,
    found: string,
  ): Promise<void> {
    // Then it may have been a request of our own that came late.
    if (await this.overtaken(order, Date.now())) return;
    const message = `Member ${member} should have had ${expected} and has ${found}: something else moves members. Read-back proves nothing in this batch any more; every later unknown is a doubt.`;
    if (await endReadback(this.ledger, ref.no, message, Date.now())) this.onTrouble(message);
  }

  private get key(): string {
    return `${this.ledger.keyPrefix}:expected`;
  }
}

/** As the scripts have it where no crew has noted its profile's yet. */
const SETTLE_MS = 1_200_000;

/** For each member that the order moves; null where nothing is known. */
export type Expected = readonly (string | null)[];

function balanceOf(order: Order, member: string, balances: Balances): string | null {
  return member === order.member ? balances.member : balances.recipient;
}
