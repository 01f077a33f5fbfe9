import { type BatchState, type OrderState, openCount, type StateCounts } from '../core/states.js';
import { grouped } from './spelling.js';

/** The meaning of each state, for a reader who sees it for the first time. */
export const STATE_WORDS: Readonly<Record<OrderState, string>> = {
  paid: 'The points were moved.',
  refused: 'The realm said no. Nothing was moved.',
  exhausted: 'Every attempt failed, or a person found it unpaid. Nothing was moved.',
  doubt: 'No evidence proves whether the points were moved. A person decides.',
  unknown: 'The answer got lost; almoner is finding out.',
  sending: 'On its way to the realm.',
  duplicate: 'Its reference is already spent. Not sent.',
  invalid: 'The row could not be read as an order. Not sent.',
  planned: 'Waiting. Not sent yet.',
  cancelled: 'Cancelled before it was sent.',
};

/** The outcome of a retried order. */
export const RETRIED_WORDS: Readonly<Record<OrderState, string>> = {
  paid: 'paid',
  refused: 'refused again',
  exhausted: 'exhausted again',
  doubt: 'in doubt',
  unknown: 'being found out',
  sending: 'being sent',
  planned: 'still to be sent',
  cancelled: 'cancelled',
  duplicate: 'duplicate',
  invalid: 'invalid',
};

/**
 * The order of states in bars, tables and lists: good news first, open questions in the middle, unsent orders last.
 */
export const STATES_SHOWN: readonly OrderState[] = [
  'paid',
  'doubt',
  'unknown',
  'sending',
  'refused',
  'exhausted',
  'invalid',
  'duplicate',
  'planned',
  'cancelled',
];

export const BATCH_WORDS: Readonly<Record<BatchState, string>> = {
  planned: 'Sealed, nothing sent yet.',
  running: 'Workers are sending its orders.',
  paused: 'Paused until a person resumes it.',
  halted: 'Stopped by the program; the reason says what to do.',
  done: 'Nothing is left to be sent.',
  cancelled: 'Its unsent orders will not be sent.',
};

type Counted = { readonly rows: number; readonly counts: StateCounts };

/** Rows with a known outcome: neither open nor in doubt. */
export function settledRows({ rows, counts }: Counted): number {
  return rows - openCount(counts) - (counts.doubt ?? 0);
}

/** A batch's state, with its doubts: a batch can be done and still have some. */
export function standingWords({ state, counts }: Counted & { readonly state: BatchState }): string {
  const doubts = counts.doubt ?? 0;
  return doubts === 0 ? state : `${state}, ${grouped(doubts)} in doubt`;
}
