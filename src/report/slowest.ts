import type { RowView } from '../ledger/views.js';

const SLOWEST_MAX = 10;

export type SlowOrder = {
  readonly row: Pick<RowView, 'order' | 'line' | 'op' | 'member' | 'tokens' | 'state' | 'attempts'>;
  readonly tookMs: number;
};

export type SlowGroup = { readonly name: string; count: number; totalMs: number; maxMs: number };

/** Time between sending an order and knowing what became of it: the slowest orders, and by kind of order. */
export class Slowest {
  #orders: SlowOrder[] = [];
  readonly #groups = new Map<string, SlowGroup>();

  add(row: RowView): void {
    if (row.sentAt === null || row.settledAt === null) return;
    const tookMs = row.settledAt - row.sentAt;
    if (tookMs < 0) return;
    this.#addToGroup(`${row.op ?? 'row'}, ${row.state}`, tookMs);
    const last = this.#orders[SLOWEST_MAX - 1];
    if (last !== undefined && last.tookMs >= tookMs) return;
    // Stable: of two that took equally long, the one earlier in the file stays first.
    const { order, line, op, member, tokens, state, attempts } = row;
    this.#orders.push({ row: { order, line, op, member, tokens, state, attempts }, tookMs });
    this.#orders = this.#orders.sort((a, b) => b.tookMs - a.tookMs).slice(0, SLOWEST_MAX);
  }

  orders(): readonly SlowOrder[] {
    return this.#orders;
  }

  /** The slowest kind first, by its mean. */
  groups(): readonly SlowGroup[] {
    const mean = (group: SlowGroup) => group.totalMs / group.count;
    return [...this.#groups.values()].sort((a, b) => mean(b) - mean(a) || (a.name < b.name ? -1 : 1));
  }

  #addToGroup(name: string, tookMs: number): void {
    const group = this.#groups.get(name) ?? { name, count: 0, totalMs: 0, maxMs: 0 };
    group.count += 1;
    group.totalMs += tookMs;
    group.maxMs = Math.max(group.maxMs, tookMs);
    this.#groups.set(name, group);
  }
}
