/** The closed sets of states, as CLI, JSON, CSV and desk print them. */

export const ORDER_STATES = [
  'planned',
  'sending',
  'paid',
  'refused',
  'exhausted',
  'unknown',
  'doubt',
  'duplicate',
  'invalid',
  'cancelled',
] as const;
export type OrderState = (typeof ORDER_STATES)[number];

export const BATCH_STATES = ['planned', 'running', 'paused', 'halted', 'done', 'cancelled'] as const;
export type BatchState = (typeof BATCH_STATES)[number];

/** The states that statistics count. An order reaches them only through an attempt or a person's decision. */
export const TOTAL_OUTCOMES = [
  'paid',
  'refused',
  'exhausted',
  'unknown',
  'doubt',
] as const satisfies readonly OrderState[];
export type TotalOutcome = (typeof TOTAL_OUTCOMES)[number];

/** The order ended without being paid. `doubt` waits for an operator; the other two are definitely not applied. */
export const DEAD_STATES = ['refused', 'exhausted', 'doubt'] as const;
export type DeadState = (typeof DEAD_STATES)[number];

/** A reference is spent while its order is in one of these states. */
export const SPENDING_STATES = [
  'planned',
  'sending',
  'unknown',
  'doubt',
  'paid',
] as const satisfies readonly OrderState[];

/** What an operator did to a dead letter, beside its state. */
export const ORDER_MARKS = ['discarded', 'replaced'] as const;
export type OrderMark = (typeof ORDER_MARKS)[number];

export type StateCounts = Readonly<Partial<Record<OrderState, number>>>;
export type StateSums = Readonly<Partial<Record<OrderState, bigint>>>;

/** The number of orders that will still change without a person. */
export function openCount({ planned = 0, sending = 0, unknown = 0 }: StateCounts): number {
  return planned + sending + unknown;
}
