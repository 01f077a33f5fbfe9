import { amountsWords, isMixed } from '../../../../words/amounts.js';
import { counted, grouped, percent } from '../../../../words/spelling.js';
import { STATE_WORDS, settledRows } from '../../../../words/states.js';
import type { BatchSummary } from '../../../api/index.js';
import { StateBar } from '../../parts/charts.js';
import { Eta, StateMark, Time, useSeenStates } from '../../parts/marks.js';
import { Heads, Panel } from '../../parts/panel.js';
import { Link, placeOf } from '../../shell/address.js';
import { settlingWords } from '../batches.js';

/** Counts and sums per state. Together they equal the manifest. */
export function BatchProgress({ summary }: { readonly summary: BatchSummary }) {
  return (
    <Panel
      title={progressWords(summary)}
      aside={
        <span class="soft n">
          {summary.state === 'running' && (
            <>
              {settlingWords(summary)} · <Eta seconds={summary.etaSeconds} />
            </>
          )}
          {summary.finishedAt !== null && (
            <>
              ended <Time at={summary.finishedAt} />
            </>
          )}
        </span>
      }
    >
      <p class="n">
        In all: <b>{amountsWords(summary.amounts)} tokens</b>
      </p>
      <StateBar counts={summary.counts} tall />
      <SumsTable summary={summary} />
    </Panel>
  );
}

function SumsTable({ summary }: { readonly summary: BatchSummary }) {
  const shown = useSeenStates(summary);
  const all = shown.reduce((sum, state) => sum + (summary.counts[state] ?? 0), 0);
  const tokens = shown.reduce((sum, state) => sum + BigInt(summary.tokens[state] ?? 0), 0n);
  return (
    <table class="sums">
      <Heads
        heads={[
          'State',
          ['Rows', 'n'],
          [isMixed(summary.amounts) ? 'Tokens, absolute' : 'Tokens', 'n'],
          ['Share', 'n'],
          ['Means', 'wide-only'],
        ]}
      />
      <tbody>
        {shown.map((state) => (
          <tr key={state}>
            <th scope="row">
              <Link to={`${placeOf('batch', summary.batch)}?state=${state}`} onFollow={toOrders}>
                <StateMark state={state} />
              </Link>
            </th>
            <td class="n">{grouped(summary.counts[state] ?? 0)}</td>
            <td class="n">{grouped(summary.tokens[state] ?? '0')}</td>
            <td class="n soft">{percent(summary.counts[state] ?? 0, summary.rows)}</td>
            <td class="soft wide-only">{STATE_WORDS[state]}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">all</th>
          <td class="n">{grouped(all)}</td>
          <td class="n">{grouped(tokens)}</td>
          <td class="n soft">{percent(all, summary.rows)}</td>
          <td class="soft wide-only">
            {counted(summary.requests, 'request')}, {counted(summary.retries, 'retry', 'retries')},{' '}
            {counted(summary.rateLimited, 'answer')} to slow down
          </td>
        </tr>
      </tfoot>
    </table>
  );
}

function progressWords(summary: BatchSummary): string {
  const doubts = summary.counts.doubt ?? 0;
  const settled = `${percent(settledRows(summary), summary.rows)} settled`;
  return doubts === 0 ? settled : `${settled}, ${percent(doubts, summary.rows)} in doubt`;
}

/** The table is below the charts, so that a click without scrolling would seem to do nothing. */
function toOrders(): void {
  document.getElementById('orders')?.scrollIntoView();
}
