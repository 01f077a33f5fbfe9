import type { Input } from './input-types.js';
import type {
  BatchesOptions,
  Because,
  CheckOptions,
  EnqueueOptions,
  FindOptions,
  HistoryOptions,
  LettersOptions,
  PayOptions,
  ReportOptions,
  ResumeOptions,
  Verdict,
} from './option-types.js';
import type {
  BatchStatus,
  Found,
  HistoryEntry,
  OrderRow,
  Plan,
  Report,
  Resolved,
  ResultRow,
  Steered,
} from './output-types.js';

/**
 * The books of one place, open. Wherever a batch is named, a unique prefix of its id or `last` will do. Every refusal
 * and failure is an `AlmonerError` with a stable code.
 */
export interface Almoner {
  /** What the input would do, with every fault; sends nothing. Faults are told, not thrown. */
  plan(input: Input, options?: CheckOptions): Promise<Plan>;

  /**
   * Plans the input and pays it off in this process; resolves when nothing more happens by itself. Look at `state` and
   * `counts`: paid or not, no order is an exception. The same input again is the same batch: it goes on where it stood,
   * or is told as it ended, and pays nobody twice. Throws `PlanRefused` where the input has faults; nothing was sent then.
   */
  pay(input: Input, options?: PayOptions): Promise<BatchStatus>;

  /** Plans the input and hands it to the workers (`almoner worker`); refuses as `pay` does. */
  enqueue(input: Input, options?: EnqueueOptions): Promise<BatchStatus>;

  /** How a batch stands, at any time. */
  status(batch: string): Promise<BatchStatus>;

  /**
   * The batches of the books, newest first, read as far as they are asked for: all, those in a state, or those made since
   * then.
   */
  batches(options?: BatchesOptions): AsyncIterable<BatchStatus>;

  /** Every row of a batch and what became of it, in the order given, as of one moment. */
  results(batch: string): AsyncIterable<ResultRow>;

  /** Writes the report files of a batch, at any time; `public` holds only what may be shown to the community. */
  report(batch: string, options?: ReportOptions): Promise<Report>;

  /** Nothing new is sent; what is being sent finishes. */
  pause(batch: string, options?: Because): Promise<Steered>;

  /** Hands a paused, halted or interrupted batch to the workers. To go on in this process, `pay` the same input again. */
  /** A set time stays; `now` begins before it, or after it was missed. */
  resume(batch: string, options?: ResumeOptions): Promise<Steered>;

  /** Ends a batch for good; what was not sent stays unsent and frees its references. */
  cancel(batch: string, options?: Because): Promise<Steered>;

  /** Orders that ended unpaid or in doubt, without those that a person is done with. */
  deadLetters(options?: LettersOptions): AsyncIterable<OrderRow>;

  /** Orders of which nobody can prove whether they were paid. */
  doubts(options?: LettersOptions): AsyncIterable<OrderRow>;

  /**
   * Ends doubts on a person's word, which the audit keeps. Unpaid ones end `exhausted`, and nothing is sent by this. All
   * are checked first, and one that is wrong refuses them all. Throws `ALM_BATCH_MAY_ARRIVE` where one that is called
   * unpaid was sent so lately that it may still be applied, unless `evenIfItMayArrive`.
   */
  resolveDoubts(orders: readonly string[], verdict: Verdict): Promise<Resolved>;

  /** Every order that ever touched a member, oldest first. */
  history(member: string, options?: HistoryOptions): Promise<HistoryEntry[]>;

  /**
   * Searches all batches, archives included, newest first: by reference, file, member, order, amount or day (in UTC);
   * `by` narrows it to one of these. Throws at the end where an archive could not be read.
   */
  find(text: string, options?: FindOptions): AsyncIterable<Found>;

  /**
   * What is being sent finishes, batches that are being paid are paused (their `pay` gives that status), then all
   * connections end. Nothing is left running, and calls from here on are refused with `ALM_LIBRARY_CLOSED`.
   */
  close(): Promise<void>;

  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
