import { FIND_BY } from '../../../core/find-meanings.js';
import { counted } from '../../../words/spelling.js';
import type { FindOrdersPage, FindReply } from '../../api/index.js';
import { useResource } from '../live/resource.js';
import { ListFilter, RealmFilter } from '../parts/filters.js';
import { BatchStateMark, RehearsalChip, Time } from '../parts/marks.js';
import { OrdersPager, OrdersTable, useOrders } from '../parts/orders.js';
import { Empty, Failure, Notice, Panel, Table } from '../parts/panel.js';
import { BatchLink, Link, pathWith, placeOf, useAddress, withQuery } from '../shell/address.js';
import { Page } from '../shell/page.js';

/** The result of one search over all batches and archives. Batches come at once, orders as the scan finds them. */
export function FindPage({ text }: { readonly text: string }) {
  const { query } = useAddress();
  const asked = { q: text, by: query.get('by'), realm: query.get('realm') };
  const whole = useResource<FindReply>(pathWith('/api/find', { ...asked, cursor: query.get('from') }));
  const orders = useOrders<FindOrdersPage['orders'][number]>(
    pathWith('/api/find/orders', asked),
    query.get('cursor'),
    0,
  );
  const { value } = whole;
  return (
    <Page title={`Search for “${text}”`} lead={value === null ? undefined : <Lead found={value} />}>
      <div class="filters">
        <ListFilter name="by" label="Found by" values={FIND_BY} />
        <RealmFilter />
      </div>
      <Failure failure={whole.failure} onRetry={whole.reload} />
      {value !== null && (value.batches.length > 0 || value.next !== null) && (
        <Batches found={value} further={withQuery({ from: value.next })} />
      )}
      <Panel title="Orders" flush>
        {orders.unsearched.length > 0 && (
          <Notice tone="warn">
            <p>
              <b>Not everything could be searched.</b>
            </p>
            {orders.unsearched.map(({ batch, message }) => (
              <p key={batch}>{message}</p>
            ))}
          </Notice>
        )}
        <OrdersTable
          label="Orders found"
          found={orders}
          mixed
          empty={
            <Empty title="No order matches.">
              References, members, order ids and amounts are compared whole; days are days in UTC.
            </Empty>
          }
        />
        <OrdersPager found={orders} />
      </Panel>
    </Page>
  );
}

function Lead({ found: { member, day } }: { readonly found: FindReply }) {
  return (
    <>
      All batches, archives included, newest first.
      {day !== null && ` As a day it is ${day}, from midnight to midnight in UTC.`}
      {member !== null && (
        <>
          {' '}
          As a member it has a page: <Link to={placeOf('member', member)}>Member {member}</Link>.
        </>
      )}
    </>
  );
}

function Batches({
  found: { batches, next },
  further,
}: {
  readonly found: FindReply;
  readonly further: string;
}) {
  return (
    <Panel title="Batches" flush>
      <Table label="Batches found" css="orders" heads={['File', 'State', 'Made', 'Found by', 'Batch']}>
        {batches.map((one) => (
          <tr key={one.batch}>
            <td class="o-wide what">
              <Link to={placeOf('batch', one.batch)}>{one.source}</Link>{' '}
              <span class="soft small">
                {counted(one.rows, 'row')} · {one.realm}
              </span>
            </td>
            <td>
              <BatchStateMark batch={one} /> {one.archived && <span class="chip">archived</span>}{' '}
              <RehearsalChip on={one.rehearsal} />
            </td>
            <td>
              <Time at={one.createdAt} />
            </td>
            <td class="o-by">{one.by.join(', ')}</td>
            <td class="o-wide">
              <BatchLink batch={one.batch} />
            </td>
          </tr>
        ))}
      </Table>
      {next !== null && (
        <p class="pager soft">
          There are older batches to look through; a longer text finds fewer.{' '}
          <Link to={further}>Look through older batches</Link>
        </p>
      )}
    </Panel>
  );
}
