import type { OutcomeKind } from '../../../src/core/classify.js';
import { effectsOf, type Order } from '../../../src/core/order.js';
import type { Balances } from '../../../src/ledger/order-event.js';

/** A realm in this process with clocks that only the test moves. It is never rolled back. */

/** The fate of one request. `lost-…`: no answer comes; the change was made, was not made, or is made later. */
export type Fate = 'paid' | 'lost-after' | 'lost-before' | 'lost-late' | 'refused' | 'not-sent' | 'slow-down';

/** The settle time: a request that has not arrived by then never will. */
export const SETTLE_MS = 1_000;

export class Clocks {
  storeMs = 0;
  ownMs = 0;

  pass(ms: number): void {
    this.storeMs += ms;
    this.ownMs += ms;
  }
}

type Late = { readonly index: number; readonly key: string; readonly atMs: number };

export class PlayedRealm {
  readonly applied = new Map<number, number>();
  private readonly answered = new Set<string>();
  private readonly balances = new Map<string, bigint>();
  private late: Late[] = [];

  constructor(
    private readonly honoursKeys: boolean,
    public orderOf: (index: number) => Order,
    private readonly clocks: Clocks,
  ) {}

  take(index: number, key: string, fate: Fate): OutcomeKind {
    if (fate === 'not-sent' || fate === 'slow-down') return fate;
    // A realm that honours keys repeats its first answer to a key.
    if (fate === 'refused') return this.honoursKeys && this.answered.has(key) ? 'paid' : fate;
    if (fate === 'lost-late')
      this.late.push({ index, key, atMs: this.clocks.ownMs + Math.floor(0.9 * SETTLE_MS) });
    else if (fate !== 'lost-before') this.apply(index, key);
    return fate === 'paid' ? 'paid' : 'unknown';
  }

  pass(ms: number): void {
    this.clocks.pass(ms);
    const now = this.clocks.ownMs;
    for (const { index, key } of this.late.filter(({ atMs }) => atMs <= now)) this.apply(index, key);
    this.late = this.late.filter(({ atMs }) => atMs > now);
  }

  read(order: Order): Balances {
    return {
      member: String(this.balance(order.member)),
      recipient: order.recipient === null ? null : String(this.balance(order.recipient)),
    };
  }

  private apply(index: number, key: string): void {
    if (this.honoursKeys && this.answered.has(key)) return;
    this.answered.add(key);
    this.applied.set(index, (this.applied.get(index) ?? 0) + 1);
    for (const { member, delta } of effectsOf(this.orderOf(index)))
      this.balances.set(member, this.balance(member) + delta);
  }

  private balance(member: string): bigint {
    return this.balances.get(member) ?? 10_000n;
  }
}
