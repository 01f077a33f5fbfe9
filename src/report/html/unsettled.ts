import type { RowView } from '../../ledger/views.js';
import { clockTime, counted, grouped } from '../spelling.js';
import type { Summary } from '../summary.js';
import { type Html, html, prose } from './markup.js';
import { table } from './table.js';

/** Why the batch stands still, and how it goes on. */
export function standstill({ reason, state }: Summary): Html | null {
  if (reason === null) return null;
  return html`<section class="stop"><h2>Why it is ${state}</h2>
<p>${prose(reason.message)}</p>
<p><strong>Next:</strong> ${prose(reason.next)} <span class="soft"><code>${reason.code}</code></span></p></section>`;
}

/**
 * Doubts come before everything else: they are the only orders that the program cannot finish, and whoever
 * pays them again by hand without looking may pay twice.
 */
export function doubts(summary: Summary, shown: readonly RowView[]): Html | null {
  const count = summary.counts.doubt;
  if (count === 0) return null;
  const first = shown[0];
  const rows = shown.map((row) => [
    row.order,
    row.line,
    row.op,
    row.recipient === null ? row.member : [row.member, ' → ', row.recipient],
    row.tokens === null ? null : grouped(row.tokens),
    row.sentAt === null ? null : clockTime(row.sentAt),
    [
      row.error,
      row.errorCode === null ? null : html` <span class="soft"><code>${row.errorCode}</code></span>`,
    ],
  ]);
  return html`<section class="alert"><h2>${counted(count, 'order')} in doubt: please decide</h2>
<p>${count === 1 ? 'It was' : 'They were'} sent, but no answer proves whether ${grouped(BigInt(summary.tokens.doubt))} points were moved. Nothing will be sent again until somebody decides. <strong>Do not pay by hand before looking.</strong></p>
<ol><li>Look at the evidence, then at the member’s history in the realm at the minute given there:
<pre tabindex="0">almoner doubt show ${first?.order ?? 'ORDER'}</pre></li>
<li>Say what you found. <code>--unpaid</code> sends nothing by itself; <code>almoner dead retry</code> does.
<pre tabindex="0">almoner doubt resolve ${first?.order ?? 'ORDER'} --paid --reason "seen in the history"
almoner doubt resolve ${first?.order ?? 'ORDER'} --unpaid --reason "not in the history"</pre></li>
<li>Or, for many at once, fill the column <code>decision</code> of doubt.csv with <code>paid</code> or <code>unpaid</code>:
<pre tabindex="0">almoner doubt resolve --file doubt.csv --reason "checked by hand"</pre></li></ol>
${table(
  'Orders in doubt',
  [
    { head: 'Order', kind: 'id' },
    { head: 'Line', kind: 'number' },
    { head: 'What' },
    { head: 'Member', kind: 'id' },
    { head: 'Points', kind: 'number' },
    { head: 'Sent', kind: 'number' },
    { head: 'What happened', kind: 'wide' },
  ],
  rows,
)}
${count > shown.length ? html`<p class="soft">The first ${shown.length} of ${grouped(count)}; all are in doubt.csv.</p>` : null}
</section>`;
}
