/**
 * After a freeze, or beside a slow store, BullMQ reports every lock that it lost: several lines for each delivery. No lock
 * decides who sends an order (the ledger does), so all of them are one message, which `quietly` throttles.
 */
export function deliveryTrouble(message: string): string {
  return LOST.test(message) ? LOST_LOCKS : message;
}

const LOST = /could not renew lock for job|(Missing lock|Lock mismatch) for job/i;

export const LOST_LOCKS =
  'this process did not renew its locks in time, as after a freeze or with a slow store; BullMQ delivers these orders again. This is harmless: the ledger decides each time who sends.';
