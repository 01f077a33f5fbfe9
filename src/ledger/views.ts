import type { ErrorCode } from '../core/errors/catalogue.js';
import type { BatchId, OrderId } from '../core/ids.js';
import type { Op } from '../core/order.js';
import type { Certainty, Rate } from '../core/profile.js';
import type { BatchState, OrderMark, OrderState, StateCounts, StateSums } from '../core/states.js';

/**
 * What the ledger shows of a batch and its orders. Reports, CLI and desk see the ledger through these
 * values only, whether they come from Redis or from an archive.
 */

/** Written when the batch is sealed and never changed. */
export type Manifest = {
  readonly batch: BatchId;
  readonly realm: string;
  readonly realmId: string;
  readonly baseUrl: string;
  readonly rehearsal: boolean;
  readonly certainty: Certainty;
  readonly currency: string | null;
  /** Null where it was sealed by 0.1.0, which did not note it. */
  readonly keyLifetimeMs: number | null;
  /** The file's name, or `-`, or the rule's name; for people only. */
  readonly source: string;
  readonly delimiter: ',' | ';' | '\t';
  readonly header: readonly string[];
  /** Rows of the input, `invalid` and `duplicate` ones included. */
  readonly rows: number;
  readonly orders: Readonly<Record<Op, number>>;
  readonly tokens: Readonly<Record<Op, bigint>>;
  readonly members: number;
  readonly duplicates: number;
  readonly invalid: number;
  /** Hash of realm and orders with their references: the batch's identity. */
  readonly sha256: string;
  readonly again: string | null;
  readonly inOrder: boolean;
  /** Width of a slice in the chart of the run, chosen from the expected duration so that charts stay small. */
  readonly sliceMs: number;
  /** `run`: worked by the process that made it; `import`: by the workers. */
  readonly mode: 'run' | 'import';
  readonly createdAt: number;
  readonly createdBy: string;
};

export type Reason = { readonly code: ErrorCode; readonly message: string; readonly next: string };

export type BatchView = {
  readonly manifest: Manifest;
  readonly state: BatchState;
  readonly reason: Reason | null;
  readonly counts: StateCounts;
  readonly sums: StateSums;
  readonly requests: number;
  readonly retries: number;
  readonly rateLimited: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Milliseconds in which requests were under way; with `requests` it gives the pace really used. */
  readonly rate: Rate | null;
  readonly archived: boolean;
  /** What a person must know beside the numbers: read-back ended, orders that may have been paid twice. */
  readonly notes?: readonly string[];
};

/** One input row and what became of it. */
export type RowView = {
  readonly index: number;
  readonly line: number;
  readonly order: OrderId;
  /** Null for rows that never became an order. */
  readonly op: Op | null;
  readonly member: string | null;
  readonly recipient: string | null;
  readonly tokens: number | null;
  readonly reference: string | null;
  readonly reason: string | null;
  readonly state: OrderState;
  readonly marks: readonly OrderMark[];
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly balanceAfter: string | null;
  readonly errorCode: ErrorCode | null;
  readonly error: string | null;
  /** What proves the state: `answer`, `key`, `readback`, `operator`… */
  readonly evidence: string | null;
  readonly sentAt: number | null;
  readonly settledAt: number | null;
  readonly cells: readonly string[];
};

export type AuditEntry = {
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly why: string | null;
};

/** Latencies of a batch's requests, counted in buckets so that the size does not grow with the batch. */
export type LatencyHistogram = readonly { readonly upToMs: number; readonly count: number }[];

/** Requests and settled orders per slice of time, for the chart of the run. */
export type RunSeries = {
  readonly sliceMs: number;
  readonly slices: readonly {
    readonly at: number;
    readonly requests: number;
    readonly paid: number;
    readonly failed: number;
    readonly rateLimited: number;
  }[];
};

/** All a report is made of: a pure function of this makes the files. */
export type BatchRecord = {
  readonly batch: BatchView;
  readonly rows: AsyncIterable<RowView>;
  readonly audit: readonly AuditEntry[];
  readonly latency: LatencyHistogram;
  readonly series: RunSeries;
  /** Status overrides, named risks, attestations: everything a reader must know beside the numbers. */
  readonly caveats: readonly string[];
};
