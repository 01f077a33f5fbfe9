/** Reads of a ledger that change nothing: batches, orders, sums, the plan and what verify finds. */

export {
  type Balances,
  balancesSeen,
  lastSent,
  type Named,
  orderEvent,
  sentTime,
  type Traces,
} from './order-event.js';
export {
  decodePlanBlock,
  inflatePlanBlock,
  isPlannedOrder,
  mayAmountTo,
  mayMention,
  parsePlanBlock,
  UNKNOWN_ROW,
} from './plan-block.js';
export { archiveHash, isArchiveAway } from './read/archive-file.js';
export {
  batchLatency,
  batchSeries,
  busyMs,
  dispatchedOf,
  rowsToArchive,
  sealedManifest,
  settlingMs,
} from './read/batch-facts.js';
export { type BatchSource, batchSource, recordsOfBlock } from './read/batch-source.js';
export { approvalNeeded, batchNumber, namedArchives, openDead } from './read/batches.js';
export { PlanReader } from './read/plan-reader.js';
export { isHeldBack, realmState } from './read/realm-state.js';
export {
  hasTrouble,
  namedBy,
  type RowContext,
  readDetails,
  readRecord,
  readRow,
  rowContext,
  rowView,
  stateOf,
} from './read/rows.js';
export { readAudit, snapshotBatch } from './read/snapshot.js';
export { type RealmLook, readBatchStanding, readRealmStanding } from './read/standing.js';
export { answersByStatus, pingStore, slotsEverTaken, storeInfo } from './read/store-facts.js';
export * as totals from './read/totals.js';
export {
  attention,
  attentionCount,
  attentionRows,
  isUnsettledState,
  type UnsettledState,
} from './read/unsettled.js';
export { type LedgerAudit, verifyLedger } from './read/verify.js';
export { storedLedgers } from './read/verify-read.js';
export { decodeRecord } from './record.js';
