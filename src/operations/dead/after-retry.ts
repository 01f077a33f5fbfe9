import type { OrderState } from '../../core/states.js';
import { type RowView, reading } from '../../ledger/index.js';
import { idOf, type OrderPlace, sharedContexts } from '../orders/find-orders.js';

/** What became of orders that were retried. */
type Became = {
  readonly counts: Partial<Record<OrderState, number>>;
  /** Those that ended without being paid; the first hundred. */
  readonly unpaid: readonly { readonly order: string; readonly state: OrderState; readonly why: string }[];
};

const AT_ONCE = 64;
const LOOK_MS = 250;
const UNPAID_MAX = 100;
const OPEN: ReadonlySet<OrderState> = new Set(['planned', 'sending', 'unknown']);

/**
 * Each look reads the orders that had not ended at the last one, for a bounded time: they end in about the order in
 * which they stand. The first end counts: should somebody retry one once more, that is another retry's news.
 */
export function afterRetry(places: readonly OrderPlace[]): () => Promise<Became> {
  let open: readonly (OrderPlace & { readonly state: OrderState })[] = places.map((place) => ({
    ...place,
    state: 'planned',
  }));
  const ended: Partial<Record<OrderState, number>> = {};
  const unpaid: Became['unpaid'][number][] = [];
  let looking: Promise<void> | null = null;

  const settle = (place: OrderPlace, { state, error }: RowView) => {
    ended[state] = (ended[state] ?? 0) + 1;
    if (state !== 'paid' && unpaid.length < UNPAID_MAX)
      unpaid.push({ order: idOf(place), state, why: error ?? '' });
  };
  const look = async () => {
    const until = performance.now() + LOOK_MS;
    const context = sharedContexts();
    for (let first = 0; first < open.length && performance.now() < until; ) {
      const some = open.slice(first, first + AT_ONCE);
      const rows = await Promise.all(
        some.map(async ({ ref, index }) => reading.orders.row(await context(ref), index)),
      );
      const still = some.flatMap((place, at) => {
        const row = rows[at];
        if (row !== undefined && OPEN.has(row.state)) return [{ ...place, state: row.state }];
        if (row !== undefined) settle(place, row);
        return [];
      });
      open = [...open.slice(0, first), ...still, ...open.slice(first + some.length)];
      first += still.length;
    }
  };
  return async () => {
    looking ??= look().finally(() => {
      looking = null;
    });
    await looking;
    const counts = { ...ended };
    for (const { state } of open) counts[state] = (counts[state] ?? 0) + 1;
    return { counts, unpaid };
  };
}
