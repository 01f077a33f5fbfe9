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

/** Ended without being paid; `doubt` waits for an operator, the other two are definitely not applied. */
export const DEAD_STATES = ['refused', 'exhausted', 'doubt'] as const;
export type DeadState = (typeof DEAD_STATES)[number];

/** Nothing more will happen to an order in one of these unless a person acts. */
export const SETTLED_STATES = [
  'paid',
  'refused',
  'exhausted',
  'doubt',
  'duplicate',
  'invalid',
  'cancelled',
] as const satisfies readonly OrderState[];

/** While an order under a reference is in one of these, the reference is spent. */
export const SPENDING_STATES = [
  'planned',
  'sending',
  'unknown',
  'doubt',
  'paid',
] as const satisfies readonly OrderState[];

export function isDead(state: OrderState): state is DeadState {
  return (DEAD_STATES as readonly OrderState[]).includes(state);
}

export function isSettled(state: OrderState): boolean {
  return (SETTLED_STATES as readonly OrderState[]).includes(state);
}

/** What an operator did to a dead letter, beside its state. */
export type OrderMark = 'discarded' | 'replaced';

export type StateCounts = Readonly<Partial<Record<OrderState, number>>>;
export type StateSums = Readonly<Partial<Record<OrderState, bigint>>>;

/** Orders that will still change by themselves. */
export function openCount({ planned = 0, sending = 0, unknown = 0 }: StateCounts): number {
  return planned + sending + unknown;
}
