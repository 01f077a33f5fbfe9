import { OPS } from '../../core/order.js';
import type { AuditEntry, BatchRecord, Manifest, RowView } from '../../ledger/index.js';
import { amountsWords, sumWords } from '../../words/amounts.js';
import { counted, duration, grouped, utcTime } from '../../words/spelling.js';
import type { RunFacts } from '../run-facts.js';
import type { Summary } from '../summary.js';
import { answersByTime, runOverTime } from './charts.js';
import { type Content, type Html, html, prose, table } from './markup.js';
import { headline, states, tiles } from './overview.js';
import { page } from './page.js';
import { failing, slowest } from './troubles.js';

/** report.html: first the orders that need a person, then what happened, then how it is known. */
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
${origin(summary)}
${audit(record.audit)}
</main>
<footer>Written by almoner from its ledger. All times are UTC.</footer>`;
  return page(`Batch ${summary.batch} · ${summary.realm}`, summary.rehearsal, body);
}

/** The section about the run over time. */
function course(record: BatchRecord, summary: Summary): Html | null {
  const chart = runOverTime(record.series, record.batch.rate);
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
${answersByTime(record.latency)}
</section>`;
}

/** Why the batch is paused or halted, and how to resume it. */
function standstill({ reason, state }: Summary): Html | null {
  if (reason === null) return null;
  return html`<section class="stop"><h2>Why it is ${state}</h2>
<p>${prose(reason.message)}</p>
<p><strong>Next:</strong> ${prose(reason.next)} <span class="soft"><code>${reason.code}</code></span></p></section>`;
}

/**
 * Doubts come first. Only a person can settle these orders, and paying them again by hand without a check may pay
 * twice.
 */
function doubts(summary: Summary, shown: readonly RowView[]): Html | null {
  const count = summary.counts.doubt;
  const first = shown[0]?.order;
  if (first === undefined) return null;
  const rows = shown.map((row) => [
    row.order,
    row.line,
    row.op,
    row.recipient === null ? row.member : [row.member, ' → ', row.recipient],
    row.tokens === null ? null : grouped(row.tokens),
    row.sentAt === null ? null : utcTime(row.sentAt),
    [
      row.error,
      row.errorCode === null ? null : html` <span class="soft"><code>${row.errorCode}</code></span>`,
    ],
  ]);
  return html`<section class="alert"><h2>${counted(count, 'order')} in doubt: please decide</h2>
<p>${count === 1 ? 'It was' : 'They were'} sent, but no answer proves whether anything was moved (${sumWords(summary.tokens.doubt, summary.manifest.tokens).replace('token', 'point')}). almoner sends nothing again until a person decides. <strong>Do not pay by hand before looking.</strong></p>
<ol><li>Look at the evidence, then at the member’s history in the realm at the minute given there:
<pre tabindex="0">almoner doubt show ${first}</pre></li>
<li>Say what you found. <code>--unpaid</code> sends nothing by itself; <code>almoner dead retry</code> does.
<pre tabindex="0">almoner doubt resolve ${first} --paid --reason "seen in the history"
almoner doubt resolve ${first} --unpaid --reason "not in the history"</pre></li>
<li>Or, for many at once, fill the column <code>decision</code> of doubt.csv with <code>paid</code> or <code>unpaid</code>:
<pre tabindex="0">almoner doubt resolve --file doubt.csv --reason "checked by hand"</pre></li></ol>
${table(
  'Orders in doubt',
  { Order: 'id', Line: 'n', What: '', Member: 'id', Points: 'n', Sent: 'n', 'What happened': 'wide' },
  rows,
)}
${count > shown.length ? html`<p class="soft">The first ${shown.length} of ${grouped(count)}; all are in doubt.csv.</p>` : null}
</section>`;
}

const AUDIT_SHOWN_MAX = 100;

/** The two checks. A report that fails one is never written, so they always read as passed. */
function checks({ manifest, rows }: Summary): Html {
  const total = OPS.reduce((sum, op) => sum + BigInt(manifest.tokens[op]), 0n);
  return html`<section><h2>Checks</h2>
<p class="soft">Every row was added up again, independently of the running counters.</p>
<ul class="checks"><li><b>✓ Counts tie.</b> ${counted(rows, 'row')} of the input, each in exactly one state.</li>
<li><b>✓ Sums tie.</b> ${counted(total, 'point')}, absolute, over all states, as planned: ${amountsWords(manifest.tokens)}.</li></ul></section>`;
}

/** The section about overrides and accepted risks. */
function caveats({ caveats: lines }: Summary): Html | null {
  if (lines.length === 0) return null;
  return html`<section class="alert"><h2>To know beside the numbers</h2>
<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul></section>`;
}

const CERTAINTY_WORDS: Readonly<Record<Manifest['certainty'], string>> = {
  idempotent: 'idempotent: after a lost answer, almoner sends the request again with the same key',
  readback: 'readback: after a lost answer, almoner checks the member’s balance',
  manual: 'manual: after a lost answer, the order is in doubt and a person decides',
};

/** The section about the origin of the batch: realm, file, checksums and settings. */
function origin({ manifest, files }: Summary): Html {
  const planned = OPS.filter((op) => manifest.orders[op] > 0).map(
    (op) => `${grouped(manifest.orders[op])} ${op}`,
  );
  const lines: [string, Content][] = [
    ['Realm', `${manifest.realm} (${manifest.realmId}) at ${manifest.baseUrl}`],
    ['Currency', manifest.currency ?? 'the realm’s default'],
    ['Source', manifest.source === '-' ? 'standard input' : manifest.source],
    ['Made by', `${manifest.createdBy}, ${utcTime(Date.parse(manifest.createdAt))}, with ${manifest.mode}`],
    [
      'Planned',
      planned.length === 0 ? 'no orders' : `${planned.join(', ')}: ${amountsWords(manifest.tokens)} points`,
    ],
    ['Members', grouped(manifest.members)],
    ['Certainty', CERTAINTY_WORDS[manifest.certainty]],
    ['SHA-256 of the orders', html`<code>${manifest.sha256}</code>`],
  ];
  if (manifest.fileSha256 !== null)
    lines.push(['SHA-256 of the file', html`<code>${manifest.fileSha256}</code>`]);
  if (manifest.table !== null)
    lines.push(['Members by', html`${manifest.table.name} <code>${manifest.table.sha256}</code>`]);
  if (manifest.again !== null) lines.push(['Paid again on purpose', manifest.again]);
  if (manifest.inOrder) lines.push(['Order', 'strictly one after the other, as in the file']);
  return html`<section><h2>Where it came from</h2>
<dl class="facts">${lines.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
<h3>Files beside this page</h3>
<p class="soft">${files.map((file) => file.name).join(', ')} and summary.json, which holds their checksums.</p></section>`;
}

/** The section with the audit trail. */
function audit(entries: readonly AuditEntry[]): Html | null {
  if (entries.length === 0) return null;
  const rows = entries
    .slice(0, AUDIT_SHOWN_MAX)
    .map((entry) => [utcTime(entry.at), entry.who, entry.what, entry.why]);
  return html`<section><h2>Who did what</h2>
${table('Audit', { When: 'id', Who: '', What: '', Why: 'wide' }, rows)}
${entries.length > AUDIT_SHOWN_MAX ? html`<p class="soft">The first ${AUDIT_SHOWN_MAX} of ${grouped(entries.length)}; all are in audit.csv.</p>` : null}
</section>`;
}
