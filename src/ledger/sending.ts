/** The steps of an order under a worker: fed, claimed, begun, settled, read back; and the pace of the realm. */

import {
  dispatched,
  dispatchedWithin,
  feedBatches,
  openBatches,
  overdue,
  redispatch,
  toFeed,
  WORKERS,
} from './moves/feed.js';
import {
  endReadback,
  expectedBalances,
  isOvertaken,
  noteBalances,
  noteClockStep,
  noteEvent,
  readbackEnded,
  readHold,
} from './moves/readback-marks.js';
import { answerSlots, forgetPace, readPaceState, takeSlots, UNLIMITED } from './pace/pace.js';
import { longestSettleMs } from './sessions/under-way.js';

export { type Begun, claim, type KeyAge, type Refused } from './moves/begin-sending.js';
export { type Conclusion, conclude, turnDown } from './moves/conclude.js';
export type { Deliverer } from './moves/feed.js';
export type { Settled, Settlement } from './moves/settle.js';
export { Attempts } from './sessions/attempts.js';

/** Which orders are delivered, and which should have been by now. */
export const deliveries = {
  open: openBatches,
  workers: WORKERS,
  toFeed,
  feed: feedBatches,
  within: dispatchedWithin,
  overdue,
  dispatched,
  redispatch,
};

/** May a request leave now, and if not, when? */
export const pace = {
  take: takeSlots,
  answered: answerSlots,
  state: readPaceState,
  forget: forgetPace,
  unlimited: UNLIMITED,
};

/** What read-back knows of members: what they should have, who holds them, and since when nothing read is proof. */
export const readback = {
  expected: expectedBalances,
  note: noteBalances,
  noteEvent,
  isOvertaken,
  hold: readHold,
  noteClockStep,
  longestSettleMs,
  end: endReadback,
  ended: readbackEnded,
};
