import type { ErrorCode } from '../core/errors/catalogue.js';

/**
 * What a program is told. Every value is plain and the same as in the command line's `--json`: sums of tokens are
 * strings of digits, because they may exceed what a JavaScript number holds; the amount of one order is a number; times
 * are ISO 8601 in UTC.
 */

export type Op = 'credit' | 'debit' | 'transfer';

/** Something wrong (fault) or odd (warning) with the input. */
export interface Finding {
  /** The line of the file, or the one that a row would have below a header; 0 where all of it is meant. */
  readonly line: number;
  /** The index of the row in `rows`; null for files, and where all of them are meant. */
  readonly row: number | null;
  readonly column: string | null;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What an input would do. Nothing was sent and nothing enqueued. */
export interface Plan {
  /** The batch that it would be, or is; null where the input could not be read to its end. */
  readonly batch: string | null;
  readonly realm: string;
  /** True on the embedded realm: no real points move. */
  readonly rehearsal: boolean;
  readonly baseUrl: string;
  readonly currency: string | null;
  readonly certainty: Certainty;
  /** These orders are a batch already; `pay` goes on with it, or reports it as done, and pays nobody twice. */
  readonly existing: boolean;
  readonly existingState: BatchState | null;
  readonly source: string;
  readonly rows: number;
  readonly orders: Readonly<Record<Op, number>>;
  readonly tokens: Readonly<Record<Op, string>>;
  readonly members: number;
  /** Rows whose reference another order holds already. */
  readonly duplicates: number;
  /** The batches of those orders. */
  readonly duplicatesOf: readonly string[];
  /** Batches of the last 30 days whose orders are repeated by rows without a reference. */
  readonly looksPaid: readonly { readonly batch: string; readonly rows: number; readonly lines: string }[];
  readonly invalid: number;
  /** The first thousand; with any, `pay` and `enqueue` refuse the input as a whole. */
  readonly faults: readonly Finding[];
  readonly faultCount: number;
  readonly warnings: readonly Finding[];
  readonly requests: number;
  /** The time needed at the realm's pace. */
  readonly seconds: number;
  readonly payable: {
    readonly orders: number;
    /** Of whatever the orders do. */
    readonly tokens: string;
    /** What they do; null for the rest of a batch that does several things. */
    readonly amounts: Readonly<Record<Op, string>> | null;
  };
  /** What is left of the realm's cap for today; null where there is none. */
  readonly dayLeft: string | null;
  /** What these books have paid in this realm before; nothing of it means a new data folder, or a wrong one. */
  readonly books: {
    readonly batches: number;
    readonly paid: number;
    readonly tokens: string;
    readonly lastAt: string | null;
  };
  /** The members with most rows, where some have more than one. */
  readonly netEffects: readonly { readonly member: string; readonly rows: number; readonly net: string }[];
}

/**
 * How an unknown outcome is resolved: `idempotent` sends the same key again, `readback` compares balances, `manual`
 * makes every unknown a doubt.
 */
export type Certainty = 'idempotent' | 'readback' | 'manual';

export type BatchState = 'planned' | 'running' | 'paused' | 'halted' | 'done' | 'cancelled';

/**
 * `refused` and `exhausted` are definitely not applied. `unknown` is being resolved. `doubt` waits for a person: nobody
 * can prove whether it was applied. `duplicate`: another order holds its reference.
 */
export type OrderState =
  | 'planned'
  | 'sending'
  | 'paid'
  | 'refused'
  | 'exhausted'
  | 'unknown'
  | 'doubt'
  | 'duplicate'
  | 'invalid'
  | 'cancelled';

export interface Reason {
  readonly code: ErrorCode;
  readonly message: string;
  /** What to do about it. */
  readonly next: string;
}

/** Orders that are neither final nor moving. */
export interface Waiting {
  readonly why: string;
  readonly message: string;
  readonly orders: number;
  readonly tokens: string;
  readonly since: string;
  /** When it ends by itself; null where nobody can know. */
  readonly until: string | null;
  readonly next: string | null;
}

export interface BatchProgress {
  readonly batch: string;
  readonly realm: string;
  readonly rehearsal: boolean;
  readonly state: BatchState;
  /** What it is paid in; null: the realm's own. */
  readonly currency: string | null;
  /** Why it stands still, where it does. */
  readonly reason: Reason | null;
  readonly source: string;
  readonly rows: number;
  /** How many orders are in each state; states without any are left out. */
  readonly counts: Readonly<Partial<Record<OrderState, number>>>;
  /** Their sums, of whatever the orders do. */
  readonly tokens: Readonly<Partial<Record<OrderState, string>>>;
  /** What all its orders would do. */
  readonly amounts: Readonly<Record<Op, string>>;
  readonly requests: number;
  readonly retries: number;
  readonly rateLimited: number;
  readonly waiting: readonly Waiting[];
  /** What must be known beside the numbers. */
  readonly notes: readonly string[];
  /** It is over and has left the store for its archive. */
  readonly archived: boolean;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface BatchStatus extends BatchProgress {
  /** These orders were a batch already. */
  readonly existing: boolean;
  /** Null where the end depends on a person. */
  readonly etaSeconds: number | null;
  /** The folder of the report, where this call wrote one. */
  readonly report: string | null;
  /** Where its dead letters went; null where it has none, or one is left to be mended or retried. */
  readonly deadGone: {
    readonly discarded: number;
    readonly replaced: number;
    /** The batches whose rows stand in for them. */
    readonly into: readonly string[];
  } | null;
  /** The label of `again`. */
  readonly again: string | null;
}

/** What pausing, resuming or cancelling did. */
export interface Steered {
  readonly batch: string;
  /** False: it was as asked already. */
  readonly changed: boolean;
  /** Null for an import that had not finished and was taken back. */
  readonly status: BatchStatus | null;
}

/** One row and what became of it. */
export interface ResultRow {
  readonly line: number;
  /** The order's id. */
  readonly order: string;
  /** Null, like member and tokens, for a row that never became an order. */
  readonly op: Op | null;
  readonly member: string | null;
  readonly recipient: string | null;
  readonly tokens: number | null;
  readonly reference: string | null;
  readonly reason: string | null;
  readonly state: OrderState;
  /** What was done about a dead letter: it was discarded, or another row stands in for it. */
  readonly marks: readonly ('discarded' | 'replaced')[];
  readonly attempts: number;
  readonly httpStatus: number | null;
  readonly balanceAfter: string | null;
  readonly errorCode: ErrorCode | null;
  readonly error: string | null;
  /** What proves the state: `answer`, `key`, `readback`, `operator`. */
  readonly evidence: string | null;
  readonly sentAt: string | null;
  readonly settledAt: string | null;
  /** The row as it was given, by column. */
  readonly input: Readonly<Record<string, string>>;
}

/** An order that ended without being paid, or in doubt. */
export interface DeadLetter {
  readonly order: string;
  readonly batch: string;
  readonly realm: string;
  readonly rehearsal: boolean;
  readonly line: number;
  readonly op: Op | null;
  readonly member: string | null;
  readonly recipient: string | null;
  readonly tokens: number | null;
  readonly state: OrderState;
  /** The number of its last doubt; null where it never was in doubt. `ORDER:DOUBT` names it in a decision. */
  readonly doubt: string | null;
  /** The stable error code. */
  readonly class: ErrorCode | null;
  /** The HTTP status of the last answer. */
  readonly status: number | null;
  readonly message: string | null;
  /** Empty here: a letter with a mark is done with, and not told. */
  readonly marks: readonly ('discarded' | 'replaced')[];
  readonly attempts: number;
  /** What proves the state, as in `ResultRow`. */
  readonly evidence: string | null;
  readonly reference: string | null;
  readonly reason: string | null;
  readonly sentAt: string | null;
  readonly settledAt: string | null;
}

/** One order that touched a member. */
export interface HistoryEntry {
  /** When it was sent, or when its batch was made. */
  readonly at: string;
  readonly realm: string;
  readonly rehearsal: boolean;
  readonly currency: string | null;
  readonly batch: string;
  readonly source: string;
  readonly order: string;
  readonly line: number;
  readonly op: Op | null;
  readonly tokens: number | null;
  /** The side of a transfer that the member is on. */
  readonly role: 'member' | 'recipient';
  readonly counterpart: string | null;
  readonly reason: string | null;
  readonly reference: string | null;
  readonly state: OrderState;
  readonly marks: readonly ('discarded' | 'replaced')[];
  readonly balanceAfter: string | null;
}

/** What a search found: a batch as a whole, or one of its orders; `by` says what of it the text matched. */
export type Found = FoundBatch | FoundOrder;
export type FoundBy = 'batch' | 'order' | 'file' | 'reference' | 'member' | 'amount' | 'day';

export interface FoundBatch {
  readonly kind: 'batch';
  readonly by: readonly FoundBy[];
  readonly batch: string;
  readonly realm: string;
  readonly rehearsal: boolean;
  readonly source: string;
  readonly state: BatchStatus['state'];
  readonly counts: BatchStatus['counts'];
  readonly rows: number;
  readonly createdAt: string;
  readonly archived: boolean;
}

export interface FoundOrder extends DeadLetter {
  readonly kind: 'order';
  readonly by: readonly FoundBy[];
}

/** What became of doubts that a person decided. */
export interface Resolved {
  readonly resolved: readonly { readonly order: string; readonly state: OrderState }[];
  /** Those that somebody else moved meanwhile. */
  readonly missed: readonly { readonly order: string; readonly why: string }[];
}

export interface Report {
  readonly folder: string;
  readonly files: readonly string[];
}
