import { openCount } from '../../../core/states.js';
import { grouped, paceWords, percent } from '../../../words/spelling.js';
import type { BatchSummary } from '../../api/index.js';
import { Link } from '../shell/link.js';
import { StateBar } from './charts.js';
import { Prose } from './panel.js';
import { BatchStateMark, RehearsalChip, StateMark, useSeenStates } from './state.js';
import { Eta, Time } from './time.js';
import { WaitingList } from './waiting-list.js';

/** A batch in a list: what it is, how far it is, and why it stands still. */
export function BatchLine({ batch }: { readonly batch: BatchSummary }) {
  const settled = settledRows(batch);
  return (
    <li class="batch-line">
      <div class="batch-name">
        <Link to={`/batches/${encodeURIComponent(batch.batch)}`}>{batch.source}</Link>
        <BatchStateMark state={batch.state} />
        <RehearsalChip on={batch.rehearsal} />
        <span class="batch-id soft small wrap">
          {batch.realm} · <span class="mono">{batch.batch}</span>
        </span>
      </div>
      <div class="batch-progress">
        <StateBar counts={batch.counts} />
        <Tallies batch={batch} />
      </div>
      <div class="batch-pace n">
        <div>
          <b>{percent(settled, batch.rows)}</b> <span class="soft">of {grouped(batch.rows)}</span>
        </div>
        <Pace batch={batch} />
      </div>
      {batch.reason !== null && (
        <p class="batch-reason">
          <b>
            <Prose text={batch.reason.message} />
          </b>{' '}
          <Prose text={batch.reason.next} />
        </p>
      )}
      <WaitingList batch={batch} />
    </li>
  );
}

function Pace({ batch }: { readonly batch: BatchSummary }) {
  if (batch.state === 'running')
    return (
      <>
        <div class="soft small">
          {batch.perSecond === null ? 'starting' : `${paceWords(batch.perSecond)} settled`}
          {batch.allowedPerSecond !== null && `, ${paceWords(batch.allowedPerSecond)} allowed`}
        </div>
        <div class="soft small">
          <Eta seconds={batch.etaSeconds} />
        </div>
      </>
    );
  return (
    <div class="soft small">
      <Time at={batch.finishedAt ?? batch.startedAt ?? batch.createdAt} />
    </div>
  );
}

function Tallies({ batch }: { readonly batch: BatchSummary }) {
  const present = useSeenStates(batch);
  return (
    <ul class="tallies">
      {present.map((state) => (
        <li key={state}>
          <StateMark state={state} /> <span class="n">{grouped(batch.counts[state] ?? 0)}</span>
        </li>
      ))}
    </ul>
  );
}

/** Rows that will not change by themselves any more. */
export function settledRows({ rows, counts }: BatchSummary): number {
  return rows - openCount(counts);
}
