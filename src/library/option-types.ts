import type { ExpectedTokens, Sum } from './input-types.js';
import type { BatchProgress, BatchState, FoundBy } from './output-types.js';

/**
 * The options of the library's calls. `node scripts/write-library-types.mjs` writes this file from the
 * schemas in parse-input.ts that read them; a test holds it equal to them.
 */

export interface BatchesOptions {
  /** Only batches in this state. */
  readonly state?: BatchState | undefined;
  /** Only batches made since then. */
  readonly since?: Date | undefined;
}

/** Why a person or a program steers a batch. */
export interface Because {
  /** Kept in the audit. */
  readonly reason?: string | undefined;
}

export interface CheckOptions extends PlanOptions {
  /** Also reads every member at the realm’s pace: who is not found, whose balance is too small. */
  readonly check?: boolean | undefined;
}

export interface EnqueueOptions extends PlanOptions {
  /** A name for the batch: 3 to 64 lower-case letters, digits, dots, dashes, underscores. */
  readonly batchId?: string | undefined;
  /** Sends strictly one after the other, in the order of the rows. */
  readonly inOrder?: boolean | undefined;
}

export interface FindOptions {
  /** Only this meaning of the text. */
  readonly by?: FoundBy | undefined;
}

export interface HistoryOptions {
  /** Only orders since then. */
  readonly since?: Date | undefined;
}

export interface LettersOptions {
  /** Only of this batch. */
  readonly batch?: string | undefined;
}

/** Where configuration comes from, and who acts. */
export interface OpenOptions {
  /** A configuration file; without one, `almoner.config.yaml` in `cwd`, where it exists. */
  readonly config?: string | undefined;
  /** The environment in which settings and keys are looked up; `process.env` unless given. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder that relative paths start from; the process’s own unless given. */
  readonly cwd?: string | undefined;
  /** The realm by its name or id, where more than one is configured. */
  readonly realm?: string | undefined;
  /** Who acts, in the audit; ALMONER_OPERATOR or the system’s user unless given. */
  readonly operator?: string | undefined;
  /**
   * How long a call waits for a store that does not answer: 30000 ms unless given. A payment that has begun
   * waits longer.
   */
  readonly patienceMs?: number | undefined;
  /** Nothing is logged unless a level is given here; then JSON lines go to `log`, or to stderr. */
  readonly logLevel?: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent' | undefined;
  /** Gets each line of the log, freed of secrets. */
  readonly log?: ((line: string) => void) | undefined;
}

export interface PayOptions extends EnqueueOptions {
  /**
   * Called some times a second while the batch is worked. Where it fails, the batch is paused and `pay`
   * throws.
   */
  readonly onProgress?: ((progress: BatchProgress) => unknown) | undefined;
  /** Aborted, it lets what is being sent finish and pauses the batch; `pay` then gives the paused status. */
  readonly signal?: AbortSignal | undefined;
  /** Pays this many orders, then pauses. */
  readonly first?: number | undefined;
  /** Writes the report files at the end, into the configured folder; writes none unless it is true. */
  readonly report?: boolean | undefined;
}

/** Each means what the command line’s option of the same name does. */
export interface PlanOptions {
  /** Pays in this currency, one of the `currencies` in the realm’s profile. */
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

export interface ReportOptions {
  /** The folder for reports; the batch gets a folder of its own in it. */
  readonly out?: string | undefined;
  /** Only what may be shown to the community. */
  readonly public?: boolean | undefined;
}

export interface ResumeOptions extends Because {
  /** Begins before the set time, or after it was missed. */
  readonly now?: boolean | undefined;
}

/** A person’s word on doubts. */
export interface Verdict {
  readonly paid: boolean;
  readonly reason: string;
  /** Decides also where the request may still be applied. */
  readonly evenIfItMayArrive?: boolean | undefined;
}
