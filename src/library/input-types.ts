import type { BatchProgress, Op } from './output-types.js';

/** What a program says: how almoner is opened, what is to be paid, and how. */

/** Where configuration comes from, and in whose name is acted. */
export interface OpenOptions {
  /** A configuration file; without one, `almoner.config.yaml` in `cwd`, where it exists. */
  readonly config?: string | undefined;
  /** The environment in which settings and keys are looked up; `process.env` unless given. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder that relative paths start from; the process's own unless given. */
  readonly cwd?: string | undefined;
  /** The realm by its name or id, where more than one is configured. */
  readonly realm?: string | undefined;
  /** Who acts, in the audit; ALMONER_OPERATOR or the system's user unless given. */
  readonly operator?: string | undefined;
  /** How long a call waits for a store that does not answer: 30000 ms unless given. A payment that has begun waits longer. */
  readonly patienceMs?: number | undefined;
  /** Nothing is logged unless a level is given here; then JSON lines go to `log`, or to stderr. */
  readonly logLevel?: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent' | undefined;
  /** Gets each line of the log, freed of secrets. */
  readonly log?: ((line: string) => void) | undefined;
}

/** One order to be made, as a line of a CSV file would say it. */
export interface PayRow {
  /** Decimal digits, as text: ids of 17 digits and more do not survive a JavaScript number. */
  readonly member: string;
  /** A whole number that is not zero; negative amounts subtract. */
  readonly tokens: number | bigint | string;
  /** Makes the row a transfer from `member` to this one. */
  readonly recipient?: string | undefined;
  /** Where left out, a recipient means transfer, else the sign decides. */
  readonly op?: Op | undefined;
  /** The business key under which the order is paid once in its realm, in whatever batch it stands: an event's id. */
  readonly reference?: string | undefined;
  readonly reason?: string | undefined;
  /** The dead letter that this row stands in for, by its order id. */
  readonly replaces?: string | undefined;
  /** Further columns, which come back in results and reports. */
  readonly columns?: Readonly<Record<string, string>> | undefined;
}

/** What is to be paid: a CSV file, or rows. The same orders are the same batch, whichever they come from. */
export type Input =
  | {
      readonly file: string;
      /**
       * Columns of the file by their meaning, such as `{ tokens: 'Punkte' }`; an empty name takes none. It is kept under
       * the header for the realm. Kept pairs that change what a later file means are not taken unless repeated.
       */
      readonly map?: Readonly<Record<string, string>> | undefined;
      /** Takes no names that were kept under the header, and forgets them. */
      readonly forgetMap?: boolean | undefined;
      /** The line of the header, counted from 1. */
      readonly headerLine?: number | undefined;
      /** The file of a table that turns wallets or handles into member ids. */
      readonly members?: string | undefined;
      readonly rows?: never;
    }
  | {
      readonly rows: readonly PayRow[];
      /** What people know them by: the batch's `source`. */
      readonly name?: string | undefined;
      readonly file?: never;
    };

type Sum = number | bigint | string;

/** Sums of amounts by direction, without their signs; one that is left out is 0. */
export interface ExpectedTokens {
  readonly given?: Sum | undefined;
  readonly taken?: Sum | undefined;
  readonly moved?: Sum | undefined;
}

/** Each means what the command line's option of the same name does. */
export interface PlanOptions {
  /** Pays in this currency, one of the `currencies` in the realm's profile. */
  readonly currency?: string | undefined;
  /** Pays the same orders once more, on purpose; the label tells them apart. */
  readonly again?: string | undefined;
  /** Leaves out rows that were paid before, and pays the others. */
  readonly newRowsOnly?: boolean | undefined;
  /** Takes the good rows and carries the bad ones along as `invalid`. */
  readonly skipInvalid?: boolean | undefined;
  /** Goes on where the same realm id was paid under another address. */
  readonly newAddress?: boolean | undefined;
  /** Goes on where this machine has paid the realm from another ledger. */
  readonly newLedger?: boolean | undefined;
  /** Any other number of rows is a fault. */
  readonly expectRows?: number | undefined;
  /** Any other sum is a fault. One number does where the rows have one direction; else each by itself. */
  readonly expectTokens?: Sum | ExpectedTokens | undefined;
}

export interface CheckOptions extends PlanOptions {
  /** Also reads every member at the realm's pace: who is not found, whose balance is too small. */
  readonly check?: boolean | undefined;
}

export interface EnqueueOptions extends PlanOptions {
  /** A name for the batch: 3 to 64 lower-case letters, digits, dots, dashes, underscores. */
  readonly batchId?: string | undefined;
  /** Sends strictly one after the other, in the order of the rows. */
  readonly inOrder?: boolean | undefined;
}

export interface PayOptions extends EnqueueOptions {
  /** Called some times a second while the batch is worked. Where it fails, the batch is paused and `pay` throws. */
  readonly onProgress?: ((progress: BatchProgress) => unknown) | undefined;
  /** Aborted, it lets what is being sent finish and pauses the batch; `pay` then gives the paused status. */
  readonly signal?: AbortSignal | undefined;
  /** Pays this many orders, then pauses. */
  readonly first?: number | undefined;
  /** Writes the report files at the end, into the configured folder; not done unless asked for. */
  readonly report?: boolean | undefined;
}
