import type { BatchRecord } from '../../ledger/views.js';
import type { RunFacts } from '../run-facts.js';
import { counted, duration, grouped } from '../spelling.js';
import type { Summary } from '../summary.js';
import { latencyChart } from './latency-chart.js';
import { type Html, html } from './markup.js';
import { headline, states, tiles } from './overview.js';
import { page } from './page.js';
import { audit, caveats, checks, origin } from './records.js';
import { runChart } from './run-chart.js';
import { failing, slowest } from './troubles.js';
import { doubts, standstill } from './unsettled.js';

/** report.html: first what needs a person, then what happened, then how it is known. */
export function reportPage(record: BatchRecord, summary: Summary, facts: RunFacts): string {
  const body = html`${headline(record, summary)}
<main>
${standstill(summary)}
${doubts(summary, facts.doubts)}
${tiles(record, summary)}
${states(summary)}
${failing(summary, facts)}
${course(record, summary)}
${slowest(facts)}
${caveats(summary)}
${checks(summary)}
${origin(summary, summary.files)}
${audit(record.audit)}
</main>
<footer>Written by almoner from its ledger. All times are UTC.</footer>`;
  return page(`Batch ${summary.batch} · ${summary.realm}`, summary.rehearsal, body);
}

function course(record: BatchRecord, summary: Summary): Html | null {
  const chart = runChart(record.series, record.batch.rate);
  if (summary.requests === 0 && chart === null) return null;
  const { p50, p90, p99, max } = summary.latencyMs;
  const ms = (value: number | null) => (value === null ? '–' : duration(value));
  const answers =
    summary.latencyMs.count === 0
      ? null
      : html` Half of the answers came within ${ms(p50)}, nine of ten within ${ms(p90)}, ninety-nine of a hundred within ${ms(p99)}; the slowest took up to ${ms(max)}.`;
  return html`<section><h2>The run over time</h2>
<p class="soft">${counted(summary.requests, 'request')}, ${counted(summary.retries, 'retry', 'retries')}, ${grouped(summary.rateLimited)} told to slow down (429).${answers}</p>
${chart}
${latencyChart(record.latency)}
</section>`;
}
