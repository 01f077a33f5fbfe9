/** Reads of a ledger that change nothing: batches, orders, sums, the plan and what verify finds. */

import { balancesSeen, lastSent, orderEvent, sentTime } from './order-event.js';
import { isPlannedOrder, UNKNOWN_ROW } from './plan-block.js';
import { batchLatency, batchSeries, busyMs, dispatchedOf, settlingMs } from './read/batch-facts.js';
import { paidEver } from './read/batch-lists.js';
import { approvalNeeded, namedReason, openDead } from './read/batches.js';
import { withSetTime } from './read/gate.js';
import { realmState as readRealmState, whyNotRealm } from './read/realm-state.js';
import {
  hasTrouble,
  namedBy,
  readDetails,
  readRecord,
  readRow,
  rowContext,
  rowView,
  stateOf,
} from './read/rows.js';
import { readAudit, snapshotBatch } from './read/snapshot.js';
import { readBatchStanding, readRealmStanding } from './read/standing.js';
import { answersByStatus, slotsEverTaken, tokensOfDay } from './read/store-facts.js';
import { readGroups, readRealmNumbers, readTotals, readWork } from './read/totals.js';
import { attention, attentionCount, attentionRows, isUnsettledState } from './read/unsettled.js';
import { requestTime } from './views.js';

export type { Balances } from './order-event.js';
export type { PlanText } from './plan-block.js';
export { isArchiveAway } from './read/archive-file.js';
export { BatchBlocks } from './read/batch-blocks.js';
export { sealedManifest } from './read/batch-facts.js';
export { batchNumber } from './read/batches.js';
export { PlanReader } from './read/plan-reader.js';
export type { RowContext } from './read/rows.js';
export type { Totals } from './read/totals.js';
export { verifyLedger } from './read/verify.js';

/** One order: its record, what it met, and the row that shows it. */
export const orders = {
  record: readRecord,
  details: readDetails,
  row: readRow,
  context: rowContext,
  view: rowView,
  stateOf,
  hasTrouble,
  requestTime,
  isPlanned: isPlannedOrder,
  unknownRow: UNKNOWN_ROW,
};

/** What the events of an order say of its last attempt. */
export const evidence = { event: orderEvent, namedBy, lastSent, sentTime, balancesSeen };

/** How fast a batch is worked off. */
export const progress = {
  latency: batchLatency,
  series: batchSeries,
  busyMs,
  settlingMs,
  dispatched: dispatchedOf,
};

/** Orders that wait for a person, or for what becomes of them. */
export const unsettled = {
  indexes: attention,
  rows: attentionRows,
  count: attentionCount,
  isState: isUnsettledState,
  openDead,
};

/** Whether the realm is halted, and why. */
export const realmState = { read: readRealmState, whyNot: whyNotRealm };

/** What stands still, and why. */
export const standing = { batch: readBatchStanding, realm: readRealmStanding };

/** Words for why a batch does not go on. */
export const reasons = { named: namedReason, withSetTime, approvalNeeded };

/** A batch as a report takes it, and its audit. */
export const snapshots = { batch: snapshotBatch, audit: readAudit };

/** Sums over days, months and all times. */
export const totals = {
  readTotals,
  readGroups,
  readWork,
  readRealmNumbers,
  tokensOfDay,
  paidEver,
  answersByStatus,
  slotsEverTaken,
};
