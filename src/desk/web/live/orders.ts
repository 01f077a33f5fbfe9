import { useEffect, useState } from 'preact/hooks';
import type { OrderRow, OrdersPage } from '../../api/index.js';
import { asFailure, type CallFailed, read } from './call.js';

/** One screen of orders, and how far the search for them got. */
export type OrdersFound = {
  readonly orders: readonly OrderRow[];
  readonly next: string | null;
  readonly scanned: number;
  readonly of: number;
  /** Still looking: the server searches a bounded number of rows per request, so that nobody else waits. */
  readonly looking: boolean;
  readonly failure: CallFailed | null;
};

const NONE: OrdersFound = { orders: [], next: null, scanned: 0, of: 0, looking: true, failure: null };
export const SCREEN_ROWS = 50;

type Pages = Pick<OrdersPage, 'orders' | 'next' | 'scanned' | 'of'>;

/**
 * Reads pages until a screen is full or all rows were looked at. `path` without its cursor; `round` asks again
 * for the same screen, leaving the old rows in place until the new ones are there.
 */
export function useOrders(path: string, cursor: string | null, round: number): OrdersFound {
  const [found, setFound] = useState<OrdersFound & { readonly at: string }>({ ...NONE, at: '' });
  const at = `${path} ${cursor ?? ''}`;
  useEffect(() => {
    const ended = new AbortController();
    const fresh = found.at !== at;
    if (fresh) setFound({ ...NONE, orders: found.orders, at: found.at });
    collect(path, cursor, ended.signal, (so) => {
      // On a fresh search partial results are shown at once; a refresh replaces the screen in one go.
      if (!ended.signal.aborted && (fresh || !so.looking)) setFound({ ...so, at });
    });
    return () => ended.abort();
  }, [at, round]);
  return found;
}

async function collect(
  path: string,
  cursor: string | null,
  signal: AbortSignal,
  report: (found: OrdersFound) => void,
): Promise<void> {
  let found: OrdersFound = { ...NONE, next: cursor };
  try {
    do {
      const joint = path.includes('?') ? '&' : '?';
      const from = found.next === null ? '' : `&cursor=${encodeURIComponent(found.next)}`;
      const limit = SCREEN_ROWS - found.orders.length;
      const page = await read<Pages>(`${path}${joint}limit=${limit}${from}`, signal);
      const orders = [...found.orders, ...page.orders];
      const looking = page.next !== null && orders.length < SCREEN_ROWS;
      found = { orders, next: page.next, scanned: page.scanned, of: page.of, looking, failure: null };
      report(found);
    } while (found.looking && !signal.aborted);
  } catch (error) {
    if (!signal.aborted) report({ ...found, looking: false, failure: asFailure(error) });
  }
}
