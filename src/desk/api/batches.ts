import type { Certainty } from '../../core/profile.js';
import type { BatchState, OrderMark, OrderState } from '../../core/states.js';
import type { Waiting } from '../../core/waiting.js';
import type { LatencyHistogram, OrderEvent, Reason, RunSeries } from '../../ledger/index.js';

/** Batches and their orders. */

export type BatchSummary = {
  readonly batch: string;
  readonly realm: string;
  readonly rehearsal: boolean;
  readonly state: BatchState;
  readonly reason: Reason | null;
  readonly source: string;
  readonly rows: number;
  readonly counts: Readonly<Partial<Record<OrderState, number>>>;
  readonly tokens: Readonly<Partial<Record<OrderState, string>>>;
  readonly requests: number;
  readonly retries: number;
  readonly rateLimited: number;
  /** Orders settled per second of late; null when it does not run. */
  readonly perSecond: number | null;
  readonly allowedPerSecond: number | null;
  /** Null where it depends on a person, or on something whose end nobody knows. */
  readonly etaSeconds: number | null;
  /** Orders that are neither final nor moving, by why. */
  readonly waiting: readonly Waiting[];
  /** What must be known beside the numbers: read-back ended, orders that may have been paid twice. */
  readonly notes: readonly string[];
  readonly mode: 'run' | 'import';
  readonly createdAt: string;
  readonly createdBy: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly archived: boolean;
};

export type BatchesPage = { readonly batches: readonly BatchSummary[]; readonly next: string | null };
export type BatchAction = 'pause' | 'resume' | 'cancel' | 'report' | 'undo';
export type BatchReply = {
  readonly summary: BatchSummary;
  readonly manifest: {
    readonly realmId: string;
    readonly baseUrl: string;
    readonly certainty: Certainty;
    readonly currency: string | null;
    readonly header: readonly string[];
    readonly orders: Readonly<Record<'credit' | 'debit' | 'transfer', number>>;
    readonly tokens: Readonly<Record<'credit' | 'debit' | 'transfer', string>>;
    readonly members: number;
    readonly duplicates: number;
    readonly invalid: number;
    readonly sha256: string;
    readonly again: string | null;
    readonly inOrder: boolean;
  };
  readonly latency: LatencyHistogram;
  readonly series: RunSeries;
  /** What can be done to it now (an operator's role is needed for all but `undo`). */
  readonly can: readonly BatchAction[];
};
export type SteerRequest = { readonly reason?: string };

export type OrdersQuery = {
  readonly state?: OrderState | undefined;
  readonly class?: string | undefined;
  /** Exact for `line`, `member`, `recipient`, `reference`; part of the text for `error` and `any`. */
  readonly search?: string | undefined;
  readonly field?: 'any' | 'member' | 'recipient' | 'reference' | 'line' | 'error' | undefined;
  readonly cursor?: string | undefined;
  /** 1 to 200, 50 unless told. */
  readonly limit?: number | undefined;
};
export type OrderRow = {
  readonly order: string;
  readonly batch: string;
  readonly realm: string;
  readonly index: number;
  readonly line: number;
  readonly op: 'credit' | 'debit' | 'transfer' | null;
  readonly member: string | null;
  readonly recipient: string | null;
  readonly tokens: number | null;
  readonly reference: string | null;
  readonly reason: string | null;
  readonly state: OrderState;
  readonly marks: readonly OrderMark[];
  readonly attempts: number;
  readonly status: number | null;
  readonly balanceAfter: string | null;
  readonly class: string | null;
  readonly message: string | null;
  readonly evidence: string | null;
  readonly sentAt: string | null;
  readonly settledAt: string | null;
};
export type OrdersPage = {
  readonly orders: readonly OrderRow[];
  readonly next: string | null;
  /** Rows looked at so far, over all pages, and rows there are. */
  readonly scanned: number;
  readonly of: number;
};
export type OrderReply = {
  readonly order: OrderRow;
  readonly cells: readonly { readonly column: string; readonly value: string }[];
  /** What it met, oldest first; empty for orders that were paid at the first attempt. */
  readonly history: readonly OrderEvent[];
  readonly can: readonly ('retry' | 'discard' | 'resolve')[];
};

/** Empty when no report was written yet. */
export type FilesReply = {
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly writtenAt: string }[];
};
