import { useState } from 'preact/hooks';
import { grouped } from '../../../../words/spelling.js';
import type { DoubtReply, TaskReply } from '../../../api/index.js';
import { useIsOperator } from '../../live/call.js';
import { useResource } from '../../live/resource.js';
import { useIsRehearsal } from '../../live/stream.js';
import { Button } from '../../parts/fields.js';
import { StateMark, Time } from '../../parts/marks.js';
import { NONE_FOUND, OrdersTable } from '../../parts/orders.js';
import { Empty, Facts, Notice, Panel, Pending, Scroll } from '../../parts/panel.js';
import { TaskProgress } from '../../parts/task-progress.js';
import { BatchLink, Link, MemberLink, OrderLink } from '../../shell/address.js';
import { Page } from '../../shell/page.js';
import { type Decision, ResolveDoubts } from './resolve-doubts.js';

/** The page of a doubt: the evidence side by side, the effect of each decision, and the decision. */
export function DoubtPage({ order }: { readonly order: string }) {
  const [askRealm, setAskRealm] = useState(false);
  const path = `/api/doubts/${encodeURIComponent(order)}${askRealm ? '?now=true' : ''}`;
  const reply = useResource<DoubtReply>(path);
  const { value, loading, reload } = reply;
  const [asking, setAsking] = useState<Decision | null>(null);
  const [task, setTask] = useState<TaskReply | null>(null);
  const [decided, setDecided] = useState(false);
  const operator = useIsOperator();
  const isRehearsal = useIsRehearsal();
  const isOpen = value?.order.state === 'doubt' && task === null;
  return (
    <Page
      title={`Doubt: ${order}`}
      rehearsal={value !== null && isRehearsal(value.order.realm)}
      lead={<Link to="/doubts">All doubts</Link>}
    >
      <Pending of={reply} rows={12} />
      <TaskProgress started={task} onEnd={(ended) => setDecided(ended.done > 0)} />
      {decided && (
        <Notice tone="good">
          <b>Decided.</b> See what became of <OrderLink order={order} />, or go on with{' '}
          <Link to="/doubts">the other doubts</Link>.
        </Notice>
      )}
      {value !== null && (
        <>
          <NoDoubt order={value.order} />
          <div class="halves">
            <Evidence
              reply={value}
              busy={loading}
              onAskRealm={operator ? () => (askRealm ? reload() : setAskRealm(true)) : null}
            />
            <Decisions
              reply={value}
              mayDecide={operator && isOpen}
              isViewer={!operator}
              onDecide={setAsking}
            />
          </div>
          <div class="halves">
            <Upstream reply={value} />
            <TheOrder order={value.order} />
          </div>
          <LaterOrders orders={value.later} />
        </>
      )}
      {asking !== null && (
        <ResolveDoubts
          selection={{ orders: [value?.order.doubt == null ? order : `${order}:${value.order.doubt}`] }}
          decision={asking}
          does={value?.decisions.find(({ decision }) => decision === asking)?.does ?? ''}
          onStarted={setTask}
          onClose={() => setAsking(null)}
        />
      )}
    </Page>
  );
}

function NoDoubt({ order: { order, state } }: { readonly order: DoubtReply['order'] }) {
  if (state === 'doubt') return null;
  return (
    <Notice tone="good">
      This is {state === 'unknown' ? 'not in doubt' : 'no doubt any more'}: <StateMark state={state} />. See{' '}
      <OrderLink order={order} />.
    </Notice>
  );
}

type DecisionsProps = {
  readonly reply: DoubtReply;
  readonly mayDecide: boolean;
  readonly isViewer: boolean;
  readonly onDecide: (decision: Decision) => void;
};

/** The effect of each decision, with its button. */
function Decisions({ reply, mayDecide, isViewer, onDecide }: DecisionsProps) {
  return (
    <div class="stack">
      {reply.decisions.map(({ decision, does }) => (
        <Panel key={decision} title={decision === 'paid' ? 'If it was paid' : 'If it was not paid'}>
          <div class="stack">
            <p>{does}</p>
            <div>
              <Button
                name={decision === 'paid' ? 'It was paid' : 'It was not paid'}
                look="primary"
                disabled={!mayDecide}
                onPress={() => onDecide(decision)}
              />
              {isViewer && <span class="soft small"> An operator may decide.</span>}
            </div>
          </div>
        </Panel>
      ))}
    </div>
  );
}

