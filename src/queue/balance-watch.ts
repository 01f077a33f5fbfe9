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

  /** Under the hold, before sending. What was expected is void from here on, until this order is paid. */
  async foundBefore(ref: OrderRef, order: Order, before: Balances): Promise<void> {
    const members = effectsOf(order).map(({ member }) => member);
    const { redis } = this.books.caller;
    const expected = await this.books.caller.patiently('read balances', () =>
      redis.hmget(this.key, ...members),
    );
    await this.books.caller.patiently('forget balances', () => redis.hdel(this.key, ...members));
    for (const [i, member] of members.entries()) {
      const was = expected[i] ?? null;
      const is = balanceOf(order, member, before);
      if (was !== null && was !== VOID && is !== null && was !== is) await this.end(ref, member, was, is);
    }
  }

  /**
   * Whether a journal has brought back an attempt on a member after it was read for this order. While the
   * order holds its members nothing else is noted of them.
   */
  async overtaken(order: Order): Promise<boolean> {
    const members = effectsOf(order).map(({ member }) => member);
    const { redis } = this.books.caller;
    const noted = await this.books.caller.patiently('read balances', () => redis.hmget(this.key, ...members));
    return noted.some((one) => one !== null);
  }

  /** Before the settle lets go of the members. */
  async paid(ref: OrderRef, order: Order, before: Balances, answered: string | null): Promise<void> {
    const after: string[] = [];
    for (const { member, delta } of effectsOf(order)) {
      const was = balanceOf(order, member, before);
      if (was === null) continue;
      const expected = String(BigInt(was) + delta);
      if (member === order.member && answered !== null && answered !== expected)
        await this.end(ref, member, expected, answered);
      else after.push(member, expected);
    }
    if (after.length === 0) return;
    const { redis } = this.books.caller;
    await this.books.caller.patiently('note balances', () => redis.hset(this.key, ...after));
  }

  private async end(ref: OrderRef, member: string, expected: string, found: string): Promise<void> {
    const message = `Member ${member} should have had ${expected} and has ${found}: something else moves members. Read-back proves nothing in this batch any more; every later unknown is a doubt.`;
    if (await endReadback(this.books, ref.no, message, Date.now())) this.onTrouble(message);
  }

  private get key(): string {
    return `${this.books.realm}:expected`;
  }
}

/** What a merged journal leaves: the member was moved, and nobody knows to what. */
const VOID = '?';

function balanceOf(order: Order, member: string, balances: Balances): string | null {
  return member === order.member ? balances.member : balances.recipient;
}
