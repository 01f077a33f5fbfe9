import { useState } from 'preact/hooks';
import { counted } from '../../../../words/spelling.js';
import type { OrderRow, TaskReply } from '../../../api/index.js';
import { useOrders } from '../../live/orders.js';
import { mayChange, session } from '../../live/session.js';
import { useStore } from '../../live/store.js';
import { Pager, RealmFilter, TextFilter } from '../../parts/filters.js';
import { Empty } from '../../parts/notice.js';
import { OrdersTable } from '../../parts/orders-table.js';
import { Panel } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { apiPath, useAddress } from '../../shell/address.js';
import { Link } from '../../shell/link.js';
import { Page } from '../../shell/page.js';
import { type Decision, ResolveDoubts } from './resolve-doubts.js';

/** All doubts, to be looked at one by one, or decided together where the evidence is the same. */
export function DoubtsPage() {
  const { query } = useAddress();
  const batch = query.get('batch');
  const [round, setRound] = useState(0);
  const found = useOrders(
    apiPath('/api/doubts', { realm: query.get('realm'), batch }),
    query.get('cursor'),
    round,
  );
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<Decision | null>(null);
  const [task, setTask] = useState<TaskReply | null>(null);
  const operator = mayChange(useStore(session));
  const picked = found.orders.filter(({ order }) => chosen.has(order)).map(({ order }) => order);
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
            <button type="button" disabled={picked.length === 0} onClick={() => setAsking('paid')}>
              Chosen were paid
            </button>
            <button type="button" disabled={picked.length === 0} onClick={() => setAsking('unpaid')}>
              Chosen were not paid
            </button>
          </>
        )
      }
    >
      {task !== null && (
        <TaskProgress
          key={task.task}
          started={task}
          onEnd={() => {
            setChosen(new Set());
            setRound(round + 1);
          }}
          onClose={() => setTask(null)}
        />
      )}
      <Panel
        title={found.looking ? 'Doubts' : counted(found.orders.length, 'doubt')}
        flush
        aside={
          <button type="button" class="quiet" onClick={() => setRound(round + 1)}>
            Refresh
          </button>
        }
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
          {...(operator ? { choose: (order) => <Choose {...{ order, chosen, toggle }} /> } : {})}
          act={(order) => <Link to={`/doubts/${encodeURIComponent(order.order)}`}>Evidence</Link>}
        />
        <Pager found={found} />
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

type ChooseProps = {
  readonly order: OrderRow;
  readonly chosen: ReadonlySet<string>;
  readonly toggle: (order: string) => void;
};

function Choose({ order, chosen, toggle }: ChooseProps) {
  return (
    <input
      type="checkbox"
      aria-label={`Choose order ${order.order}`}
      checked={chosen.has(order.order)}
      onChange={() => toggle(order.order)}
    />
  );
}
