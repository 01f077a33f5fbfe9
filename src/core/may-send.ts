/**
 * May an order be sent, and if not, why not: the names of the refusals. The ledger's scripts ask in one order and answer the
 * first that holds (ledger/includes/may-send.lua).
 */

/** Why the ledger is closed to a process that would send: recovery comes first. */
const CLOSED_LEDGER = ['format', 'lost', 'rollback', 'disarmed', 'era'] as const;

/** Why a batch may not begin. */
export const CLOSED = ['approval', 'start-time', 'start-missed'] as const;
export type Closed = (typeof CLOSED)[number];

/** What the scripts answer, in the order in which they ask. */
const REFUSALS = [
  ...CLOSED_LEDGER,
  'halted',
  'breaker',
  'gone',
  'batch',
  'owner',
  'order',
  'recovered',
  'after-rollback',
  'not-due',
  'early',
  'quiet',
  'member-held',
  'hold-lost',
  'in-order',
  'clocks',
  'key-old',
  'instead',
  'cap',
  ...CLOSED,
] as const;
export type Refusal = (typeof REFUSALS)[number];

export function isRefusal(name: string): name is Refusal {
  return REFUSALS.some((one) => one === name);
}

export function isClosedLedger(why: Refusal): boolean {
  return CLOSED_LEDGER.some((one) => one === why);
}
