import { currencyOption } from '../../core/currencies.js';
import { CATALOGUE } from '../../core/errors/catalogue.js';
import { counted, duration, grouped } from '../../words/spelling.js';
import type { RunFacts } from '../run-facts.js';
import type { Summary } from '../summary.js';
import { type Content, type Html, html, prose, table } from './markup.js';

const GROUPS_SHOWN_MAX = 20;

/** The failures, grouped by cause, with the first orders of each group and the remedy. */
export function failing(summary: Summary, facts: RunFacts): Html | null {
  const groups = facts.failing.list();
  if (groups.length === 0) return null;
  const rows = groups
    .slice(0, GROUPS_SHOWN_MAX)
    .map((group): Content[] => [
      grouped(group.count),
      grouped(group.tokens),
      [
        html`<strong>${group.message ?? 'Various other messages'}</strong>`,
        group.code === null
          ? null
          : html`<br><code>${group.code}</code> <span class="soft">${prose(`${CATALOGUE[group.code].means} ${CATALOGUE[group.code].next}`)}</span>`,
      ],
      [...group.states].sort().join(', '),
      group.first.map(({ order, line }, at) => html`${at > 0 ? html`<br>` : null}${order} (line ${line})`),
    ]);
  const retryable = summary.counts.refused + summary.counts.exhausted;
  const advice =
    retryable === 0
      ? null
      : html`<p>Mend the cause and send them again, or mend the rows in failed.csv and run that file:</p>
<pre tabindex="0">almoner dead list --batch ${summary.batch}
almoner dead retry --batch ${summary.batch}
almoner run failed.csv${currencyOption(summary.manifest.currency)}</pre>`;
  return html`<section><h2>What went wrong, by cause</h2>
${advice}
${table(
  'What went wrong, by cause',
  { Orders: 'n', Points: 'n', Cause: 'wide', State: '', 'First of them': 'id' },
  rows,
)}
${groups.length > GROUPS_SHOWN_MAX ? html`<p class="soft">And ${counted(groups.length - GROUPS_SHOWN_MAX, 'smaller group')}; every order’s error is in results.csv.</p>` : null}
</section>`;
}

/** The slowest orders, and the times per kind of order. */
export function slowest(facts: RunFacts): Html | null {
  const orders = facts.slowest.orders();
  if (orders.length === 0) return null;
  return html`<section><h2>Where the time went</h2>
<p class="soft">From sending an order to knowing what became of it, retries and waiting included.</p>
${table(
  'Time by kind of order',
  { Kind: '', Orders: 'n', Mean: 'n', Longest: 'n' },
  facts.slowest
    .groups()
    .map(({ name, count, totalMs, maxMs }) => [
      name,
      grouped(count),
      duration(totalMs / count),
      duration(maxMs),
    ]),
)}
<h3>The slowest orders</h3>
${table(
  'The slowest orders',
  { Order: 'id', Line: 'n', What: '', Member: 'id', Attempts: 'n', State: '', Took: 'n' },
  orders.map(({ row, tookMs }) => [
    row.order,
    row.line,
    [row.op, ' ', row.tokens === null ? null : grouped(row.tokens)],
    row.member,
    row.attempts,
    row.state,
    duration(tookMs),
  ]),
)}
</section>`;
}
