import type { ComponentChildren } from 'preact';
import { grouped } from '../../../words/spelling.js';
import type { OrderRow } from '../../api/index.js';
import type { OrdersFound } from '../live/orders.js';
import { useIsRehearsal } from '../live/stream.js';
import { MemberLink, OrderLink } from '../shell/link.js';
import { Failure, Loading } from './notice.js';
import { Scroll } from './panel.js';
import { Marks, RehearsalChip, StateMark } from './state.js';
import { Time } from './time.js';

type OrdersTableProps = {
  readonly label: string;
  readonly found: OrdersFound;
  readonly empty: ComponentChildren;
  /** Rows come from several realms: those of a rehearsal say so. */
  readonly mixed?: boolean;
  readonly choose?: (order: OrderRow) => ComponentChildren;
  readonly act?: (order: OrderRow) => ComponentChildren;
};

export function OrdersTable({ label, found, empty, mixed = false, choose, act }: OrdersTableProps) {
  const isRehearsal = useIsRehearsal();
  const withReference = found.orders.some(({ reference }) => reference !== null);
  if (found.failure !== null && found.orders.length === 0) return <Failure failure={found.failure} />;
  if (found.orders.length === 0 && found.looking && found.scanned === 0) return <Loading rows={8} />;
  return (
    <>
      {found.failure !== null && <Failure failure={found.failure} />}
      {found.orders.length === 0 ? (
        found.looking ? null : (
          empty
        )
      ) : (
        <Scroll label={label}>
          <table class="orders">
            <thead>
              <tr>
                {choose !== undefined && (
                  <th scope="col">
                    <span class="unseen">Choose</span>
                  </th>
                )}
                <th scope="col" class="n">
                  Line
                </th>
                <th scope="col">State</th>
                <th scope="col">What</th>
                <th scope="col" class="n">
                  Tokens
                </th>
                <th scope="col">Member</th>
                {withReference && <th scope="col">Reference</th>}
                <th scope="col">Error, or balance after</th>
                <th scope="col">Settled</th>
                <th scope="col">Order</th>
                {act !== undefined && <th scope="col">Do</th>}
              </tr>
            </thead>
            <tbody>
              {found.orders.map((order) => (
                <tr key={order.order}>
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
                  {withReference && <td class="o-reference what soft">{order.reference ?? ''}</td>}
                  <td class="o-wide what">
                    <Outcome order={order} />
                  </td>
                  <td>
                    <Time at={order.settledAt} none="" />
                  </td>
                  <td>
                    {mixed && <RehearsalChip on={isRehearsal(order.realm)} />}{' '}
                    <OrderLink order={order.order} />
                  </td>
                  {act !== undefined && <td class="do">{act(order)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
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
