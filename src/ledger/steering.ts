/** What people and workers decide about a realm, a batch or an order: pause, resume, cancel, approve, retry, discard, archive. */

import {
  approve,
  rejectApproval,
  requestApproval,
  requestedRetries,
  requestRetry,
  ruleRequests,
  withdrawApprovals,
} from './moves/approvals.js';
import { archiveBatch } from './moves/archive-batch.js';
import { dropLedger } from './moves/drop-ledger.js';
import { foldOldDays } from './moves/fold-day.js';
import { discardOrder, retryOrder, standIn, standInText, writeAudit } from './moves/retry.js';
import {
  askProbe,
  cancelBatch,
  closeBreaker,
  haltBatch,
  haltRealm,
  pauseBatch,
  releaseRealm,
  resumeBatch,
} from './moves/steer.js';
import { archiveHash } from './read/archive-file.js';
import { rowsToArchive } from './read/batch-facts.js';
import { batchesToArchive } from './read/batch-lists.js';
import { namedArchives } from './read/batches.js';

export type { Refusal, RetriedBy } from './moves/retry.js';

/** Asking for approvals, giving, refusing and withdrawing them. */
export const approvals = {
  approve,
  requestApproval,
  requestRetry,
  rejectApproval,
  withdrawApprovals,
  ruleRequests,
  requestedRetries,
};

/** A batch as a whole, with what its audit says of it. */
export const batch = {
  pause: pauseBatch,
  resume: resumeBatch,
  cancel: cancelBatch,
  halt: haltBatch,
  audit: writeAudit,
};

/** A realm as a whole. */
export const realm = { halt: haltRealm, release: releaseRealm, askProbe, closeBreaker, drop: dropLedger };

/** Dead letters, and the rows that stand in for them. */
export const deadLetters = { retry: retryOrder, discard: discardOrder, standIn, standInText };

/** Batches that leave the store for a file, and days that are added to their months. */
export const archives = {
  due: batchesToArchive,
  rowsOf: rowsToArchive,
  write: archiveBatch,
  named: namedArchives,
  hash: archiveHash,
  foldOldDays,
};
