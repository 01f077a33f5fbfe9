/** The closed sets of states, as printed everywhere: CLI, JSON, CSV, desk. */

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

/** Those that history counts: an order is in them only by an attempt, or by a person’s word. */
export const TOTAL_OUTCOMES = [
  'paid',
  'refused',
  'exhausted',
  'unknown',
  'doubt',
] as const satisfies readonly OrderState[];
export type TotalOutcome = (typeof TOTAL_OUTCOMES)[number];

/** Ended without being paid; `doubt` waits for an operator, the other two are definitely not applied. */
export const DEAD_STATES = ['refused', 'exhausted', 'doubt'] as const;
export type DeadState = (typeof DEAD_STATES)[number];

/** While an order under a reference is in one of these, the reference is spent. */
export const SPENDING_STATES = [
  'planned',
  'sending',
  'unknown',
  'doubt',
  'paid',
] as const satisfies readonly OrderState[];

/** What an operator did to a dead letter, beside its state. */
export type OrderMark = 'discarded' | 'replaced';

export type StateCounts = Readonly<Partial<Record<OrderState, number>>>;
export type StateSums = Readonly<Partial<Record<OrderState, bigint>>>;

/** Orders that will still change by themselves. */
export function openCount({ planned = 0, sending = 0, unknown = 0 }: StateCounts): number {
  return planned + sending + unknown;
}
