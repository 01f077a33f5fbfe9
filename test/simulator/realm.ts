import type { OutcomeKind } from '../../src/core/classify.js';
import type { MemberId, OrderId } from '../../src/core/ids.js';
import { effectsOf, type Order } from '../../src/core/order.js';
import type { Fate } from '../support/machines/played-realm.js';
import type { Clocks } from './clocks.js';

/**
 * The realm: it applies what reaches it, forgets keys after their lifetime, and is never rolled back. Its log is the
 * only truth about payments, and it knows orders, not keys.
 */

/** A request that has not arrived within this time never will. */
export const SETTLE_MS = 20 * 60_000;
export const KEY_LIFETIME_MS = 24 * 60 * 60_000;

export type Request = { readonly id: OrderId; readonly order: Order; readonly key: string };

type Late = Request & { readonly atMs: number };

export class Realm {
  /** The applied orders, in sequence. */
  readonly applied: OrderId[] = [];
  private readonly lastAt = new Map<OrderId, number>();
  private readonly keys = new Map<string, number>();
  private readonly balances = new Map<MemberId, bigint>();
  private late: Late[] = [];
  /** The number of reads that will fail. */
  blind = 0;

  constructor(
    private readonly honoursKeys: boolean,
    private readonly clocks: Clocks,
  ) {}

  /** Applies a request according to its fate; returns what the sender hears. */
  receive(request: Request, fate: Fate): OutcomeKind {
    if (fate === 'not-sent' || fate === 'slow-down') return fate;
    this.lastAt.set(request.id, this.clocks.trueMs);
    switch (fate) {
      case 'refused':
        // Where keys are honoured, an applied key gets its first answer again.
        return this.knows(request.key) ? 'paid' : 'refused';
      case 'lost-late':
        this.late.push({ ...request, atMs: this.clocks.trueMs + 0.9 * SETTLE_MS });
        return 'unknown';
      case 'lost-before':
        return 'unknown';
      case 'lost-after':
        this.apply(request);
        return 'unknown';
      case 'paid':
        this.apply(request);
        return 'paid';
    }
  }

  pass(ms: number): void {
    const end = this.clocks.trueMs + ms;
    const landing = this.late.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs);
    this.late = this.late.filter(({ atMs }) => atMs > end);
    for (const one of landing) {
      this.clocks.trueMs = Math.max(this.clocks.trueMs, one.atMs);
      this.apply(one);
    }
    this.clocks.trueMs = end;
  }

  /** Null if the read fails. */
  balance(member: MemberId): bigint | null {
    if (this.blind > 0) {
      this.blind -= 1;
      return null;
    }
    return this.held(member);
  }

  /** The balance in an export of the realm. */
  shownBalance(member: MemberId): bigint {
    return this.held(member);
  }

  /** Another system moves the member's balance, by more than all orders together. */
  meddle(member: MemberId): void {
    this.balances.set(member, this.held(member) + 1_000_000n);
  }

  hasHeardOf(id: OrderId): boolean {
    return this.lastAt.has(id);
  }

  hasApplied(id: OrderId): boolean {
    return this.applied.includes(id);
  }

  /** Whether no request of the order can still arrive. */
  isOver(id: OrderId): boolean {
    return this.clocks.trueMs - (this.lastAt.get(id) ?? Number.NEGATIVE_INFINITY) >= SETTLE_MS;
  }

  private apply({ id, order, key }: Request): void {
    if (this.knows(key)) return;
    this.keys.set(key, this.clocks.trueMs);
    this.applied.push(id);
    for (const { member, delta } of effectsOf(order)) this.balances.set(member, this.held(member) + delta);
  }

  private knows(key: string): boolean {
    const since = this.keys.get(key);
    return this.honoursKeys && since !== undefined && this.clocks.trueMs - since < KEY_LIFETIME_MS;
  }

  private held(member: MemberId): bigint {
    return this.balances.get(member) ?? 10_000n;
  }
}
