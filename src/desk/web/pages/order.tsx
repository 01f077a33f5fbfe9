import { useState } from 'preact/hooks';
import { grouped } from '../../../words/spelling.js';
import { STATE_WORDS } from '../../../words/states.js';
import type { OrderReply, TaskReply } from '../../api/index.js';
import { useIsOperator } from '../live/call.js';
import { useResource } from '../live/resource.js';
import { useIsRehearsal } from '../live/stream.js';
import { Button } from '../parts/fields.js';
import { Marks, StateMark, Time } from '../parts/marks.js';
import { Empty, Facts, Panel, Pending } from '../parts/panel.js';
import { TaskProgress } from '../parts/task-progress.js';
import { BatchLink, Link, MemberLink, placeOf } from '../shell/address.js';
import { Page } from '../shell/page.js';
import { DeadAction, type DeadVerb } from './dead/dead-action.js';
import { OrderHistory } from './order-history.js';

/** The page of an order: its content, its state and its history. */
export function OrderPage({ order }: { readonly order: string }) {
  const reply = useResource<OrderReply>(`/api/orders/${encodeURIComponent(order)}`);
  const { value, reload } = reply;
  const [asking, setAsking] = useState<DeadVerb | null>(null);
  const [task, setTask] = useState<TaskReply | null>(null);
  const operator = useIsOperator();
  const isRehearsal = useIsRehearsal();
  const may = (what: 'retry' | 'discard' | 'resolve') => operator && value?.can.includes(what) === true;
  return (
    <Page
      title={`Order ${order}`}
      rehearsal={value !== null && isRehearsal(value.order.realm)}
      actions={
        <>
          {may('retry') && <Button name="Retry" look="primary" onPress={() => setAsking('retry')} />}
          {may('discard') && (
            <Button name="Discard" look="danger-quiet" onPress={() => setAsking('discard')} />
          )}
          {may('resolve') && (
            <Link class="button primary" to={placeOf('doubt', order)}>
              Decide the doubt
            </Link>
          )}
          <Button name="Refresh" onPress={reload} />
        </>
      }
    >
      <Pending of={reply} rows={12} />
      <TaskProgress started={task} onEnd={reload} onClose={() => setTask(null)} />
      {value !== null && <OrderParts reply={value} />}
      {asking !== null && (
        <DeadAction
          asking={[asking, { orders: [order] }, `order ${order}`]}
          onStarted={setTask}
          onClose={() => setAsking(null)}
        />
      )}
    </Page>
  );
}

function OrderParts({ reply: { order, cells, history } }: { readonly reply: OrderReply }) {
  return (
    <>
      <div class="halves">
        <OrderNow order={order} />
        <OrderOrigin order={order} cells={cells} />
      </div>
      <Panel title="History" flush>
        {history.length === 0 ? (
          <Empty title="Nothing out of the ordinary.">
            Attempts, answers and balances are kept for orders that met something else than being paid at the
            first attempt.
          </Empty>
        ) : (
          <OrderHistory history={history} />
        )}
      </Panel>
    </>
  );
}

function OrderNow({ order }: Pick<OrderReply, 'order'>) {
  return (
    <Panel
      title="Now"
      aside={
        <>
          <StateMark state={order.state} /> <Marks marks={order.marks} />
        </>
      }
    >
      <p class="panel-lead soft">{STATE_WORDS[order.state]}</p>
      <Facts
        facts={[
          ['What', order.op ?? 'no order: the row could not be read'],
          ['Tokens', order.tokens === null ? 'none' : grouped(order.tokens)],
          ['Member', <MemberLink member={order.member} />],
          order.recipient !== null && ['Recipient', <MemberLink member={order.recipient} />],
          ['Attempts', grouped(order.attempts)],
          ['Last status', order.status ?? 'none'],
          ['Balance after', order.balanceAfter === null ? 'not told' : grouped(order.balanceAfter)],
          ['Proof', order.evidence ?? 'none yet'],
          ['Error', <Fault text={order.message} code={order.class} />],
          ['Sent', <Time at={order.sentAt} />],
          ['Settled', <Time at={order.settledAt} />],
        ]}
      />
    </Panel>
  );
}

function OrderOrigin({ order, cells }: Pick<OrderReply, 'order' | 'cells'>) {
  return (
    <Panel title="Where it came from">
      <Facts
        facts={[
          ['Batch', <BatchLink batch={order.batch} />],
          ['Realm', order.realm],
          ['Line', grouped(order.line)],
          ['Reference', order.reference ?? 'none'],
          ['Reason', order.reason ?? 'none'],
          ...cells.map(
            ({ column, value }) =>
              [
                `Column ${column}`,
                <span class="mono wrap">{value === '' ? '(empty)' : value}</span>,
              ] as const,
          ),
        ]}
      />
    </Panel>
  );
}

function Fault({ text, code }: { readonly text: string | null; readonly code: string | null }) {
  if (text === null && code === null) return <span class="soft">none</span>;
  return (
    <>
      {text} {code !== null && <code>{code}</code>}
    </>
  );
}
