/** How a plan gets into the ledger, and what decides whether one of its rows may be paid: earlier orders, references, limits. */

import { heldOf, overLimits, overLimitText } from './accounts.js';
import { carryReferences, packReferences } from './moves/carry-references.js';
import { dropBatch, openBatch, sealBatch } from './moves/import-batch.js';
import { blockClaims, leftOut, NO_CLAIMS, putBlock, withoutRows } from './moves/put-block.js';
import { releaseImport, takeBackDead } from './moves/release-import.js';
import { decodePlanBlock, encodePlanBlock } from './plan-block.js';
import { acceptAddresses, announceAddress, earlierAddresses } from './read/addresses.js';
import {
  batchOfContent,
  begunImport,
  importState,
  retriedOrders,
  sealedBatch,
  sealNumber,
} from './read/batch-facts.js';
import {
  areUndone,
  findSpent,
  judgedAt,
  judgedBeside,
  judgeReplaced,
  LOOK_BACK_MS,
  readArrivals,
  spentPlaces,
} from './read/earlier.js';
import {
  closedRecovered,
  lossAcceptedAt,
  recoveredBatch,
  recoveredBatches,
  recoveredCount,
} from './read/recovered.js';
import { undoneBy } from './reference.js';
import { originWords, readSketches } from './sketch.js';

export type { SealedRun } from './moves/import-batch.js';
export type { BlockClaims } from './moves/put-block.js';
export type { EarlierAddress } from './read/addresses.js';
export type { EarlierWhy } from './read/earlier.js';
export type { Prepared } from './read/gate.js';
export type { RecoveredBatch } from './read/recovered.js';
export { SketchWriter } from './sketch.js';

/** The blocks of a plan: their rows, what they claim, and storing them. */
export const blocks = {
  decode: decodePlanBlock,
  encode: encodePlanBlock,
  claims: blockClaims,
  noClaims: NO_CLAIMS,
  without: withoutRows,
  leftOut,
  put: putBlock,
};

/** A batch on its way into the ledger. */
export const imports = {
  open: openBatch,
  seal: sealBatch,
  drop: dropBatch,
  state: importState,
  begun: begunImport,
  release: releaseImport,
  takeBackDead,
};

/** Which order holds a reference. */
export const references = {
  spent: findSpent,
  spentPlaces,
  undoneBy,
  carry: carryReferences,
  pack: packReferences,
};

/** The orders and batches that a plan is compared with, and at which number of the realm that was. */
export const earlier = {
  judgedAt,
  judgedBeside,
  judgeReplaced,
  sealedBatch,
  batchOfContent,
  sealNumber,
  retriedOrders,
  areUndone,
  arrivals: readArrivals,
  lookBackMs: LOOK_BACK_MS,
};

/** Batches that journals have put back, and losses that a person has accepted. */
export const recovered = {
  batch: recoveredBatch,
  batches: recoveredBatches,
  closed: closedRecovered,
  count: recoveredCount,
  lossAcceptedAt,
};

/** Other addresses under which the realm was paid. */
export const addresses = { earlier: earlierAddresses, announce: announceAddress, accept: acceptAddresses };

/** What a batch keeps of each row's content, so that later files are compared with it. */
export const sketches = { read: readSketches, originWords };

/** What the orders of a rule hold in a period, and how much they may. */
export const accounts = { heldOf, overLimits, overLimitText };