function TheOrder({ order }: { readonly order: DoubtReply['order'] }) {
  return (
    <Panel title="The order">
      <Facts
        facts={[
          ['Order', <OrderLink order={order.order} />],
          ['Batch', <BatchLink batch={order.batch} />],
          ['Line', grouped(order.line)],
          ['What', `${order.op ?? 'none'}, ${grouped(order.tokens ?? 0)} tokens`],
          ['Member', <MemberLink member={order.member} />],
          order.recipient !== null && ['Recipient', <MemberLink member={order.recipient} />],
          ['Reference', order.reference ?? 'none'],
          ['Why a doubt', order.message ?? 'not told'],
        ]}
      />
    </Panel>
  );
}

function LaterOrders({ orders }: { readonly orders: DoubtReply['later'] }) {
  if (orders.length === 0) return null;
  return (
    <Panel title="Later orders on the same members" flush>
      <p class="panel-note soft">They moved the same balances too, or may: compare with care.</p>
      <OrdersTable
        label="Later orders"
        mixed
        empty={null}
        found={{ ...NONE_FOUND, orders, looking: false }}
      />
    </Panel>
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

type EvidenceProps = {
  readonly reply: DoubtReply;
  readonly busy: boolean;
  /** Null for a viewer who may not make the desk ask the realm. */
  readonly onAskRealm: (() => void) | null;
};

type Side = DoubtReply['sides'][number];

const ROWS: readonly (readonly [string, (side: Side) => string | null])[] = [
  ['Last seen before', (side) => side.lastSeen],
  ['Should be, if paid', (side) => side.ifPaid],
  ['Should be, if not paid', (side) => side.ifUnpaid],
  ['When the doubt arose', (side) => side.whenDoubtArose],
  ['Now', (side) => side.now],
];

/** The balances one below the other, digit by digit, so that equal ones are easy to see. */
function Evidence({ reply, busy, onAskRealm }: EvidenceProps) {
  return (
    <Panel
      title="Evidence"
      flush
      aside={
        onAskRealm !== null && (
          <Button name={busy ? 'Reading…' : 'Read the balance now'} disabled={busy} onPress={onAskRealm} />
        )
      }
    >
      {reply.sides.length === 0 ? (
        <Empty title="No balance was seen.">Read it now, or look upstream for the request.</Empty>
      ) : (
        <Scroll label="Balances">
          <table class="evidence">
            <thead>
              <tr>
                <th scope="col">Balance</th>
                {reply.sides.map((side) => (
                  <th key={side.role} scope="col" class="n">
                    {side.role} <MemberLink member={side.member} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {ROWS.map(([name, pick]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {reply.sides.map((side) => (
                    <td key={side.role} class="n">
                      <Balance value={pick(side)} none={name === 'Now' ? 'not read' : 'not known'} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row">Speaks for</th>
                {reply.sides.map((side) => (
                  <td key={side.role} class="n">
                    {speaksFor(side, reply.later.length)}
                  </td>
                ))}
              </tr>
            </tfoot>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

function Balance({ value, none }: { readonly value: string | null; readonly none: string }) {
  return value === null ? <span class="soft">{none}</span> : <span>{grouped(value)}</span>;
}

/** Only a hint: another order or person may have changed the balance meanwhile. */
function speaksFor(side: Side, later: number): string {
  const seen = side.now ?? side.whenDoubtArose;
  if (seen === null || side.ifPaid === null || side.ifUnpaid === null) return 'not enough known';
  if (later > 0 && side.now !== null) return 'blurred by later orders';
  if (seen === side.ifPaid) return 'paid';
  if (seen === side.ifUnpaid) return 'not paid';
  return 'neither: something else moved it';
}
