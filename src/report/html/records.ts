import type { AuditEntry, Manifest } from '../../ledger/views.js';
import { clockTime, counted, grouped } from '../spelling.js';
import type { Summary } from '../summary.js';
import { type Content, type Html, html } from './markup.js';
import { table } from './table.js';

const AUDIT_SHOWN_MAX = 100;

/** The two checks. A report that fails one is never written, so they always read as passed. */
export function checks({ manifest, rows }: Summary): Html {
  const total =
    BigInt(manifest.tokens.credit) + BigInt(manifest.tokens.debit) + BigInt(manifest.tokens.transfer);
  return html`<section><h2>Checks</h2>
<p class="soft">Every row was added up again, independently of the running counters.</p>
<ul class="checks"><li><b>✓ Counts tie.</b> ${counted(rows, 'row')} of the input, each in exactly one state.</li>
<li><b>✓ Sums tie.</b> ${grouped(total)} points over all states, as planned.</li></ul></section>`;
}

export function caveats({ caveats: lines }: Summary): Html | null {
  if (lines.length === 0) return null;
  return html`<section class="alert"><h2>To know beside the numbers</h2>
<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul></section>`;
}

const CERTAINTY_WORDS: Readonly<Record<Manifest['certainty'], string>> = {
  idempotent: 'idempotent: a lost answer is asked for again with the same key',
  readback: 'readback: a lost answer is looked up in the member’s balance',
  manual: 'manual: a lost answer becomes a doubt, and a person decides',
};

export function origin({ manifest }: Summary, files: Summary['files']): Html {
  const planned = (['credit', 'debit', 'transfer'] as const)
    .filter((op) => manifest.orders[op] > 0)
    .map((op) => `${grouped(manifest.orders[op])} ${op} of ${grouped(BigInt(manifest.tokens[op]))}`);
  const lines: [string, Content][] = [
    ['Realm', `${manifest.realm} (${manifest.realmId}) at ${manifest.baseUrl}`],
    ['Currency', manifest.currency ?? 'the realm’s default'],
    ['Source', manifest.source === '-' ? 'standard input' : manifest.source],
    ['Made by', `${manifest.createdBy}, ${clockTime(Date.parse(manifest.createdAt))}, with ${manifest.mode}`],
    ['Planned', planned.length === 0 ? 'no orders' : `${planned.join(', ')} points`],
    ['Members', grouped(manifest.members)],
    ['Certainty', CERTAINTY_WORDS[manifest.certainty]],
    ['SHA-256 of the orders', html`<code>${manifest.sha256}</code>`],
  ];
  if (manifest.again !== null) lines.push(['Paid again on purpose', manifest.again]);
  if (manifest.inOrder) lines.push(['Order', 'strictly one after the other, as in the file']);
  return html`<section><h2>Where it came from</h2>
<dl class="facts">${lines.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
<h3>Files beside this page</h3>
<p class="soft">${files.map((file) => file.name).join(', ')} and summary.json, which holds their checksums.</p></section>`;
}

export function audit(entries: readonly AuditEntry[]): Html | null {
  if (entries.length === 0) return null;
  const rows = entries
    .slice(0, AUDIT_SHOWN_MAX)
    .map((entry) => [clockTime(entry.at), entry.who, entry.what, entry.why]);
  return html`<section><h2>Who did what</h2>
${table(
  'Audit',
  [{ head: 'When', kind: 'id' }, { head: 'Who' }, { head: 'What' }, { head: 'Why', kind: 'wide' }],
  rows,
)}
${entries.length > AUDIT_SHOWN_MAX ? html`<p class="soft">The first ${AUDIT_SHOWN_MAX} of ${grouped(entries.length)}; all are in audit.csv.</p>` : null}
</section>`;
}
