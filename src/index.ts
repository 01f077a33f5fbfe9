import type { Almoner } from './library/almoner.js';
import { explainedToPrograms } from './library/explain.js';
import type { OpenOptions } from './library/option-types.js';

/** The library: the third face over the operations. docs/library.md tells how it is used. */
export type { ErrorCode } from './core/errors/catalogue.js';
export { AlmonerError } from './core/errors/error.js';
export type { Almoner } from './library/almoner.js';
export type { ExpectedTokens, Input, PayRow } from './library/input-types.js';
export type {
  BatchesOptions,
  Because,
  CheckOptions,
  EnqueueOptions,
  FindOptions,
  HistoryOptions,
  LettersOptions,
  OpenOptions,
  PayOptions,
  PlanOptions,
  ReportOptions,
  ResumeOptions,
  Verdict,
} from './library/option-types.js';
export type {
  BatchProgress,
  BatchState,
  BatchStatus,
  Certainty,
  Finding,
  Found,
  FoundBatch,
  FoundBy,
  FoundOrder,
  HistoryEntry,
  Op,
  OrderRow as DeadLetter,
  OrderState,
  Plan,
  Reason,
  Report,
  Resolved,
  ResultRow,
  Steered,
  Waiting,
} from './library/output-types.js';
export { PlanRefused } from './library/plan-refused.js';

/**
 * Reads the configuration and opens the store: `REDIS_URL`, or a private Redis under the data folder. Prints nothing,
 * listens for no signal and never ends the process. Close it when you are done.
 */
export async function open(options: OpenOptions = {}): Promise<Almoner> {
  try {
    // Loaded when it is used: to import this package costs nothing.
    const { openAlmoner } = await import('./library/open.js');
    return await openAlmoner(options);
  } catch (error) {
    throw explainedToPrograms(error);
  }
}
