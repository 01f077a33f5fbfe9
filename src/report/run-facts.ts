import { OPS, type Op } from '../core/order.js';
import type { OrderMark } from '../core/states.js';
import type { AuditEntry, BatchView, RowView, RunSeries } from '../ledger/views.js';
import { FailingGroups } from './failing-groups.js';
import { Slowest } from './slowest.js';

export type RunSpan = { readonly from: number; readonly to: number };

const DOUBTS_SHOWN_MAX = 50;

/**
 * What a person wants to know beyond counts, gathered in the same pass as the files. Everything here is
 * bounded: a million rows leave no more behind than a thousand.
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
  /** The first doubts, in file order; those still being sent or resolved are not yet doubts. */
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

  get paidTokens(): bigint {
    return OPS.reduce((sum, op) => sum + this.paid[op].tokens, 0n);
  }

  /**
   * The last moment the ledger knows of. A report made half-way says "as of" with it instead of the time of
   * writing, so that the same ledger always gives the same bytes.
   */
  asOf(batch: BatchView, audit: readonly AuditEntry[], series: RunSeries): number {
    const moments = [batch.manifest.createdAt, batch.startedAt, batch.finishedAt, this.#to];
    const known = moments.filter((at) => at !== null);
    const lastSlice = series.slices.at(-1);
    if (lastSlice !== undefined) known.push(lastSlice.at);
    return audit.reduce((latest, entry) => Math.max(latest, entry.at), Math.max(...known));
  }
}
