import type { OrdersFound } from '../live/orders.js';
import { go, useAddress, withQuery } from '../shell/address.js';
import { grouped, percent } from '../words/numbers.js';

/**
 * Forwards by cursor, which costs the same on page 2 and on page 20,000; backwards by the browser's history,
 * because a cursor only knows one direction.
 */
export function Pager({ found }: { readonly found: OrdersFound }) {
  const { query } = useAddress();
  const onFirst = query.get('cursor') === null;
  return (
    <div class="pager">
      <span class="n soft" role="status">
        {wordsOf(found)}
      </span>
      <button type="button" disabled={onFirst} onClick={() => go(withQuery({ cursor: null }))}>
        First
      </button>
      <button type="button" disabled={onFirst} onClick={() => history.back()}>
        Back
      </button>
      <button
        type="button"
        disabled={found.next === null || found.looking}
        onClick={() => go(withQuery({ cursor: found.next }))}
      >
        Next
      </button>
    </div>
  );
}

function wordsOf({ looking, orders, scanned, of }: OrdersFound): string {
  if (looking && of === 0) return 'Looking…';
  if (looking) return `Looking: ${grouped(scanned)} of ${grouped(of)} rows (${percent(scanned, of)})`;
  return `${grouped(orders.length)} shown, ${grouped(scanned)} of ${grouped(of)} rows looked at`;
}
