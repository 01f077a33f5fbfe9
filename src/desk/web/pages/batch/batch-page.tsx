import { useEffect, useRef, useState } from 'preact/hooks';
import { inCurrency } from '../../../../core/currencies.js';
import { STATES_SHOWN } from '../../../../words/states.js';
import type { BatchReply, BatchSummary } from '../../../api/index.js';
import { useResource } from '../../live/resource.js';
import { useStore } from '../../live/store.js';
import { live, watchBatch } from '../../live/stream.js';
import { LatencyChart, RunChart } from '../../parts/charts.js';
import { ListFilter, TextFilter } from '../../parts/filters.js';
import { BatchStateMark } from '../../parts/marks.js';
import { OrdersPager, OrdersTable, useOrders } from '../../parts/orders.js';
import { Empty, Failure, Loading, Notice, Panel, Prose, Said } from '../../parts/panel.js';
import { Link, pathWith, placeOf, useAddress } from '../../shell/address.js';
import { announce, Page } from '../../shell/page.js';
import { mayWords } from '../approvals/approval-page.js';
import { BatchAudit } from '../audit.js';
import { WaitingList } from '../batches.js';
import { BatchFiles, ManifestPanel } from './batch-files.js';
import { BatchProgress } from './batch-progress.js';
import { Steering } from './steering.js';

/** The page of a batch. Live events update it. */
export function BatchPage({ batch }: { readonly batch: string }) {
  const { value, failure, reload } = useResource<BatchReply>(`/api/batches/${encodeURIComponent(batch)}`);
  const { batch: news, overview } = useStore(live);
  // The address may hold `last` or a prefix. Events need the whole id.
  const id = value?.summary.batch ?? null;
  useEffect(() => watchBatch(id), [id]);
  useEffect(() => () => watchBatch(null), []);
  useStateSpoken(news?.summary ?? null);
  const reply = news !== null && news.summary.batch === id ? news : value;
  if (reply === null)
    return (
      <Page title={`Batch ${batch}`}>
        {failure === null ? <Loading rows={16} /> : <Failure failure={failure} onRetry={reload} />}
      </Page>
    );
  const { summary } = reply;
  const realm = overview?.realms.find(({ realm: name }) => name === summary.realm);
  return (
    <Page
      title={summary.source}
      rehearsal={summary.rehearsal}
      lead={<BatchLead summary={summary} />}
      actions={<Steering reply={reply} onDone={reload} />}
    >
      <BatchNotices reply={reply} />
      <WaitingList batch={summary} />
      <BatchProgress summary={summary} />
      <div class="two-to-one">
        <Panel title="The run">
          <RunChart series={reply.series} rate={realm?.pace.allowed ?? null} />
          <LatencyChart latency={reply.latency} />
        </Panel>
        <ManifestPanel reply={reply} />
      </div>
      <div class="halves">
        <BatchFiles reply={reply} />
        <BatchAudit batch={summary.batch} state={summary.state} />
      </div>
      <BatchOrders reply={reply} />
    </Page>
  );
}

function BatchLead({ summary }: { readonly summary: BatchSummary }) {
  return (
    <span class="lead-line">
      <BatchStateMark batch={summary} />
      <span class="mono">{summary.batch}</span>
      <span>
        {summary.realm}
        {inCurrency(summary.currency)}, made by {summary.createdBy}
      </span>
      {summary.archived && <span class="chip">archived</span>}
    </span>
  );
}

/** Why the batch waits, and its notes. */
function BatchNotices({ reply }: { readonly reply: BatchReply }) {
  const { summary } = reply;
  return (
    <>
      {summary.reason !== null && (
        <Notice tone={summary.state === 'halted' ? 'bad' : 'warn'}>
          <Said {...summary.reason} /> <code>{summary.reason.code}</code>
          {reply.waitsForRecovery && <RecoveryLink />}
          {reply.gate?.closed === 'approval' && (
            <p>
              {mayWords(reply.gate.mayApprove)}{' '}
              <Link to={placeOf('approval', summary.batch)}>Look at it as the second person does</Link>
            </p>
          )}
        </Notice>
      )}
      {summary.reason === null && reply.gate?.closed === 'approval' && (
        <Notice tone="warn">
          A retry of its dead letters waits for an approval. {mayWords(reply.gate.mayApprove)}{' '}
          <Link to={placeOf('approval', summary.batch)}>Look at it as the second person does</Link>
        </Notice>
      )}
      {summary.reason === null && reply.waitsForRecovery && (
        <Notice tone="warn">
          First sends of its realm wait for a person after a rollback of the store. <RecoveryLink />
        </Notice>
      )}
      {summary.notes.map((note) => (
        <Notice key={note} tone="warn">
          <Prose text={note} />
        </Notice>
      ))}
    </>
  );
}

/** Links to the page Recovery. Resuming the batch alone would be refused there. */
function RecoveryLink() {
  return (
    <p>
      <Link to="/recovery">Decide about its realm on the page Recovery</Link>
    </p>
  );
}

/** Announces to screen readers that a batch was paused, halted or done. Changing counts would be noise. */
function useStateSpoken(summary: BatchSummary | null): void {
  const before = useRef<string | null>(null);
  const state = summary?.state ?? null;
  useEffect(() => {
    if (summary !== null && before.current !== null && before.current !== state)
      announce(`${summary.source} is now ${summary.state}`);
    before.current = state ?? before.current;
  }, [state]);
}

const FIELDS = ['member', 'recipient', 'reference', 'line', 'error'];
/** The rows of a running batch change all the time. A person does not read faster than this. */
const REFRESH_MS = 2_500;

function BatchOrders({ reply }: { readonly reply: BatchReply }) {
  const { query } = useAddress();
  const { summary } = reply;
  const search = query.get('q');
  const path = pathWith(`/api/batches/${encodeURIComponent(summary.batch)}/orders`, {
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
      <OrdersPager found={found} />
    </Panel>
  );
}

/** Counts up when the batch changed, at most every few seconds. It skips searches, because each costs a scan. */
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
