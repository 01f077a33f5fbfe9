import type { ErrorCode } from '../core/errors/catalogue.js';

/**
 * The values that the library answers with. `node scripts/write-library-types.mjs` writes this file from the
 * views in src/operations/views; a test holds it equal to them. Every value is plain and the same as in the
 * `--json` of the command line: sums of tokens are strings of digits, because they may exceed what a
 * JavaScript number holds; the amount of one order is a number; times are ISO 8601 in UTC.
 */

export interface BatchProgress {
  readonly batch: string;
  readonly realm: string;
  /** True on the embedded realm: no real points move. */
  readonly rehearsal: boolean;
  /** The currency of the amounts; null: the realm’s own. */
  readonly currency: string | null;
  readonly state: BatchState;
  /** Why it stands still, where it does. */
  readonly reason: Reason | null;
  /** What people know it by: the name of its file, rows or rule. */
  readonly source: string;
  readonly rows: number;
  /** How many orders are in each state; states without any are left out. */
  readonly counts: Readonly<Partial<Record<OrderState, number>>>;
  /** Their sums of absolute amounts, whatever the orders do. */
  readonly tokens: Readonly<Partial<Record<OrderState, string>>>;
  /** What all its orders would do. */
  readonly amounts: {
    readonly credit: string;
    readonly debit: string;
    readonly transfer: string;
  };
  readonly requests: number;
  readonly retries: number;
  readonly rateLimited: number;
  /** Orders that are neither final nor moving, by cause. */
  readonly waiting: readonly Waiting[];
  /** What must be known beside the numbers: read-back ended, orders that may have been paid twice. */
  readonly notes: readonly string[];
  /** The label under which the same orders are paid once more. */
  readonly again: string | null;
  /**
   * Which processes send its orders: the workers, or a run of its own. A retry hands a run to the workers.
   */
  readonly worker: 'run' | 'workers';
  /** It holds orders that journals know and the store had forgotten; its file may have had more. */
  readonly recovered: boolean;
  /** It is over and has left the store for its archive. */
  readonly archived: boolean;
  readonly createdAt: string;
  readonly createdBy: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export type BatchState = 'planned' | 'running' | 'paused' | 'halted' | 'done' | 'cancelled';

export interface BatchStatus extends BatchProgress {
  /** These orders were a batch already. */
  readonly existing: boolean;
  /** Seconds to the end; null where it depends on a person, or cannot be known. */
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
}

/**
 * How an unknown outcome is resolved: `idempotent` sends the same key again, `readback` compares balances,
 * `manual` makes every unknown a doubt.
 */
export type Certainty = 'idempotent' | 'readback' | 'manual';

/** Something wrong (fault) or odd (warning) with the input. */
export interface Finding {
  /**
   * The line of the file, or the one that a row would have below a header; 0 where the whole input is meant.
   */
  readonly line: number;
  /** As the header spells it; null where the line or the input is meant. */
  readonly column: string | null;
  readonly code: ErrorCode;
  readonly message: string;
  /** The index of the row in `rows`; null for files, and where all rows are meant. */
  readonly row: number | null;
}

export type Found = FoundBatch | FoundOrder;

/** A batch that a search found. */
export interface FoundBatch {
  readonly kind: 'batch';
  /** Which parts of it the text matched. */
  readonly by: readonly FoundBy[];
  readonly batch: string;
  readonly realm: string;
  /** True on the embedded realm: no real points move. */
  readonly rehearsal: boolean;
  /** What people know it by: the name of its file, rows or rule. */
  readonly source: string;
  readonly state: BatchState;
  /** How many orders are in each state; states without any are left out. */
  readonly counts: Readonly<Partial<Record<OrderState, number>>>;
  readonly rows: number;
  readonly createdAt: string;
  /** It is over and has left the store for its archive. */
  readonly archived: boolean;
}

export type FoundBy = 'batch' | 'order' | 'file' | 'reference' | 'member' | 'amount' | 'day';

/** An order that a search found. */
export interface FoundOrder extends OrderRow {
  readonly kind: 'order';
  /** Which parts of it the text matched. */
  readonly by: readonly FoundBy[];
}

/** An order that touched a member. */
export interface HistoryEntry {
  readonly batch: string;
  readonly realm: string;
  readonly rehearsal: boolean;
  /** The order’s id. */
  readonly order: string;
  /** The line of the file, or the one that a row would have below a header. */
  readonly line: number;
  /** Null, like member and tokens, for a row that never became an order. */
  readonly op: Op | null;
  readonly tokens: number | null;
  readonly reason: string | null;
  readonly reference: string | null;
  readonly state: OrderState;
  /** What a person did about a dead letter: discarded it, or put another row in its place. */
  readonly marks: readonly ('discarded' | 'replaced')[];
  readonly balanceAfter: string | null;
  /** When it was sent, or when its batch was made. */
  readonly at: string;
  /** The currency of the amounts; null: the realm’s own. */
  readonly currency: string | null;
  readonly source: string;
  /** The side of a transfer that the member is on. */
  readonly role: 'member' | 'recipient';
  /** The other side of a transfer. */
  readonly counterpart: string | null;
}

export type Op = 'credit' | 'debit' | 'transfer';

export interface OrderRow {
  /** The order’s id. */
  readonly order: string;
  readonly batch: string;
  readonly realm: string;
  readonly rehearsal: boolean;
  /** Its number in the batch, counted from 1. */
  readonly index: number;
  /** The line of the file, or the one that a row would have below a header. */
  readonly line: number;
  /** Null, like member and tokens, for a row that never became an order. */
  readonly op: Op | null;
  readonly member: string | null;
  readonly recipient: string | null;
  readonly tokens: number | null;
  readonly reference: string | null;
  readonly reason: string | null;
  readonly state: OrderState;
  /**
   * The number of its last doubt; null where it never was in doubt. A decision names `ORDER:DOUBT`, and is
   * refused for another doubt.
   */
  readonly doubt: string | null;
  /** What a person did about a dead letter: discarded it, or put another row in its place. */
  readonly marks: readonly ('discarded' | 'replaced')[];
  readonly attempts: number;
  /** The HTTP status of the last answer. */
  readonly status: number | null;
  readonly balanceAfter: string | null;
  /** The stable error code. */
  readonly class: ErrorCode | null;
  readonly message: string | null;
  /** What proves the state: `answer`, `key`, `readback`, `operator`. */
  readonly evidence: string | null;
  readonly sentAt: string | null;
  readonly settledAt: string | null;
}

/**
 * `refused` and `exhausted` are definitely not applied. `unknown` is being resolved. `doubt` waits for a
 * person: no evidence proves whether it was applied. `duplicate`: another order holds its reference.
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

/** What an input would do. Planning sends nothing. */
export interface Plan {
  /** The batch that it would be, or is; null where the input could not be read to its end. */
  readonly batch: string | null;
  readonly realm: string;
  /** True on the embedded realm: no real points move. */
  readonly rehearsal: boolean;
  readonly baseUrl: string;
  /** The currency of the amounts; null: the realm’s own. */
  readonly currency: string | null;
  readonly certainty: Certainty;
  /**
   * These orders are a batch already. Paid again, it goes on, or is reported as done, and no order is paid
   * twice.
   */
  readonly existing: boolean;
  readonly existingState: BatchState | null;
  readonly source: string;
  /** Hash of the bytes of the file; sealed with the batch. */
  readonly fileSha256: string | null;
  /** The table that gave the members; sealed with the batch. */
  readonly memberTable: { readonly name: string; readonly sha256: string } | null;
  /** What the columns are taken for; null where no header could be read. */
  readonly columns: {
    readonly headerLine: number;
    /** The line that looks like the header, where that one does not. */
    readonly headerBelow: number | null;
    /** The mapping that was kept under this header in this realm, and what it does now. */
    readonly kept: {
      readonly who: string;
      readonly at: string;
      readonly pairs: readonly {
        /** Such as `reference=Invoice`; nothing behind the `=`: no column. */
        readonly map: string;
        /**
         * `fills`: it names a column that is needed and missing. `changes`: without it the file means
         * something else. `refused`: a column bears the name, and the pair is not taken. `none`: the file is
         * read so anyway.
         */
        readonly effect: 'fills' | 'changes' | 'refused' | 'none';
      }[];
    } | null;
    readonly found: readonly {
      readonly name: string;
      readonly meaning: string | null;
      readonly by: 'name' | 'like' | 'said' | 'kept' | 'profile' | 'members' | null;
      /** The first ones. */
      readonly cells: readonly string[];
    }[];
  } | null;
  /** The first orders in words. */
  readonly firstOrders: readonly string[];
  readonly rows: number;
  readonly orders: {
    readonly credit: number;
    readonly debit: number;
    readonly transfer: number;
  };
  readonly tokens: {
    readonly credit: string;
    readonly debit: string;
    readonly transfer: string;
  };
  readonly members: number;
  /** Rows whose reference another order holds already. */
  readonly duplicates: number;
  /** The batches of those orders. */
  readonly duplicatesOf: readonly string[];
  /** Batches of the last 30 days that hold rows of this input which have no reference. */
  readonly looksPaid: readonly {
    readonly batch: string;
    readonly rows: number;
    readonly lines: string;
  }[];
  readonly invalid: number;
  /** The first thousand; with any, `pay` and `enqueue` refuse the input. */
  readonly faults: readonly Finding[];
  readonly faultCount: number;
  readonly warnings: readonly Finding[];
  readonly requests: number;
  /** The time needed at the realm’s pace. */
  readonly seconds: number;
  /** When it is to begin; null: at once. */
  readonly startAt: string | null;
  /** With the quiet hours in between. */
  readonly endsAt: string;
  /** When it is to begin, in the realm’s zone. */
  readonly begins: string | null;
  /** When it would be over, in the realm’s zone. */
  readonly ends: string;
  readonly timezone: string;
  readonly quietHours: readonly string[];
  readonly payable: {
    readonly orders: number;
    /** The sum of absolute amounts; typed to confirm. */
    readonly tokens: string;
    /** What the orders do; null for the rest of a batch that does several things. */
    readonly amounts: {
      readonly credit: string;
      readonly debit: string;
      readonly transfer: string;
    } | null;
  };
  /** What this ledger has paid in this realm before; nothing means a new data folder, or a wrong one. */
  readonly books: {
    readonly batches: number;
    readonly paid: number;
    readonly tokens: string;
    readonly lastAt: string | null;
  };
  /** What is left of the realm’s cap for today; null where there is none. */
  readonly dayLeft: string | null;
  /** The members with most rows, where some have more than one. */
  readonly netEffects: readonly {
    readonly member: string;
    readonly rows: number;
    readonly net: string;
  }[];
}

/** Why something stands still. */
export interface Reason {
  readonly code: ErrorCode;
  readonly message: string;
  /** The next step. */
  readonly next: string;
}

export interface Report {
  readonly folder: string;
  readonly files: readonly string[];
}

/** What became of doubts that a person decided. */
export interface Resolved {
  readonly resolved: readonly {
    /** The order’s id. */
    readonly order: string;
    readonly state: OrderState;
  }[];
  /** Those that somebody else moved meanwhile. */
  readonly missed: readonly { readonly order: string; readonly why: string }[];
}

/** A row and what became of it, under the names of its line in results.csv. */
export interface ResultRow {
  /** The order’s id. */
  readonly order: string;
  /** The line of the file, or the one that a row would have below a header. */
  readonly line: number;
  /** Null, like member and tokens, for a row that never became an order. */
  readonly op: Op | null;
  readonly member: string | null;
  readonly recipient: string | null;
  readonly tokens: number | null;
  readonly reference: string | null;
  readonly reason: string | null;
  readonly state: OrderState;
  /**
   * The number of its last doubt; null where it never was in doubt. A decision names `ORDER:DOUBT`, and is
   * refused for another doubt.
   */
  readonly doubt: string | null;
  /** What a person did about a dead letter: discarded it, or put another row in its place. */
  readonly marks: readonly ('discarded' | 'replaced')[];
  readonly attempts: number;
  readonly balanceAfter: string | null;
  /** What proves the state: `answer`, `key`, `readback`, `operator`. */
  readonly evidence: string | null;
  readonly sentAt: string | null;
  readonly settledAt: string | null;
  /** The HTTP status of the last answer. */
  readonly httpStatus: number | null;
  /** The stable error code. */
  readonly errorCode: ErrorCode | null;
  readonly error: string | null;
  /** The row as it was given, by column. */
  readonly input: Readonly<Record<string, string>>;
}

/** What pausing, resuming or cancelling did. */
export interface Steered {
  readonly batch: string;
  /** False: it was as asked already. */
  readonly changed: boolean;
  /** Null for an import that had not finished and was taken back. */
  readonly status: BatchStatus | null;
}

/** Orders that are neither final nor moving. */
export interface Waiting {
  readonly why:
    | 'no-worker'
    | 'approval'
    | 'start-time'
    | 'start-missed'
    | 'paused'
    | 'halted'
    | 'disarmed'
    | 'after-rollback'
    | 'breaker'
    | 'hold'
    | 'quiet'
    | 'settle-time'
    | 'retry'
    | 'member-held'
    | 'in-order'
    | 'missing-session'
    | 'frozen-session'
    | 'dead-session'
    | 'overdue'
    | 'store-refuses'
    | 'doubt';
  readonly message: string;
  readonly orders: number;
  readonly tokens: string;
  readonly since: string;
  /** When it ends or is looked at again by itself; null where that cannot be known. */
  readonly until: string | null;
  /** The command that ends it; null where nothing needs to be done. */
  readonly next: string | null;
  /** The sending process that holds the orders, where that is the cause. */
  readonly session: string | null;
}
