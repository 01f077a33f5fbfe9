import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { counted, grouped, percent } from '../../../words/spelling.js';
import type { FindOrdersPage, OrderRow, OrdersPage } from '../../api/index.js';
import { asFailure, type CallFailed, read } from '../live/call.js';
import { useIsRehearsal } from '../live/stream.js';
import { go, MemberLink, OrderLink, useAddress, withQuery } from '../shell/address.js';
import { Button } from './fields.js';
import { Marks, RehearsalChip, StateMark, Time } from './marks.js';
import { CursorPager } from './pager.js';
import { Failure, Loading, Table } from './panel.js';

type OrdersTableProps = {
  readonly label: string;
  /** In a search `by` names the fields that matched. */
  readonly found: OrdersFound<OrderRow & { readonly by?: readonly string[] }>;
  readonly empty: ComponentChildren;
  /** True where rows come from several realms. Rows of a rehearsal are then marked. */
  readonly mixed?: boolean;
  readonly choose?: ((order: OrderRow) => ComponentChildren) | undefined;
  readonly act?: ((order: OrderRow) => ComponentChildren) | undefined;
};

/** A table of orders from any list or search. */
export function OrdersTable({ label, found, empty, mixed = false, choose, act }: OrdersTableProps) {
  const isRehearsal = useIsRehearsal();
  const withReference = found.orders.some(({ reference }) => reference !== null);
  const withBy = found.orders.some(({ by }) => by !== undefined);
  const none = found.orders.length === 0;
  if (none && found.looking) return found.scanned === 0 ? <Loading rows={8} /> : null;
  return (
    <>
      <Failure failure={found.failure} />
      {none ? (
        found.failure === null && empty
      ) : (
        <Table
          label={label}
          css="orders"
          heads={[
            ...(choose === undefined ? [] : [['Choose', 'unseen'] as const]),
            ['Line', 'n'],
            'State',
            'What',
            ['Tokens', 'n'],
            'Member',
            ...(withReference ? ['Reference'] : []),
            'Error, or balance after',
            'Settled',
            ...(withBy ? ['Found by'] : []),
            'Order',
            ...(act === undefined ? [] : ['Do']),
          ]}
        >
          {found.orders.map((order) => (
            <OrderLine
              key={order.order}
              order={order}
              isRehearsal={mixed && isRehearsal(order.realm)}
              columns={{ withReference, withBy }}
              choose={choose}
              act={act}
            />
          ))}
        </Table>
      )}
    </>
  );
}

type OrderLineProps = Pick<OrdersTableProps, 'choose' | 'act'> & {
  readonly order: OrderRow & { readonly by?: readonly string[] };
  readonly isRehearsal: boolean;
  /** Columns that appear only where a row has a value for them. */
  readonly columns: { readonly withReference: boolean; readonly withBy: boolean };
};

function OrderLine({ order, isRehearsal, columns, choose, act }: OrderLineProps) {
  return (
    <tr>
      {choose !== undefined && <td class="o-choose">{choose(order)}</td>}
      <td class="o-line n soft">{grouped(order.line)}</td>
      <td>
        <StateMark state={order.state} /> <Marks marks={order.marks} />
      </td>
      <td class="o-op">{order.op ?? <span class="soft">no order</span>}</td>
      <td class="o-tokens n">{order.tokens === null ? '' : grouped(order.tokens)}</td>
      <td class="o-wide">
        <MemberLink member={order.member} />
        {order.recipient !== null && (
          <>
            {' '}
            <span class="soft">to</span> <MemberLink member={order.recipient} />
          </>
        )}
      </td>
      {columns.withReference && <td class="o-reference what soft">{order.reference ?? ''}</td>}
      <td class="o-wide what">
        <Outcome order={order} />
      </td>
      <td>
        <Time at={order.settledAt} none="" />
      </td>
      {columns.withBy && <td class="o-by">{order.by?.join(', ')}</td>}
      <td>
        <RehearsalChip on={isRehearsal} /> <OrderLink order={order.order} />
      </td>
      {act !== undefined && <td class="do">{act(order)}</td>}
    </tr>
  );
}

