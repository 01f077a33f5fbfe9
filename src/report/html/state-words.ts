import type { BatchState, OrderState } from '../../core/states.js';

/** What each state means to somebody who reads about it for the first time. */
export const STATE_WORDS: Readonly<Record<OrderState, string>> = {
  paid: 'The points were moved.',
  refused: 'The realm said no. Nothing was moved.',
  exhausted: 'Every attempt failed, or a person found it unpaid. Nothing was moved.',
  doubt: 'Nobody can prove yet whether the points were moved. A person decides.',
  unknown: 'The answer got lost; almoner is finding out.',
  sending: 'On its way when this was written.',
  duplicate: 'Its reference was used before. Not sent again.',
  invalid: 'The row could not be read as an order. Not sent.',
  planned: 'Waiting. Not sent yet.',
  cancelled: 'Taken back before it was sent.',
};

/** In the bar and its table: good news first, open questions in the middle, what never left last. */
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
  planned: 'planned, nothing sent yet',
  running: 'still running',
  paused: 'paused',
  halted: 'halted',
  done: 'done',
  cancelled: 'cancelled',
};
