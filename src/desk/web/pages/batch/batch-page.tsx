import { useEffect, useRef } from 'preact/hooks';
import type { BatchReply, BatchSummary } from '../../../api-types.js';
import { LatencyChart } from '../../charts/latency-chart.js';
import { RunChart } from '../../charts/run-chart.js';
import { useResource } from '../../live/resource.js';
import { useStore } from '../../live/store.js';
import { live, watchBatch } from '../../live/stream.js';
import { Failure, Loading, Notice } from '../../parts/notice.js';
import { Panel } from '../../parts/panel.js';
import { Prose } from '../../parts/prose.js';
import { BatchStateMark } from '../../parts/state.js';
import { WaitingList } from '../../parts/waiting-list.js';
import { announce } from '../../shell/announce.js';
import { Page } from '../../shell/page.js';
import { BatchAudit } from './batch-audit.js';
import { BatchFiles } from './batch-files.js';
import { BatchOrders } from './batch-orders.js';
import { BatchProgress } from './batch-progress.js';
import { ManifestPanel } from './manifest-panel.js';
import { Steering } from './steering.js';

/** Everything about one batch; it moves by itself while the batch does. */
export function BatchPage({ batch }: { readonly batch: string }) {
  const { value, failure, reload } = useResource<BatchReply>(`/api/batches/${encodeURIComponent(batch)}`);
  const { batch: news, overview } = useStore(live);
  // The address may hold `last` or a prefix; events are asked for by the whole id.
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
      lead={
        <span class="lead-line">
          <BatchStateMark state={summary.state} />
          <span class="mono">{summary.batch}</span>
          <span>
            {summary.realm}, made by {summary.createdBy}
          </span>
          {summary.archived && <span class="chip">archived</span>}
        </span>
      }
      actions={<Steering reply={reply} onDone={reload} />}
    >
      {summary.reason !== null && (
        <Notice tone={summary.state === 'halted' ? 'bad' : 'warn'}>
          <b>
            <Prose text={summary.reason.message} />
          </b>{' '}
          <Prose text={summary.reason.next} /> <code>{summary.reason.code}</code>
        </Notice>
      )}
      {summary.notes.map((note) => (
        <Notice key={note} tone="warn">
          <Prose text={note} />
        </Notice>
      ))}
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

/** Counts would be noise to a listener; that it was paused, halted or done is news. */
function useStateSpoken(summary: BatchSummary | null): void {
  const before = useRef<string | null>(null);
  const state = summary?.state ?? null;
  useEffect(() => {
    if (summary !== null && before.current !== null && before.current !== state)
      announce(`${summary.source} is now ${summary.state}`);
    before.current = state ?? before.current;
  }, [state]);
}
