/**
 * What other folders may use of the ledger. They import nothing else of it (test/architecture.test.ts), so that keys,
 * scripts and state letters can change here alone.
 */

// The ledger of a realm and the way to it.

export { dropLedger } from './drop-ledger.js';
export { FORMAT, refuseOtherFormat } from './format.js';
export { ledgerId, PLAN_BLOCK_ROWS, queuePrefix } from './keys.js';
export { LEDGER_SCRIPTS, type LuaScript, loadScripts } from './lua-scripts.js';
export { answersByStatus, pingStore, slotsEverTaken, storeInfo, tokensOfDay } from './read/store-facts.js';
export {
  allLedgers,
  type BatchRef,
  openLedger,
  type RealmLedger,
} from './realm-ledger.js';
export { newNonce, ScriptClient } from './script-client.js';
export { syncFolder } from './sync-folder.js';

// Batches: finding, reading and steering them.

export * as approvals from './moves/approvals.js';
export { archiveBatch } from './moves/archive-batch.js';
export { type CarriedReference, carryReferences, packReferences } from './moves/carry-references.js';
export { foldOldDays } from './moves/fold-day.js';
export { type Prepared, registerRealm, type Start, withSetTime } from './moves/gate.js';
export {
  askProbe,
  cancelBatch,
  closeBreaker,
  haltBatch,
  haltRealm,
  isHeldBack,
  pauseBatch,
  realmState,
  releaseRealm,
  resumeBatch,
} from './moves/steer.js';
export { archiveHash, isArchiveAway } from './read/archive-file.js';
export {
  type BegunImport,
  batchLatency,
  batchOfContent,
  batchSeries,
  begunImport,
  busyMs,
  dispatchedOf,
  importState,
  lastIndexOf,
  readSketch,
  retriedOrders,
  rowsToArchive,
  sealedManifest,
  sealNumber,
  settlingMs,
} from './read/batch-facts.js';
export * as lists from './read/batch-lists.js';
export { type BatchSource, batchSource, recordsOfBlock, storeSource } from './read/batch-source.js';
export {
  approvalNeeded,
  batchNumber,
  batchRef,
  findBatch,
  idOfBatch,
  namedArchives,
  namedReason,
  openDead,
  readBatch,
  type StoredBatch,
} from './read/batches.js';
export { readAudit, snapshotBatch } from './read/snapshot.js';
export * as totals from './read/totals.js';
export { type LedgerAudit, verifyLedger } from './read/verify.js';
export { storedLedgers } from './read/verify-read.js';
export {
  type AuditEntry,
  type BatchRecord,
  type BatchView,
  type LatencyHistogram,
  type Manifest,
  type Reason,
  type RowView,
  type RunSeries,
  requestTime,
} from './views.js';

// Orders of a batch: rows, records, what they met, and lists of those that are not settled.

export { standIn, standInText } from './moves/retry.js';
export {
  type Balances,
  balancesSeen,
  lastSent,
  type Named,
  type OrderEvent,
  orderEvent,
  sentTime,
  type Traces,
} from './order-event.js';
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
export { type RealmLook, readBatchStanding, readRealmStanding } from './read/standing.js';
export {
  attention,
  attentionCount,
  attentionRows,
  isUnsettledState,
  type UnsettledState,
} from './read/unsettled.js';
export { decodeRecord, type OrderRecord } from './record.js';

// A plan on its way into the ledger, and what it is compared with.

export {
  accountRanges,
  heldOf,
  overLimits,
  overLimitText,
} from './accounts.js';
export {
  dropBatch,
  type Opened,
  openBatch,
  type SealedCounts,
  type SealedRun,
  sealBatch,
} from './moves/import-batch.js';
export {
  type BlockClaims,
  type BlockConflict,
  blockClaims,
  DUPLICATE_RECORD,
  NO_CLAIMS,
  putBlock,
} from './moves/put-block.js';
export { releaseImport, takeBackDead } from './moves/release-import.js';
export {
  decodePlanBlock,
  encodePlanBlock,
  inflatePlanBlock,
  isPlannedOrder,
  mayAmountTo,
  mayMention,
  type PlannedOrder,
  type PlanRow,
  parsePlanBlock,
  UNKNOWN_ROW,
} from './plan-block.js';
export { acceptAddresses, announceAddress, type EarlierAddress, earlierAddresses } from './read/addresses.js';
export {
  type Arrivals,
  areUndone,
  type EarlierOrder,
  type EarlierWhy,
  findSpent,
  judgedAt,
  judgedBeside,
  judgeReplaced,
  LOOK_BACK_MS,
  readArrivals,
  spentPlaces,
} from './read/earlier.js';
export { PlanReader } from './read/plan-reader.js';
export {
  REF_BYTES,
  type ReferenceHolder,
  referenceKey,
} from './reference.js';
export { ORIGIN_BYTES, originWords, type SketchedRow, SketchWriter } from './sketch.js';

