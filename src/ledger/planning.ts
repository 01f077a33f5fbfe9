/** How a plan gets into the ledger, and what decides whether one of its rows may be paid: earlier orders, references, limits. */

export { accountRanges, heldOf, overLimits, overLimitText } from './accounts.js';
export { type CarriedReference, carryReferences, packReferences } from './moves/carry-references.js';
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
export { encodePlanBlock } from './plan-block.js';
export { acceptAddresses, announceAddress, type EarlierAddress, earlierAddresses } from './read/addresses.js';
export {
  type BegunImport,
  batchOfContent,
  begunImport,
  importState,
  lastIndexOf,
  readSketch,
  retriedOrders,
  sealNumber,
} from './read/batch-facts.js';
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
export { type Prepared, type Start, withSetTime } from './read/gate.js';
export {
  type ClosedRecovered,
  closedRecovered,
  lossAcceptedAt,
  type RecoveredBatch,
  recoveredBatch,
  recoveredBatches,
  recoveredCount,
} from './read/recovered.js';
export { tokensOfDay } from './read/store-facts.js';
export { REF_BYTES, referenceKey } from './reference.js';
export { ORIGIN_BYTES, originWords, type SketchedRow, SketchWriter } from './sketch.js';
