/**
 * What other folders may use of the ledger. They import nothing else of it (test/architecture.test.ts), so that keys,
 * scripts and state letters can change here alone. Six groups, by what a caller does; beside them what every caller needs.
 * In a group, functions over one thing are one object.
 */

import { FORMAT, refuseOtherFormat } from './format.js';
import { LEDGER_SCRIPTS, loadScripts } from './lua-scripts.js';
import {
  batchesIn,
  batchesLike,
  batchesOfAll,
  changedSince,
  countBatches,
  countEnded,
  everyBatchIn,
  lastEnded,
  ledgersNamed,
  newestFirst,
  placeOf,
} from './read/batch-lists.js';
import { pingStore, storeInfo } from './read/store-facts.js';
import { storedLedgers } from './read/verify-read.js';

export { ledgerId, PLAN_BLOCK_ROWS } from './keys.js';
export { registerRealm } from './moves/import-batch.js';
export type { OrderEvent } from './order-event.js';
export type { PlannedOrder, PlanRow } from './plan-block.js';
export { batchRef, findBatch, idOfBatch, readBatch, type StoredBatch } from './read/batches.js';
export type { OrderRef } from './realm-ledger.js';
export { allLedgers, type BatchRef, openLedger, type RealmLedger, storeNowMs } from './realm-ledger.js';
export type { OrderRecord } from './record.js';
export type { ReferenceHolder } from './reference.js';
export { newNonce, ScriptClient } from './script-client.js';
export { syncFolder } from './sync-folder.js';
export type { AuditEntry, BatchRecord, BatchView, Manifest, Reason, RowView } from './views.js';

/** The store beneath all ledgers: whether it answers, what it is, and whether it can hold them. */
export const storeFacts = {
  ping: pingStore,
  info: storeInfo,
  ledgers: storedLedgers,
  format: FORMAT,
  refuseOtherFormat,
  scripts: LEDGER_SCRIPTS,
  loadScripts,
};

/** The batches of a realm, or of all, by the lists that name them. */
export const lists = {
  batchesIn,
  everyBatchIn,
  batchesOfAll,
  batchesLike,
  newestFirst,
  changedSince,
  lastEnded,
  countEnded,
  countBatches,
  ledgersNamed,
  placeOf,
};

// By what a caller does.

export * as notes from './notes.js';
export * as planning from './planning.js';
export * as reading from './reading.js';
export * as recovery from './recovery.js';
export * as sending from './sending.js';
export * as steering from './steering.js';