function Outcome({ order }: { readonly order: OrderRow }) {
  if (order.message !== null || order.class !== null)
    return (
      <>
        <span>{order.message ?? ''}</span>{' '}
        <span class="soft small mono">
          {order.class}
          {order.status !== null && ` · ${order.status}`}
        </span>
      </>
    );
  if (order.balanceAfter !== null) return <span class="n">balance {grouped(order.balanceAfter)}</span>;
  return null;
}

/** The pager of an order list. It says how far a search got. */
export function OrdersPager({ found }: { readonly found: OrdersFound<unknown> }) {
  const { query } = useAddress();
  return (
    <CursorPager next={found.looking ? null : found.next}>
      <span class="n soft" role="status">
        {wordsOf(found)}
      </span>
      <Button
        name="First"
        disabled={query.get('cursor') === null}
        onPress={() => go(withQuery({ cursor: null }))}
      />
    </CursorPager>
  );
}

function wordsOf({ looking, orders, scanned, of }: OrdersFound<unknown>): string {
  if (looking && of === 0) return 'Looking…';
  if (looking) return `Looking: ${grouped(scanned)} of ${counted(of, 'row')} (${percent(scanned, of)})`;
  return `${grouped(orders.length)} shown, ${grouped(scanned)} of ${counted(of, 'row')} looked at`;
}

/** One screen of orders, and how far the search got. */
export type OrdersFound<Row = OrderRow> = Omit<OrdersPage, 'orders'> & {
  readonly orders: readonly Row[];
  /** Batches that the search could not read. */
  readonly unsearched: FindOrdersPage['unsearched'];
  /**
   * True while the search continues. Each request scans a bounded number of rows, so that it does not block other
   * requests.
   */
  readonly looking: boolean;
  readonly failure: CallFailed | null;
};

const NO_ROWS: OrdersPage = { orders: [], next: null, scanned: 0, of: 0 };
export const NONE_FOUND: OrdersFound<never> = {
  ...NO_ROWS,
  orders: [],
  unsearched: [],
  looking: true,
  failure: null,
};
export const SCREEN_ROWS = 50;

/**
 * Reads pages until a screen is full or every row was scanned. `path` has no cursor. Another `round` fetches the same
 * screen again and keeps the old rows until the new ones are complete.
 */
export function useOrders<Row = OrderRow>(
  path: string,
  cursor: string | null,
  round: unknown,
): OrdersFound<Row> {
  const [found, setFound] = useState<OrdersFound<Row> & { readonly at: string }>({ ...NONE_FOUND, at: '' });
  const at = `${path} ${cursor ?? ''}`;
  useEffect(() => {
    const ended = new AbortController();
    const fresh = found.at !== at;
    if (fresh) setFound({ ...NONE_FOUND, orders: found.orders, of: found.of, at: found.at });
    // `collect` reports its own failure.
    void collect<Row>(path, cursor, ended.signal, (so) => {
      // A new search shows partial results at once. A refresh replaces the whole screen at its end.
      if (!ended.signal.aborted && (fresh || !so.looking)) setFound({ ...so, at });
    });
    return () => ended.abort();
  }, [at, round]);
  return found;
}

async function collect<Row>(
  path: string,
  cursor: string | null,
  signal: AbortSignal,
  report: (found: OrdersFound<Row>) => void,
): Promise<void> {
  let found: OrdersFound<Row> = { ...NONE_FOUND, next: cursor };
  try {
    do {
      const joint = path.includes('?') ? '&' : '?';
      const from = found.next === null ? '' : `&cursor=${encodeURIComponent(found.next)}`;
      const limit = SCREEN_ROWS - found.orders.length;
      const page = await read<
        Pick<OrdersFound<Row>, 'orders' | 'next' | 'scanned' | 'of'> &
          Partial<Pick<OrdersFound<Row>, 'unsearched'>>
      >(`${path}${joint}limit=${limit}${from}`, signal);
      const orders = [...found.orders, ...page.orders];
      const looking = page.next !== null && orders.length < SCREEN_ROWS;
      const unsearched = [...found.unsearched, ...(page.unsearched ?? [])];
      found = { ...page, orders, unsearched, looking, failure: null };
      report(found);
    } while (found.looking && !signal.aborted);
  } catch (error) {
    if (!signal.aborted) report({ ...found, looking: false, failure: asFailure(error) });
  }
}
