import type { OrderState } from '../../core/states.js';
import type { BatchRecord } from '../../ledger/index.js';
import { clockTime, counted, duration, grouped, rateWords, trimmed } from '../spelling.js';
import type { Summary } from '../summary.js';
import { type Content, type Html, html, table } from './markup.js';
import { BATCH_WORDS, STATE_WORDS, STATES_SHOWN } from './state-words.js';

/** Title and verdict: what somebody who reads three lines must know. */
export function headline(record: BatchRecord, summary: Summary): Html {
  const { manifest } = record.batch;
  return html`<header class="top">
<p class="eyebrow"><span>Batch <span class="id">${summary.batch}</span></span><span class="pill">${BATCH_WORDS[summary.state]}</span><span>${asOf(summary)}</span></p>
<h1>${verdict(summary)}</h1>
<p class="lead soft">From <strong>${manifest.source === '-' ? 'standard input' : manifest.source}</strong> in realm <strong>${manifest.realm}</strong>, started by ${manifest.createdBy} on ${clockTime(manifest.createdAt)}.</p>
</header>`;
}

export function verdict({ counts, rows, tokens, state }: Summary): string {
  const finished = state === 'done';
  const orders = rows - counts.invalid - counts.duplicate;
  if (rows === 0) return 'There was nothing to pay';
  if (finished && counts.paid === orders && counts.invalid === 0)
    return orders === 0 ? 'Every row had been paid before' : `All ${counted(orders, 'order')} paid`;
  const open = counts.planned + counts.sending + counts.unknown;
  const failed = counts.refused + counts.exhausted + counts.invalid;
  const rest = [
    counts.doubt > 0 ? `${grouped(counts.doubt)} in doubt` : '',
    failed > 0 ? `${grouped(failed)} not paid` : '',
    open > 0 ? `${grouped(open)} still open` : '',
    counts.cancelled > 0 ? `${grouped(counts.cancelled)} cancelled` : '',
  ].filter((part) => part !== '');
  const points = `${grouped(BigInt(tokens.paid))} points`;
  return `${grouped(counts.paid)} of ${counted(rows, 'row')} paid (${points})${rest.length > 0 ? `; ${rest.join(', ')}` : ''}`;
}

export function tiles(record: BatchRecord, summary: Summary): Html {
  const { counts, tokens, pace, paid } = summary;
  const failed = counts.refused + counts.exhausted + counts.invalid;
  const failedPoints = BigInt(tokens.refused) + BigInt(tokens.exhausted);
  const moved = [
    paid.credit.orders > 0 ? `${grouped(BigInt(paid.credit.tokens))} given` : '',
    paid.debit.orders > 0 ? `${grouped(BigInt(paid.debit.tokens))} taken` : '',
    paid.transfer.orders > 0 ? `${grouped(BigInt(paid.transfer.tokens))} transferred` : '',
  ].filter((part) => part !== '');
  const took = summary.durationMs ?? summary.activeMs;
  return html`<dl class="tiles">
${tile('Paid', grouped(counts.paid), `of ${counted(summary.rows, 'row')}`, 'ok')}
${tile('Points moved', grouped(BigInt(tokens.paid)), moved.join(', '))}
${tile('Not paid', grouped(failed), failed === 0 ? 'nothing failed' : `${grouped(failedPoints)} points`, failed === 0 ? '' : 'bad')}
${tile('In doubt', grouped(counts.doubt), counts.doubt === 0 ? 'everything is proven' : `${grouped(BigInt(tokens.doubt))} points`, counts.doubt === 0 ? '' : 'bad')}
${tile('Time', took === null ? '–' : duration(took), activeNote(summary))}
${tile('Pace', pace.usedPerMinute === null ? '–' : `${trimmed(pace.usedPerMinute)}/min`, paceNote(record, summary))}
</dl>`;
}

export function states(summary: Summary): Html {
  const present = STATES_SHOWN.filter((state) => summary.counts[state] > 0);
  const rows = present.map((state): Content[] => [
    html`<span class="key b-${state}"></span><strong>${state}</strong>`,
    grouped(summary.counts[state]),
    state === 'invalid' ? '–' : grouped(BigInt(summary.tokens[state])),
    STATE_WORDS[state],
  ]);
  const marks = [
    summary.marks.discarded > 0 ? `${counted(summary.marks.discarded, 'order')} discarded by a person` : '',
    summary.marks.replaced > 0 ? `${counted(summary.marks.replaced, 'order')} put into another file` : '',
  ].filter((part) => part !== '');
  return html`<section><h2>What became of the rows</h2>
${stateBar(summary.counts)}
${table(
  'Rows by state',
  [
    { head: 'State' },
    { head: 'Rows', kind: 'number' },
    { head: 'Points', kind: 'number' },
    { head: 'In plain words', kind: 'wide' },
  ],
  rows,
)}
${marks.length > 0 ? html`<p class="soft">Of these: ${marks.join(', ')}.</p>` : null}
</section>`;
}

function tile(name: string, value: string, note: string, css = ''): Html {
  return html`<div class="tile ${css}"><dt>${name}</dt><dd class="big">${value}</dd><dd class="note">${note}</dd></div>`;
}

function asOf(summary: Summary): string {
  const at = summary.finishedAt ?? summary.asOf;
  return `${summary.finishedAt === null ? 'as of' : 'ended'} ${clockTime(Date.parse(at))}`;
}

function activeNote({ durationMs, activeMs }: Summary): string {
  if (activeMs === null) return 'nothing was sent';
  return durationMs === null ? 'at work so far' : `${duration(activeMs)} of it sending`;
}

function paceNote(record: BatchRecord, { pace }: Summary): string {
  if (record.batch.rate === null) return 'no limit was set';
  const share = pace.share === null ? '' : `${Math.round(pace.share * 100)} % of `;
  return `${share}${rateWords(record.batch.rate)}`;
}

/** Out of a thousand: three doubts among 30,000 rows are the news, and must not be thinner than a hair. */
const SLIVER = 8;

/** One bar of all rows by state. Tiny shares are drawn a little too wide; the table beside it is exact. */
function stateBar(counts: Readonly<Record<OrderState, number>>): Html | null {
  const present = STATES_SHOWN.filter((state) => counts[state] > 0);
  const rows = present.reduce((sum, state) => sum + counts[state], 0);
  if (rows === 0) return null;
  const raw = present.map((state) => Math.max(SLIVER, (counts[state] * 1_000) / rows));
  const width = raw.reduce((sum, part) => sum + part, 0);
  const gap = present.length > 1 ? 2 : 0;
  let x = 0;
  const parts = present.map((state, at) => {
    const part = ((raw[at] ?? 0) * 1_000) / width;
    const rect = html`<rect class="f-${state}" x="${x.toFixed(2)}" y="0" width="${Math.max(part - gap, 1).toFixed(2)}" height="10"><title>${state}: ${counted(counts[state], 'row')}</title></rect>`;
    x += part;
    return rect;
  });
  const label = present.map((state) => `${state} ${counts[state]}`).join(', ');
  return html`<svg class="stack" role="img" aria-label="Rows by state: ${label}" viewBox="0 0 1000 10" preserveAspectRatio="none">${parts}</svg>`;
}
