import { useEffect, useState } from 'preact/hooks';
import { counted, grouped } from '../../../../words/spelling.js';
import type { DeadGroups, DeadSelection } from '../../../api/index.js';
import { SCREEN_ROWS, useOrders } from '../../live/orders.js';
import { useIsRehearsal } from '../../live/stream.js';
import { Empty } from '../../parts/notice.js';
import { OrdersTable } from '../../parts/orders-table.js';
import { RehearsalChip, StateMark } from '../../parts/state.js';
import { apiPath } from '../../shell/address.js';
import { BatchLink } from '../../shell/link.js';
import type { Ask } from './dead-action.js';

type Group = DeadGroups['groups'][number];
type Filter = Readonly<Record<'realm' | 'batch' | 'class', string | null>>;

type DeadGroupProps = {
  readonly group: Group;
  readonly filter: Filter;
  readonly operator: boolean;
  readonly ask: Ask;
  /** A new answer of the server: an open list is read again. */
  readonly round: unknown;
};

/** One cause: how many orders it hit, and what to do with all or one of them. */
export function DeadGroup({ group, filter, operator, ask, round }: DeadGroupProps) {
  const [open, setOpen] = useState(false);
  const isRehearsal = useIsRehearsal();
  const selection: DeadSelection = {
    ...(filter.realm === null ? {} : { realm: filter.realm }),
    ...(filter.batch === null ? {} : { batch: filter.batch }),
    ...(group.class === null ? {} : { class: group.class }),
    message: group.message,
  };
  const what = `${counted(group.count, 'order')} of this group`;
  return (
    <section class="panel dead-group" aria-label={`${group.class ?? 'no class'}: ${group.message}`}>
      <div class="dead-head">
        <div class="dead-what">
          <h2>{group.message}</h2>
          <p class="soft small">
            <RehearsalChip on={group.realms.every(isRehearsal)} /> <StateMark state={group.state} />{' '}
            <code>{group.class}</code> in{' '}
            {group.batches.slice(0, 3).map((batch) => (
              <span key={batch}>
                <BatchLink batch={batch} />{' '}
              </span>
            ))}
            {group.batches.length > 3 &&
              `and ${counted(group.batches.length - 3, 'other batch', 'other batches')}`}
          </p>
        </div>
        <p class="dead-count n">
          <b>{grouped(group.count)}</b>{' '}
          <span class="dead-tokens soft small">{grouped(group.tokens)} tokens</span>
        </p>
        <div class="actions">
          {operator && (
            <>
              <button type="button" onClick={() => ask('retry', selection, what)}>
                Retry
              </button>
              <button type="button" class="danger-quiet" onClick={() => ask('discard', selection, what)}>
                Discard
              </button>
            </>
          )}
          <button type="button" class="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide orders' : 'Show orders'}
          </button>
        </div>
      </div>
      {open && <GroupOrders group={group} filter={filter} operator={operator} ask={ask} round={round} />}
    </section>
  );
}

function GroupOrders({ group, filter, operator, ask, round }: DeadGroupProps) {
  const path = apiPath('/api/dead/orders', { ...filter, class: group.class, message: group.message });
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null]);
  const [count, setCount] = useState(0);
  useEffect(() => setCount((before) => before + 1), [round]);
  const found = useOrders(path, cursors.at(-1) ?? null, count);
  return (
    <>
      <OrdersTable
        label={`Orders: ${group.message}`}
        found={found}
        mixed
        empty={<Empty title="None left in this group." />}
        {...(operator
          ? {
              act: (order) => (
                <>
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Retry order ${order.order}`}
                    onClick={() => ask('retry', { orders: [order.order] }, `order ${order.order}`)}
                  >
                    Retry
                  </button>
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Discard order ${order.order}`}
                    onClick={() => ask('discard', { orders: [order.order] }, `order ${order.order}`)}
                  >
                    Discard
                  </button>
                </>
              ),
            }
          : {})}
      />
      {group.count > SCREEN_ROWS && (
        <div class="pager">
          <button
            type="button"
            disabled={cursors.length < 2}
            onClick={() => setCursors(cursors.slice(0, -1))}
          >
            Back
          </button>
          <button
            type="button"
            disabled={found.next === null || found.looking}
            onClick={() => setCursors([...cursors, found.next])}
          >
            Next
          </button>
        </div>
      )}
    </>
  );
}
