import { useState } from 'preact/hooks';
import { grouped } from '../../../../words/spelling.js';
import type { DoubtReply, TaskReply } from '../../../api/index.js';
import { useResource } from '../../live/resource.js';
import { mayChange, session } from '../../live/session.js';
import { useStore } from '../../live/store.js';
import { useIsRehearsal } from '../../live/stream.js';
import { Failure, Loading, Notice } from '../../parts/notice.js';
import { OrdersTable } from '../../parts/orders-table.js';
import { Facts, Panel } from '../../parts/panel.js';
import { StateMark } from '../../parts/state.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { Time } from '../../parts/time.js';
import { BatchLink, Link, MemberLink, OrderLink } from '../../shell/link.js';
import { Page } from '../../shell/page.js';
import { Evidence } from './evidence.js';
import { type Decision, ResolveDoubts } from './resolve-doubts.js';

/** One doubt: the evidence side by side, what each decision would do, and the decision. */
export function DoubtPage({ order }: { readonly order: string }) {
  const [askRealm, setAskRealm] = useState(false);
  const path = `/api/doubts/${encodeURIComponent(order)}${askRealm ? '?now=true' : ''}`;
  const { value, failure, loading, reload } = useResource<DoubtReply>(path);
  const [asking, setAsking] = useState<Decision | null>(null);
  const [task, setTask] = useState<TaskReply | null>(null);
  const [decided, setDecided] = useState(false);
  const operator = mayChange(useStore(session));
  const isRehearsal = useIsRehearsal();
  const isOpen = value?.order.state === 'doubt' && task === null;
  return (
    <Page
      title={`Doubt: ${order}`}
      rehearsal={value !== null && isRehearsal(value.order.realm)}
      lead={<Link to="/doubts">All doubts</Link>}
    >
      {failure !== null && <Failure failure={failure} onRetry={reload} />}
      {value === null && failure === null && <Loading rows={12} />}
      {task !== null && (
        <TaskProgress key={task.task} started={task} onEnd={(ended) => setDecided(ended.done > 0)} />
      )}
      {decided && (
        <Notice tone="good">
          <b>Decided.</b> See what became of <OrderLink order={order} />, or go on with{' '}
          <Link to="/doubts">the other doubts</Link>.
        </Notice>
      )}
      {value !== null && (
        <>
          {value.order.state !== 'doubt' && (
            <Notice tone="good">
              This is {value.order.state === 'unknown' ? 'not in doubt' : 'no doubt any more'}:{' '}
              <StateMark state={value.order.state} />. See <OrderLink order={order} />.
            </Notice>
          )}
          <div class="halves">
            <Evidence
              reply={value}
              busy={loading}
              onAskRealm={operator ? () => (askRealm ? reload() : setAskRealm(true)) : null}
            />
            <div class="stack">
              {value.decisions.map(({ decision, does }) => (
                <Panel key={decision} title={decision === 'paid' ? 'If it was paid' : 'If it was not paid'}>
                  <div class="stack">
                    <p>{does}</p>
                    <div>
                      <button
                        type="button"
                        class="primary"
                        disabled={!operator || !isOpen}
                        onClick={() => setAsking(decision)}
                      >
                        {decision === 'paid' ? 'It was paid' : 'It was not paid'}
                      </button>
                      {!operator && <span class="soft small"> An operator may decide.</span>}
                    </div>
                  </div>
                </Panel>
              ))}
            </div>
          </div>
          <div class="halves">
            <Upstream reply={value} />
            <Panel title="The order">
              <Facts
                facts={[
                  ['Order', <OrderLink order={order} />],
                  ['Batch', <BatchLink batch={value.order.batch} />],
                  ['Line', grouped(value.order.line)],
                  ['What', `${value.order.op ?? 'none'}, ${grouped(value.order.tokens ?? 0)} tokens`],
                  ['Member', <MemberLink member={value.order.member} />],
                  ...(value.order.recipient === null
                    ? []
                    : [['Recipient', <MemberLink member={value.order.recipient} />] as const]),
                  ['Reference', value.order.reference ?? 'none'],
                  ['Why a doubt', value.order.message ?? 'not told'],
                ]}
              />
            </Panel>
          </div>
          {value.later.length > 0 && (
            <Panel title="Later orders on the same members" flush>
              <p class="panel-note soft">They moved the same balances afterwards, so compare with care.</p>
              <OrdersTable
                label="Later orders"
                mixed
                empty={null}
                found={{
                  orders: value.later,
                  next: null,
                  scanned: value.later.length,
                  of: value.later.length,
                  looking: false,
                  failure: null,
                }}
              />
            </Panel>
          )}
        </>
      )}
      {asking !== null && (
        <ResolveDoubts
          orders={[order]}
          decision={asking}
          does={value?.decisions.find(({ decision }) => decision === asking)?.does ?? ''}
          onStarted={setTask}
          onClose={() => setAsking(null)}
        />
      )}
    </Page>
  );
}

function Upstream({ reply }: { readonly reply: DoubtReply }) {
  return (
    <Panel title="What to look for upstream">
      <Facts
        facts={[
          ['Sent', <Time at={reply.sentAt} none="not known" />],
          ['Request id', reply.requestId === null ? 'none was told' : <code>{reply.requestId}</code>],
          ['Idempotency key', reply.key === null ? 'none' : <code>{reply.key}</code>],
          ['Status', reply.order.status ?? 'no answer'],
        ]}
      />
    </Panel>
  );
}
