/**
 * When an order is `sending` for longer than its time-outs. Between begin and the request lie an fsync and up to 10 s in
 * which a slow process may still send; after the answer comes the settle.
 */
const MARGIN_MS = 15_000;
/** Where no sender has noted its time-outs. */
const TIMEOUT_MS = 60_000;

export function overdueAfterMs(timeoutMs: number | null): number {
  return (timeoutMs ?? TIMEOUT_MS) + MARGIN_MS;
}

/** So many results may wait out of their slots for a store that refuses them; then a process sends nothing more. */
export const REFUSED_MAX = 64;
