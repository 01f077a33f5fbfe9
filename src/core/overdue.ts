/**
 * Time on top of the HTTP time-outs before a `sending` order counts as overdue. Between begin and the request lie an
 * fsync and up to 10 s in which a slow process may still send. The settle follows after the answer.
 */
const MARGIN_MS = 15_000;
/** Assumed if the sender has not recorded its time-outs. */
const TIMEOUT_MS = 60_000;

/** How long an order may be `sending` before it counts as overdue. */
export function overdueAfterMs(timeoutMs: number | null): number {
  return (timeoutMs ?? TIMEOUT_MS) + MARGIN_MS;
}

/** How many results may wait while the store refuses writes. Beyond that, a process stops sending. */
export const REFUSED_MAX = 64;
