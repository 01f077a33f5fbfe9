import type { ErrorCode } from '../core/errors/catalogue.js';
import type { Op } from '../core/order.js';
import type { OrderMark, OrderState } from '../core/states.js';
import type { AuditEntry, BatchRecord, BatchView, RowView } from '../ledger/index.js';
import { messagePattern } from '../words/spelling.js';

export type RunSpan = { readonly from: number; readonly to: number };

const DOUBTS_SHOWN_MAX = 50;

/**
 * Collects facts for people beyond counts, in the same pass that writes the files. Everything here is bounded: a
 * million rows need no more memory than a thousand.
 */
export class RunFacts {
  readonly failing = new FailingGroups();
  readonly slowest = new Slowest();
  readonly marks: Record<OrderMark, number> = { discarded: 0, replaced: 0 };
  readonly paid: Record<Op, { orders: number; tokens: bigint }> = {
    credit: { orders: 0, tokens: 0n },
    debit: { orders: 0, tokens: 0n },
    transfer: { orders: 0, tokens: 0n },
  };
  /** The first doubts in file order. Orders that are still being sent or resolved are not doubts yet. */
  readonly doubts: RowView[] = [];
  #from: number | null = null;
  #to: number | null = null;

  add(row: RowView): void {
    for (const mark of row.marks) this.marks[mark] += 1;
    if (row.state === 'paid' && row.op !== null && row.tokens !== null) {
      this.paid[row.op].orders += 1;
      this.paid[row.op].tokens += BigInt(row.tokens);
    }
    if (row.state === 'doubt' && this.doubts.length < DOUBTS_SHOWN_MAX) this.doubts.push(row);
    this.failing.add(row);
    this.slowest.add(row);
    if (row.sentAt !== null) {
      this.#from = Math.min(this.#from ?? row.sentAt, row.sentAt);
      this.#to = Math.max(this.#to ?? row.sentAt, row.sentAt, row.settledAt ?? row.sentAt);
    }
  }

  get span(): RunSpan | null {
    return this.#from === null || this.#to === null ? null : { from: this.#from, to: this.#to };
  }

  /**
   * The last moment that the ledger knows of. The report of an unfinished batch says "as of" this time instead of the
   * time of writing, so that the same ledger always gives the same bytes.
   */
  asOf(batch: BatchView, audit: readonly AuditEntry[], series: BatchRecord['series']): number {
    const moments = [batch.manifest.createdAt, batch.startedAt, batch.finishedAt, this.#to];
    const known = moments.filter((at) => at !== null);
    const lastSlice = series.slices.at(-1);
    if (lastSlice !== undefined) known.push(lastSlice.at);
    return audit.reduce((latest, entry) => Math.max(latest, entry.at), Math.max(...known));
  }
}

const SLOWEST_MAX = 10;

type SlowOrder = { readonly row: RowView; readonly tookMs: number };

type SlowGroup = { readonly name: string; count: number; totalMs: number; maxMs: number };

/** The time between sending an order and its result: the slowest orders, and the times per kind of order. */
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
    // The sort is stable: of two equally slow orders, the one earlier in the file comes first.
    this.#orders = [...this.#orders, { row, tookMs }]
      .sort((a, b) => b.tookMs - a.tookMs)
      .slice(0, SLOWEST_MAX);
  }

  orders(): readonly SlowOrder[] {
    return this.#orders;
  }

  /** The groups by mean time, the slowest first. */
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

const GROUPS_MAX = 200;
const EXAMPLES_MAX = 5;

/** Failed orders with one cause. */
type FailingGroup = {
  readonly code: ErrorCode | null;
  /** The message of the first order in the group. Null once different messages share the group. */
  readonly message: string | null;
  readonly states: Set<OrderState>;
  count: number;
  tokens: bigint;
  readonly first: Pick<RowView, 'order' | 'line'>[];
};

/**
 * Groups the failed orders by error code and message. Messages that differ only in an id or an amount are one group
 * ("member 119… not found" 3,000 times is one problem). If a realm sends ever new texts, those beyond the limit share
 * one group per code.
 */
export class FailingGroups {
  readonly #groups = new Map<string, FailingGroup>();

  add(row: RowView): void {
    // A duplicate may carry the code that says what spent its reference. It is no failure.
    if (row.state === 'paid' || row.state === 'duplicate') return;
    if (row.errorCode === null && row.error === null) return;
    const group = this.#groupFor(row);
    group.count += 1;
    group.states.add(row.state);
    if (row.tokens !== null) group.tokens += BigInt(row.tokens);
    if (group.first.length < EXAMPLES_MAX) group.first.push({ order: row.order, line: row.line });
  }

  /**
   * The groups by size, the largest first. Equal ones are sorted by code and message, so that the order is always the
   * same.
   */
  list(): readonly FailingGroup[] {
    return [...this.#groups]
      .sort(([a, one], [b, two]) => two.count - one.count || (a < b ? -1 : 1))
      .map(([, group]) => group);
  }

  #groupFor({ errorCode: code, error }: RowView): FailingGroup {
    const own = `${code ?? ''} ${messagePattern(error)}`;
    const full = !this.#groups.has(own) && this.#groups.size >= GROUPS_MAX;
    const key = full ? `${code ?? ''} ` : own;
    const message = full ? null : error;
    const group = this.#groups.get(key) ?? {
      code,
      message,
      states: new Set(),
      count: 0,
      tokens: 0n,
      first: [],
    };
    this.#groups.set(key, group);
    return group;
  }
}
