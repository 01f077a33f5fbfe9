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
 * One open ledger. Every argument that names a batch takes its id, a unique prefix of it, or `last`. Every refusal
 * and failure is an `AlmonerError` with a stable code.
 */
export interface Almoner {
  /**
   * Says what the input would do, with every fault. It sends nothing, and returns faults instead of throwing them.
   */
  plan(input: Input, options?: CheckOptions): Promise<Plan>;

  /**
   * Plans the input and pays it in this process. It resolves once nothing more happens without a person or another
   * process. Look at `state` and `counts`: an unpaid order is no exception.
   *
   * The same input again is the same batch: `pay` resumes it, or returns its final status, and pays no order twice.
   *
   * Throws `PlanRefused` where the input has faults. Nothing was sent then.
   */
  pay(input: Input, options?: PayOptions): Promise<BatchStatus>;

  /** Plans the input and hands it to the workers (`almoner worker`). It refuses as `pay` does. */
  enqueue(input: Input, options?: EnqueueOptions): Promise<BatchStatus>;

  /** The status of a batch, at any time. */
  status(batch: string): Promise<BatchStatus>;

  /**
   * The batches of the ledger, newest first, read while the caller iterates: all, those in a state, or those made
   * since a time.
   */
  batches(options?: BatchesOptions): AsyncIterable<BatchStatus>;

  /** Every row of a batch with its outcome, in input order, as of one moment. */
  results(batch: string): AsyncIterable<ResultRow>;

  /**
   * Writes the report files of a batch, at any time. With `public` they hold only what may be shown to the community.
   */
  report(batch: string, options?: ReportOptions): Promise<Report>;

  /** Pauses a batch. Open requests finish; nothing new is sent. */
  pause(batch: string, options?: Because): Promise<Steered>;

  /**
   * Hands a paused, halted or interrupted batch to the workers. To resume it in this process, `pay` the same input
   * again. A set time stays. `now` begins before it, or after it was missed.
   */
  resume(batch: string, options?: ResumeOptions): Promise<Steered>;

  /** Ends a batch for good. Unsent orders stay unsent and free their references. */
  cancel(batch: string, options?: Because): Promise<Steered>;

  /** Orders that ended unpaid or in doubt, without those that a person discarded or replaced. */
  deadLetters(options?: LettersOptions): AsyncIterable<OrderRow>;

  /** Orders that almoner cannot prove paid or unpaid. */
  doubts(options?: LettersOptions): AsyncIterable<OrderRow>;

  /**
   * Ends doubts by a person's decision, which the audit keeps. Unpaid ones end `exhausted`; this call sends nothing.
   * It checks all orders first, and one wrong order refuses them all.
   *
   * Throws `ALM_BATCH_MAY_ARRIVE` where an order decided as unpaid was sent so recently that the realm may still
   * apply it. `evenIfItMayArrive` skips this check.
   */
  resolveDoubts(orders: readonly string[], verdict: Verdict): Promise<Resolved>;

  /** Every order that ever touched a member, oldest first. */
  history(member: string, options?: HistoryOptions): Promise<HistoryEntry[]>;

  /**
   * Searches all batches, archives included, newest first: by reference, file, member, order, amount or day (in UTC).
   * `by` limits the search to one of these. Throws at the end where an archive could not be read.
   */
  find(text: string, options?: FindOptions): AsyncIterable<Found>;

  /**
   * Closes almoner. Open requests finish, batches being paid are paused (their `pay` returns that status), and all
   * connections end. Nothing keeps running, and later calls are refused with `ALM_LIBRARY_CLOSED`.
   */
  close(): Promise<void>;

  /** Closes almoner at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}
