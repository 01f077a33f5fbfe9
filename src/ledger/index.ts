/**
 * What other folders may use of the ledger. They import nothing else of it (test/architecture.test.ts), so that keys,
 * scripts and state letters can change here alone.
 */

// The books of a realm and the way to them.

export { BLOCK_ORDERS, batchKeys, PLAN_BLOCK_ROWS, realmKey } from './keys.js';
export {
  allLedgers,
  forgetRealm,
  type KnownRealm,
  openLedger,
  type RealmLedger,
  registerRealm,
} from './realm-ledger.js';
export { newNonce, ScriptClient, texts } from './script-client.js';

// Batches: finding, reading and steering them.

export { type Archived, archiveBatch } from './archive.js';
export { type BatchSource, batchSource } from './batch-source.js';
export {
  type BatchRef,
  batchNumber,
  batchRef,
  everyBatch,
  findBatch,
  listBatches,
  namedReason,
  readBatch,
  type StoredBatch,
  settlingMs,
} from './batches.js';
export { decodeManifest } from './manifest.js';
export { histogram, readAudit, series, snapshotBatch } from './snapshot.js';
export {
  askProbe,
  cancelBatch,
  closeBreaker,
  haltBatch,
  haltRealm,
  pauseBatch,
  type RealmState,
  realmState,
  releaseRealm,
  resumeBatch,
} from './steering.js';
export type {
  AuditEntry,
  BatchRecord,
  BatchView,
  LatencyHistogram,
  Manifest,
  Reason,
  RowView,
  RunSeries,
} from './views.js';

// Orders of a batch: rows, records, what they met, and lists of those that are not settled.

export { ordersTouching } from './member-orders.js';
export { type Balances, encodeEvent, type OrderEvent } from './order-event.js';
export {
  CODE_OF_STATE,
  decodeRecord,
  isStateCode,
  type OrderRecord,
  STATE_CODES,
  type StateCode,
} from './record.js';
export {
  lastTrouble,
  type RowContext,
  readDetails,
  readRecord,
  readRow,
  rowContext,
  rowView,
  stateOf,
} from './rows.js';
export { standIn, standInText } from './stand-in.js';
export { type RealmLook, readBatchStanding, readRealmStanding } from './standing.js';
export { attention, attentionRows } from './unsettled.js';
export { attentionCount, attentionPage, isUnsettledState } from './unsettled-page.js';

// A plan on its way into the books, and what it is compared with.

export {
  ACCOUNT_MOST,
  accountName,
  accountOf,
  accountRanges,
  heldOf,
  overLimits,
  overLimitText,
  parseAward,
} from './accounts.js';
export { acceptAddresses, announceAddress, type EarlierAddress, earlierAddresses } from './addresses.js';
export { type EarlierOrder, judgeReplaced } from './earlier-orders.js';
export { judgedAt, judgedBeside, LOOK_BACK_MS, spentPlaces } from './judged-again.js';
export { type Arrivals, readArrivals } from './may-arrive.js';
export {
  decodePlanBlock,
  encodePlanBlock,
  isPlannedOrder,
  type PlannedOrder,
  type PlanRow,
} from './plan-block.js';
export {
  type BlockClaims,
  type BlockConflict,
  blockClaims,
  DUPLICATE_RECORD,
  dropBatch,
  findSpent,
  NO_CLAIMS,
  type Opened,
  openBatch,
  PlanReader,
  putBlock,
} from './plan-store.js';
export {
  type ContentWords,
  contentHash,
  contentWords,
  hashRow,
  type ReferenceHolder,
  type RowHashes,
  referenceHash,
  referenceKey,
  SKETCH_ROW_BYTES,
} from './reference.js';
export { type SealedRun, sealBatch } from './sealing.js';

// Each move of an order, for the workers and for people.

export { Attempts, FENCED } from './attempts.js';
export { discardOrder, type Refusal, type RetriedBy, retryOrder, writeAudit } from './dead.js';
export {
  closeIfIdle,
  dispatched,
  feed,
  generationsOf,
  type OpenBatch,
  openBatches,
  overdue,
  redispatch,
  storeNowMs,
} from './feeding.js';
export { type PaceState, readPaceState } from './pace-state.js';
export { endReadback, readbackEnded } from './readback-end.js';
export { type Begun, claim, type KeyAge, type NotBegun, type OrderRef, utcDay } from './sending.js';
export { type Conclusion, conclude, type Settled } from './settling.js';
export { type TurnDown, turnDown } from './turning-down.js';

// Sessions and recovery: who may send, and what is known after a death or a rollback.

export { acceptMissing, type Loss, lossOf, REMOVED } from './accept-missing.js';
export { arm, disarm, type Fence, type Rollback, readFence, sayDisarmed } from './fence.js';
export type { JournalLimits } from './journal.js';
export { listJournals } from './journal-folder.js';
export { Here, type Liveness } from './liveness.js';
export { journalOf, localJournals } from './local-journals.js';
export { type MergeContext, mergeParked, mergeTidings, tidingsFor } from './merge.js';
export { hasParked, lossAcceptedAt, parkedAttempts, parkedBatches } from './parked.js';
export { type Recovered, type RecoveryDeps, recover } from './recovery.js';
export { givenUp, JOURNAL_FOLDER, listSessions, Session, type SessionEntry } from './sessions.js';
export { readSigns, workersAtWork } from './signs.js';