// Each move of an order, for the workers and for people.

export { Attempts, FENCED } from './moves/attempts.js';
export { type Begun, claim, type KeyAge, type NotBegun, type OrderRef } from './moves/begin-sending.js';
export { type About, type Conclusion, conclude, turnDown } from './moves/conclude.js';
export {
  type Deliverer,
  dispatched,
  dispatchedWithin,
  feedBatches,
  openBatches,
  overdue,
  redispatch,
  toFeed,
  WORKERS,
} from './moves/feed.js';
export { holdsRefused, type Unsettled } from './moves/offers.js';
export {
  type Allowed,
  answerSlots,
  forgetPace,
  type Learnt,
  readPaceState,
  type SlotAnswer,
  takeSlots,
  UNLIMITED,
} from './moves/pace-slots.js';
export {
  endReadback,
  expectedBalances,
  isOvertaken,
  noteBalances,
  noteClockStep,
  noteEvent,
  readbackEnded,
  readHold,
} from './moves/readback-marks.js';
export { discardOrder, type Refusal, type RetriedBy, retryOrder, writeAudit } from './moves/retry.js';
export type { Settled, Settlement } from './moves/settle.js';
export { storeNowMs } from './realm-ledger.js';

// Sessions and recovery: who may send, and what is known after a death or a rollback.

export { listJournals } from './journal/folder.js';
export type { JournalLimits } from './journal/journal.js';
export { journalOf, localJournals } from './journal/local-journals.js';
export { closeIfForgotten, mergeTidings, tidingsFor } from './journal/merge.js';
export type { MergeContext } from './moves/replay.js';
export {
  type ClosedRecovered,
  closedRecovered,
  lossAcceptedAt,
  type RecoveredBatch,
  recoveredBatch,
  recoveredBatches,
  recoveredCount,
} from './read/recovered.js';
export * as losses from './sessions/accept-missing.js';
export * as afterRollback from './sessions/after-rollback.js';
export { sessionsAtWork } from './sessions/at-work.js';
export {
  acceptMoved,
  acceptNewLedger,
  closeLedger,
  type Fence,
  mergedSessions,
  readFence,
} from './sessions/fence.js';
export { folderProblem, ledgersElsewhere } from './sessions/folder-check.js';
export * as folders from './sessions/folders.js';
export { Here } from './sessions/liveness.js';
export { Opening } from './sessions/opening.js';
export { ensurePlace, readPlace } from './sessions/place.js';
export type { PaidElsewhere } from './sessions/positions.js';
export type { Recovered } from './sessions/recovery.js';
export { longestSettleMs } from './sessions/send-limits.js';
export {
  JOURNAL_FOLDER,
  listSessions,
  Session,
} from './sessions/session.js';
export { readPresence, readSigns, workersAtWork } from './sessions/signs.js';
export { readRecovery } from './sessions/story.js';
export { settleOverdue } from './sessions/strays.js';
export { RecoveryWatch } from './sessions/watch.js';

// What other folders keep beside the ledger.

export { claimRule, takeTurn } from './notes/claims.js';
export { appendDeskAudit, ExpiringNotes, readDeskAudit } from './notes/desk-notes.js';
export { endedBatches, forgetEnded, takeReportTurn } from './notes/ended.js';
export { columnNotes, deskMessages, deskNotes, type NoteStore, ruleNotes } from './notes/note-store.js';
export { OutboxNotes } from './notes/outbox-notes.js';
export {
  type FactsKept,
  forgetDecisions,
  lastRunNumber,
  openFacts,
  putDecisions,
  readDecisions,
  takeReading,
} from './notes/rule-runs.js';
export * as scheduledTimes from './notes/scheduled-times.js';
