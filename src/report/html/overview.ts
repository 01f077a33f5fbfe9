import { openCount } from '../../core/states.js';
import type { BatchRecord } from '../../ledger/index.js';
import { amountsWords, isMixed, onlyGives, signed, sumWords } from '../../words/amounts.js';
import { allowedWords, counted, duration, grouped, trimmed, utcTime } from '../../words/spelling.js';
import { BATCH_WORDS, STATE_WORDS, STATES_SHOWN, standingWords } from '../../words/states.js';
import type { Summary } from '../summary.js';
import { stateBar } from './charts.js';
import { type Content, type Html, html, table } from './markup.js';

/** Title and result: enough for a person who reads three lines. */
export function headline(record: BatchRecord, summary: Summary): Html {
  const { manifest } = record.batch;
  return html`<header class="top">
<p class="eyebrow"><span>Batch <span class="id">${summary.batch}</span></span><span class="pill" title="${BATCH_WORDS[summary.state]}">${standingWords(summary)}</span><span>${asOf(summary)}</span></p>
<h1>${verdict(summary)}</h1>
<p class="lead soft">From <strong>${manifest.source === '-' ? 'standard input' : manifest.source}</strong> in realm <strong>${manifest.realm}</strong>, started by ${manifest.createdBy} on ${utcTime(manifest.createdAt)}.</p>
</header>`;
}

/** The result of the batch in one sentence. */
function verdict(summary: Summary): string {
  const { counts, rows, state, manifest } = summary;
  const orders = rows - counts.invalid - counts.duplicate;
  if (rows === 0) return 'There was nothing to pay';
  if (state === 'done' && counts.paid === orders && counts.invalid === 0)
    return orders === 0
      ? 'Every row had been paid before'
      : `${orders === 1 ? 'The only order' : `All ${grouped(orders)} orders`} ${onlyGives(manifest.tokens) ? 'paid' : 'carried out'}`;
  const rest = listed([
    [counts.doubt, 'in doubt'],
    [unpaid(counts), 'not paid'],
    [openCount(counts), 'still open'],
    [counts.cancelled, 'cancelled'],
  ]);
  return `${grouped(counts.paid)} of ${counted(rows, 'row')} paid (${amountsWords(paidSums(summary), 'did')} points)${rest === '' ? '' : `; ${rest}`}`;
}

/** The tiles with the main numbers. */
export function tiles(record: BatchRecord, summary: Summary): Html {
  const { counts, tokens, manifest } = summary;
  const failed = unpaid(counts);
  const failedPoints = BigInt(tokens.refused) + BigInt(tokens.exhausted);
  const points = (sum: bigint | string) => sumWords(sum, manifest.tokens).replace('token', 'point');
  const took = summary.durationMs ?? summary.activeMs;
  return html`<dl class="tiles">
${tile('Paid', grouped(counts.paid), `of ${counted(summary.rows, 'row')}`, 'ok')}
${tile('Net of points', signed(summary.net), amountsWords(paidSums(summary), 'did'))}
${tile('Not paid', grouped(failed), failed === 0 ? 'nothing failed' : points(failedPoints), failed === 0 ? '' : 'bad')}
${tile('In doubt', grouped(counts.doubt), counts.doubt === 0 ? 'everything is proven' : points(tokens.doubt), counts.doubt === 0 ? '' : 'bad')}
${tile('Time', took === null ? '–' : duration(took), activeNote(summary))}
${paceTile(record, summary)}
</dl>`;
}

/** The table of rows by state. */
export function states(summary: Summary): Html {
  const present = STATES_SHOWN.filter((state) => summary.counts[state] > 0);
  const rows = present.map((state): Content[] => [
    html`<span class="key b-${state}"></span><strong>${state}</strong>`,
    grouped(summary.counts[state]),
    state === 'invalid' ? '–' : grouped(summary.tokens[state]),
    STATE_WORDS[state],
  ]);
  const { discarded, replaced } = summary.marks;
  const points = isMixed(summary.manifest.tokens) ? 'Points, absolute' : 'Points';
  const marks = listed([
    [discarded, discarded === 1 ? 'order discarded by a person' : 'orders discarded by a person'],
    [replaced, replaced === 1 ? 'order put into another file' : 'orders put into another file'],
  ]);
  return html`<section><h2>What became of the rows</h2>
${stateBar(summary.counts)}
${table('Rows by state', { State: '', Rows: 'n', [points]: 'n', 'In plain words': 'wide' }, rows)}
${marks === '' ? null : html`<p class="soft">Of these: ${marks}.</p>`}
</section>`;
}

/** The sums that were paid, exact, because every row was added up. */
function paidSums({ paid }: Summary) {
  return { credit: paid.credit.tokens, debit: paid.debit.tokens, transfer: paid.transfer.tokens };
}

function unpaid({ refused, exhausted, invalid }: Summary['counts']): number {
  return refused + exhausted + invalid;
}

/** The amounts other than zero, each with its word. */
function listed(amounts: readonly (readonly [number | string, string])[]): string {
  return amounts
    .filter(([amount]) => Number(amount) > 0)
    .map(([amount, word]) => `${grouped(amount)} ${word}`)
    .join(', ');
}

function tile(name: string, value: string, note: string, css = ''): Html {
  return html`<div class="tile ${css}"><dt>${name}</dt><dd class="big">${value}</dd><dd class="note">${note}</dd></div>`;
}

function asOf({ finishedAt, asOf: at }: Summary): string {
  return `${finishedAt === null ? 'as of' : 'ended'} ${utcTime(Date.parse(finishedAt ?? at))}`;
}

function activeNote({ durationMs, activeMs }: Summary): string {
  if (activeMs === null) return 'nothing was sent';
  return durationMs === null ? 'at work so far' : `${duration(activeMs)} of it sending`;
}

/** The tile about the pace. A run that is too short for a rate shows its requests and their time instead. */
function paceTile({ batch: { rate } }: BatchRecord, { pace, requests, activeMs }: Summary): Html {
  const allowed = rate === null ? 'no limit was set' : allowedWords(rate);
  if (pace.usedPerMinute !== null) {
    const share = pace.share === null ? '' : `${Math.round(pace.share * 100)} % of `;
    return tile('Pace', `${trimmed(pace.usedPerMinute)}/min`, `${share}${allowed}`);
  }
  const within = activeMs === null ? '' : `in ${duration(activeMs)}, `;
  return tile('Requests', grouped(requests), `${within}${rate === null ? allowed : `${allowed} allowed`}`);
}
