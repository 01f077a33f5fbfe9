/** The steps of an order under a worker: fed, claimed, begun, settled, read back; and the pace of the realm. */

export { type Begun, claim, type KeyAge, type NotBegun } from './moves/begin-sending.js';
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
  endReadback,
  expectedBalances,
  isOvertaken,
  noteBalances,
  noteClockStep,
  noteEvent,
  readbackEnded,
  readHold,
} from './moves/readback-marks.js';
export type { Settled, Settlement } from './moves/settle.js';
export {
  type Allowed,
  answerSlots,
  forgetPace,
  type Learnt,
  readPaceState,
  type SlotAnswer,
  takeSlots,
  UNLIMITED,
} from './pace/pace.js';
export { Attempts, FENCED } from './sessions/attempts.js';
export { longestSettleMs } from './sessions/send-limits.js';
