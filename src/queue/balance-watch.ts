import { effectsOf, membersOf, type Order } from '../core/order.js';
import {
  type Balances,
  endReadback,
  expectedBalances,
  isOvertaken,
  noteBalances,
  type OrderRef,
  type RealmLedger,
} from '../ledger/index.js';

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
  expected(order: Order): Promise<Expected> {
    return expectedBalances(this.ledger, membersOf(order));
  }

  /** Whether a request that nobody can speak for may have moved a member since it was read for this order. */
  overtaken(order: Order, sentAt: number): Promise<boolean> {
    return isOvertaken(this.ledger, membersOf(order), sentAt);
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
    await noteBalances(this.ledger, after);
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
}

/** For each member that the order moves; null where nothing is known. */
export type Expected = readonly (string | null)[];

function balanceOf(order: Order, member: string, balances: Balances): string | null {
  return member === order.member ? balances.member : balances.recipient;
}
