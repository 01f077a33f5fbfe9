import { useState } from 'preact/hooks';
import { counted } from '../../../../words/spelling.js';
import type { ResolveRequest, TaskReply } from '../../../api/index.js';
import { asFailure, change, useIsOperator } from '../../live/call.js';
import { Confirm } from '../../parts/confirm.js';
import { Button } from '../../parts/fields.js';
import { RealmFilter, TextFilter } from '../../parts/filters.js';
import { OrdersPager, OrdersTable, useOrders } from '../../parts/orders.js';
import { Empty, Panel } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { Link, pathWith, placeOf, useAddress } from '../../shell/address.js';
import { Page } from '../../shell/page.js';

/** All doubts, to be looked at one by one, or decided together where the evidence is the same. */
export function DoubtsPage() {
  const { query } = useAddress();
  const batch = query.get('batch');
  const [round, setRound] = useState(0);
  const found = useOrders(
    pathWith('/api/doubts', { realm: query.get('realm'), batch }),
    query.get('cursor'),
    round,
  );
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<Decision | null>(null);
  const [task, setTask] = useState<TaskReply | null>(null);
  const operator = useIsOperator();
  const picked = found.orders.filter(({ order }) => chosen.has(order)).map(({ order }) => order);
  const isNone = picked.length === 0;
  const toggle = (order: string) => {
    const next = new Set(chosen);
    if (!next.delete(order)) next.add(order);
    setChosen(next);
  };
  return (
    <Page
      title="Doubts"
      lead="almoner cannot prove whether these were applied. Nothing more is sent for them until a person decides."
      actions={
        operator && (
          <>
            <Button name="Chosen were paid" disabled={isNone} onPress={() => setAsking('paid')} />
            <Button name="Chosen were not paid" disabled={isNone} onPress={() => setAsking('unpaid')} />
          </>
        )
      }
    >
      <TaskProgress
        started={task}
        onEnd={() => {
          setChosen(new Set());
          setRound(round + 1);
        }}
        onClose={() => setTask(null)}
      />
      <Panel
        title={found.looking ? 'Doubts' : counted(found.orders.length, 'doubt')}
        flush
        aside={<Button name="Refresh" look="quiet" onPress={() => setRound(round + 1)} />}
      >
        <div class="filters">
          <RealmFilter />
          <TextFilter name="batch" label="Batch" placeholder="batch id or prefix" />
        </div>
        <OrdersTable
          label="Orders in doubt"
          found={found}
          mixed
          empty={
            <Empty title="No doubts.">
              Every order’s outcome is proven{batch === null ? '' : ' in this batch'}. That is the normal
              state.
            </Empty>
          }
          choose={
            operator
              ? ({ order }) => (
                  <input
                    type="checkbox"
                    aria-label={`Choose order ${order}`}
                    checked={chosen.has(order)}
                    onChange={() => toggle(order)}
                  />
                )
              : undefined
          }
          act={(order) => <Link to={placeOf('doubt', order.order)}>Evidence</Link>}
        />
        <OrdersPager found={found} />
      </Panel>
      {asking !== null && (
        <ResolveDoubts
          orders={picked}
          decision={asking}
          onStarted={setTask}
          onClose={() => setAsking(null)}
        />
      )}
    </Page>
  );
}

export type Decision = ResolveRequest['decision'];

type ResolveDoubtsProps = {
  readonly orders: readonly string[];
  readonly decision: Decision;
  /** What the server says this decision does, where it was asked. */
  readonly does?: string;
  readonly onStarted: (task: TaskReply) => void;
  readonly onClose: () => void;
};

const DOES: Readonly<Record<Decision, string>> = {
  paid: 'Ends as paid, with the operator as evidence. Nothing is sent.',
  unpaid:
    'Ends as exhausted: definitely not applied. Nothing is sent before somebody retries it as a dead letter, which waits until its request can no longer arrive.',
};

export function ResolveDoubts({ orders, decision, does, onStarted, onClose }: ResolveDoubtsProps) {
  const [arriving, setArriving] = useState(false);
  const many = counted(orders.length, 'order');
  const settle = decision === 'paid' ? `Settle ${many} as paid` : `Settle ${many} as not paid`;
  return (
    <Confirm
      title={decision === 'paid' ? `${many}: was paid?` : `${many}: was not paid?`}
      verb={arriving ? `${settle} all the same` : settle}
      danger={arriving}
      reason="must"
      act={async ({ reason = '' }) => {
        const asked = { orders, decision, reason, expect: orders.length };
        const request: ResolveRequest = { ...asked, mayArrive: arriving };
        try {
          onStarted(await change<TaskReply>('/api/doubts/resolve', request));
        } catch (error) {
          // The warning is said once; the same button then means that the person knows.
          setArriving(asFailure(error).code === 'ALM_BATCH_MAY_ARRIVE');
          throw error;
        }
      }}
      onClose={onClose}
    >
      <p>{does ?? DOES[decision]}</p>
      <p class="soft">
        This cannot be taken back. Say in the reason what you saw: the member’s balance, the upstream log, the
        request id.
      </p>
    </Confirm>
  );
}
