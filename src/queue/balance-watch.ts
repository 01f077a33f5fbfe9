import { effectsOf, type Order } from '../core/order.js';
import type { Books } from '../ledger/books.js';
import type { Balances } from '../ledger/detail.js';
import { endReadback } from '../ledger/readback-end.js';
import type { OrderRef } from '../ledger/sending.js';

/**
 * The continuous check of read-back: while nothing else moves a member, a paid order leaves the balance at
 * exactly what it was plus the tokens, and the next read of that member, by whatever process, finds it so.
 * Once it does not, read-back proves nothing in this run any more.
 */
export class BalanceWatch {
  constructor(
    private readonly books: Books,
    private readonly onTrouble: (message: string) => void,
  ) {}

  /**
   * What the order's members should have, under the hold and before sending. It is held against what was read
   * only once the order is paid: the ledger has said then that nobody else had the hold in between. (Two
   * deliveries of one order may read at once, and one may find what the other has paid.)
   */
  async expected(order: Order): Promise<Expected> {
    const members = effectsOf(order).map(({ member }) => member);
    const { redis } = this.books.caller;
    return this.books.caller.patiently('read balances', () => redis.hmget(this.key, ...members));
  }

  /**
   * Whether a journal has brought back an attempt on a member after it was read for this order. While the
   * order holds its members nothing else is noted of them.
   */
  async overtaken(order: Order): Promise<boolean> {
    return (await this.expected(order)).includes(VOID);
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
      const should = expected[i] ?? VOID;
      if (should !== VOID && should !== was) await this.end(ref, member, should, was);
      const now = String(BigInt(was) + delta);
      if (member === order.member && answered !== null && answered !== now)
        await this.end(ref, member, now, answered);
      else after.push([member, now]);
    }
    const { redis } = this.books.caller;
    // Never over what a merged journal left there since: that is about another order's evidence.
    await this.books.caller.patiently('note balances', () =>
      Promise.all(after.map(([member, balance]) => redis.hsetnx(this.key, member, balance))),
    );
  }

  private async end(ref: OrderRef, member: string, expected: string, found: string): Promise<void> {
    const message = `Member ${member} should have had ${expected} and has ${found}: something else moves members. Read-back proves nothing in this batch any more; every later unknown is a doubt.`;
    if (await endReadback(this.books, ref.no, message, Date.now())) this.onTrouble(message);
  }

  private get key(): string {
    return `${this.books.realm}:expected`;
  }
}

/** For each member that the order moves; null where nothing is known. */
export type Expected = readonly (string | null)[];

/** What a merged journal leaves: the member was moved, and nobody knows to what. */
const VOID = '?';

function balanceOf(order: Order, member: string, balances: Balances): string | null {
  return member === order.member ? balances.member : balances.recipient;
}
