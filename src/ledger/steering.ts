/** What people and workers decide about a realm, a batch or an order: pause, resume, cancel, approve, retry, discard, archive. */

export * as approvals from './moves/approvals.js';
export { archiveBatch } from './moves/archive-batch.js';
export { foldOldDays } from './moves/fold-day.js';
export {
  discardOrder,
  type Refusal,
  type RetriedBy,
  retryOrder,
  standIn,
  standInText,
  writeAudit,
} from './moves/retry.js';
export {
  askProbe,
  cancelBatch,
  closeBreaker,
  haltBatch,
  haltRealm,
  pauseBatch,
  releaseRealm,
  resumeBatch,
} from './moves/steer.js';
export { namedReason } from './read/batches.js';
