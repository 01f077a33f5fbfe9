/**
 * What other folders may use of the ledger. They import nothing else of it (test/architecture.test.ts), so that keys,
 * scripts and state letters can change here alone. Six groups, by what a caller does; beside them what every caller needs.
 */

export { FORMAT, refuseOtherFormat } from './format.js';
export { ledgerId, PLAN_BLOCK_ROWS, queuePrefix } from './keys.js';
export { LEDGER_SCRIPTS, type LuaScript, loadScripts } from './lua-scripts.js';
export { dropLedger } from './moves/drop-ledger.js';
export { registerRealm } from './moves/import-batch.js';
export type { OrderEvent } from './order-event.js';
export type { PlannedOrder, PlanRow } from './plan-block.js';
export * as lists from './read/batch-lists.js';
export { batchRef, findBatch, idOfBatch, readBatch, type StoredBatch } from './read/batches.js';
export type { OrderRef } from './realm-ledger.js';
export { allLedgers, type BatchRef, openLedger, type RealmLedger, storeNowMs } from './realm-ledger.js';
export type { OrderRecord } from './record.js';
export type { ReferenceHolder } from './reference.js';
export { newNonce, ScriptClient } from './script-client.js';
export { syncFolder } from './sync-folder.js';
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

// By what a caller does.

export * as notes from './notes.js';
export * as planning from './planning.js';
export * as reading from './reading.js';
export * as recovery from './recovery.js';
export * as sending from './sending.js';
export * as steering from './steering.js';
