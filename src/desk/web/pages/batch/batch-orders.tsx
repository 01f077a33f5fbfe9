import { useEffect, useRef, useState } from 'preact/hooks';
import type { BatchReply } from '../../../api-types.js';
import { useOrders } from '../../live/orders.js';
import { ListFilter, TextFilter } from '../../parts/filters.js';
import { Empty } from '../../parts/notice.js';
import { OrdersTable } from '../../parts/orders-table.js';
import { Pager } from '../../parts/pager.js';
import { Panel } from '../../parts/panel.js';
import { apiPath, useAddress } from '../../shell/address.js';
import { STATES_SHOWN } from '../../words/states.js';

const FIELDS = ['member', 'recipient', 'reference', 'line', 'error'];
/** A running batch changes its rows all the time; nobody reads faster than this. */
const REFRESH_MS = 2_500;

export function BatchOrders({ reply }: { readonly reply: BatchReply }) {
  const { query } = useAddress();
  const { summary } = reply;
  const search = query.get('q');
  const path = apiPath(`/api/batches/${encodeURIComponent(summary.batch)}/orders`, {
    state: query.get('state'),
    class: query.get('class'),
    search,
    field: search === null ? null : query.get('field'),
  });
  const round = useRefresh(reply, search === null);
  const found = useOrders(path, query.get('cursor'), round);
  const classes = [...new Set(found.orders.flatMap((order) => order.class ?? []))];
  return (
    <Panel title="Orders" flush anchor="orders">
      <div class="filters">
        <TextFilter name="q" label="Search" placeholder="member, recipient, reference, line, error" />
        <ListFilter name="field" label="In" values={FIELDS} />
        <ListFilter name="state" label="State" values={STATES_SHOWN} />
        <ListFilter name="class" label="Class" values={classes} />
      </div>
      <OrdersTable
        label="Orders of this batch"
        found={found}
        empty={
          <Empty title="No order matches.">
            Ids, references and lines are found whole, errors by a part of their text. Clear a filter to see
            more.
          </Empty>
        }
      />
      <Pager found={found} />
    </Panel>
  );
}

/** Counts up when the batch has changed, at most every few seconds; a search is left alone, it costs a scan. */
function useRefresh(reply: BatchReply, wanted: boolean): number {
  const [round, setRound] = useState(0);
  const last = useRef(Date.now());
  const signature = JSON.stringify([reply.summary.counts, reply.summary.state]);
  useEffect(() => {
    if (!wanted) return;
    const wait = Math.max(0, last.current + REFRESH_MS - Date.now());
    const timer = window.setTimeout(() => {
      last.current = Date.now();
      setRound((count) => count + 1);
    }, wait);
    return () => window.clearTimeout(timer);
  }, [signature, wanted]);
  return round;
}
