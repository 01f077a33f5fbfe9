import { useEffect } from 'preact/hooks';
import { inCurrency } from '../../../core/currencies.js';
import type { BatchState } from '../../../core/states.js';
import type { Waiting } from '../../../core/waiting.js';
import { amountsWords, sumWords } from '../../../words/amounts.js';
import { allowedWords, counted, grouped, percent, usedWords } from '../../../words/spelling.js';
import { settledRows } from '../../../words/states.js';
import type { BatchesPage as Batches, BatchSummary } from '../../api/index.js';
import { useResource } from '../live/resource.js';
import { useStore } from '../live/store.js';
import { live } from '../live/stream.js';
import { StateBar } from '../parts/charts.js';
import { ListFilter, RealmFilter } from '../parts/filters.js';
import { BatchStateMark, Eta, RehearsalChip, StateMark, Time, useSeenStates } from '../parts/marks.js';
import { CursorPager } from '../parts/pager.js';
import { Empty, Panel, Pending, Prose, Said, Typed } from '../parts/panel.js';
import { Link, pathWith, placeOf, useAddress } from '../shell/address.js';
import { Page } from '../shell/page.js';

const STATES = ['running', 'halted', 'paused', 'planned', 'done', 'cancelled'] satisfies BatchState[];

/** The page of all batches, newest first. Live events update the running ones. */
export function BatchesPage() {
  const { query } = useAddress();
  const cursor = query.get('cursor');
  const batches = useResource<Batches>(
    pathWith('/api/batches', { realm: query.get('realm'), state: query.get('state'), cursor, limit: '30' }),
  );
  const { value, reload } = batches;
  const { overview } = useStore(live);
  const fresh = new Map((overview?.batches ?? []).map((batch) => [batch.batch, batch]));
  // Live events update the batches on the list. A new batch or a changed state changes the list itself.
  useEffect(reload, [[...fresh.values()].map(({ batch, state }) => `${batch} ${state}`).join()]);
  return (
    <Page title="Batches">
      <div class="filters">
        <RealmFilter />
        <ListFilter name="state" label="State" values={STATES} />
      </div>
      <Pending of={batches} rows={10} />
      {value !== null && (
        <Panel title={cursor === null ? 'Newest first' : 'Earlier batches'} flush>
          {value.batches.length === 0 ? (
            <Empty title="No batch here.">
              Nothing matches, or nothing was imported yet. <Link to="/import">Import a CSV</Link>.
            </Empty>
          ) : (
            <BatchList batches={value.batches.map((batch) => fresh.get(batch.batch) ?? batch)} />
          )}
          <CursorPager next={value.next} />
        </Panel>
      )}
    </Page>
  );
}

export function BatchList({ batches }: { readonly batches: readonly BatchSummary[] }) {
  return (
    <ul>
      {batches.map((batch) => (
        <BatchLine key={batch.batch} batch={batch} />
      ))}
    </ul>
  );
}

/** One batch in a list: what it is, how far it is, and why it waits. */
function BatchLine({ batch }: { readonly batch: BatchSummary }) {
  return (
    <li class="batch-line">
      <div class="batch-name">
        <Link to={placeOf('batch', batch.batch)}>{batch.source}</Link>
        <BatchStateMark batch={batch} />
        <RehearsalChip on={batch.rehearsal} />
        <span class="batch-id soft small wrap">
          {batch.realm} · <span class="mono">{batch.batch}</span>
        </span>
      </div>
      <div class="batch-progress">
        <StateBar counts={batch.counts} />
        <ul class="tallies">
          {useSeenStates(batch).map((state) => (
            <li key={state}>
              <StateMark state={state} /> <span class="n">{grouped(batch.counts[state] ?? 0)}</span>
            </li>
          ))}
        </ul>
      </div>
      <div class="batch-pace n">
        <div>
          <b>{percent(settledRows(batch), batch.rows)}</b>{' '}
          <span class="soft">settled of {grouped(batch.rows)}</span>
        </div>
        <div class="soft small">
          {amountsWords(batch.amounts)}
          {inCurrency(batch.currency)}
        </div>
        <Pace batch={batch} />
      </div>
      {batch.reason !== null && (
        <p class="batch-reason">
          <Said {...batch.reason} />
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
        <div class="soft small">{settlingWords(batch)}</div>
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

/** The speed of a running batch beside the allowed pace. */
export function settlingWords({ perSecond, allowed }: BatchSummary): string {
  const settled = perSecond === null ? 'starting' : `${usedWords(perSecond, allowed)} settled`;
  return allowed === null ? settled : `${settled}, ${allowedWords(allowed)} allowed`;
}

/** Orders that wait: how many, why, since when, and what ends the wait. */
export function WaitingList({ batch }: { readonly batch: BatchSummary }) {
  const waiting = batch.waiting.filter((one) => isNews(one, batch));
  if (waiting.length === 0) return null;
  return (
    <ul class="waiting-list">
      {waiting.map((one) => (
        <li key={`${one.why} ${one.session ?? ''}`} class={isLoud(one) ? 'lost' : ''}>
          <p>
            <b class="n">
              {counted(one.orders, 'order')}, {sumWords(one.tokens, batch.amounts)}
            </b>{' '}
            <span class="chip">{one.why}</span>{' '}
            <span class="soft small">
              since <Time at={one.since} />
              {one.until !== null && (
                <>
                  , until <Time at={one.until} />
                </>
              )}
            </span>
          </p>
          <p>
            <Prose text={one.message} /> <Typed command={one.next} />
          </p>
        </li>
      ))}
    </ul>
  );
}

/** These orders wait until a person starts a worker or gives a process up. */
function isLoud({ why, session }: Waiting): boolean {
  return session !== null || why === 'no-worker';
}

/** Doubts have a page of their own. A message that repeats the batch's reason is shown above already. */
function isNews({ why, message }: Waiting, { reason }: BatchSummary): boolean {
  return why !== 'doubt' && (reason === null || !message.startsWith(reason.message));
}
