import { currencyOption, inCurrency } from '../../core/currencies.js';
import { ORDER_STATES, type OrderState } from '../../core/states.js';
import type { Waiting } from '../../core/waiting.js';
import type { BatchStatus } from '../../operations/views/batch.js';
import { amountsWords, sumWords } from '../../words/amounts.js';
import { counted, grouped, roughly } from '../../words/spelling.js';
import { standingWords } from '../../words/states.js';
import type { Colours } from './colours.js';

/** A batch for a person: state, counts, sums, everything that waits, and the report folder. */
export function batchLines(status: BatchStatus, colours: Colours): string[] {
  const counts = ORDER_STATES.filter((state) => (status.counts[state] ?? 0) > 0).map((state) => {
    const paint = paintOf(state, colours);
    return `  ${paint(state.padEnd(10))}${grouped(status.counts[state] ?? 0).padStart(10)}  ${sumCell(status, state)}`;
  });
  const limited = status.rateLimited > 0 ? `, ${grouped(status.rateLimited)} × 429` : '';
  return [
    ...(status.rehearsal ? [colours.yellow('REHEARSAL: no real points moved.')] : []),
    `Batch ${colours.bold(status.batch)} (${status.source}) on ${status.realm}${inCurrency(status.currency)}: ${colours.bold(standingWords(status))}`,
    ...(status.reason === null ? [] : [`  ${status.reason.message} [${status.reason.code}]`]),
    ...(status.notes ?? []).map((note) => `  ${colours.yellow(note)}`),
    `  ${amountsWords(status.amounts)} tokens in all`,
    ...counts,
    // An existing batch counts the requests of all commands, not only of this one.
    `  ${counted(status.requests, 'request')}${status.existing ? ' since the batch began' : ''}, ${counted(status.retries, 'retry', 'retries')}${limited}`,
    ...(status.etaSeconds !== null && status.etaSeconds > 0
      ? [`  ${roughly(status.etaSeconds * 1000)} to go`]
      : []),
    ...(status.deadGone === null ? [] : [`  ${goneWords(status.deadGone)}`]),
    ...status.waiting.flatMap((one) => waitingLines(one, status, colours)),
    ...(status.report === null ? [] : [`Report: ${status.report}`]),
  ];
}

/** The sum in a column of its own, then its unit. */
function sumCell({ tokens, amounts }: BatchStatus, state: OrderState): string {
  const [sum = '', ...unit] = sumWords(tokens[state] ?? '0', amounts, state === 'paid').split(' ');
  return `${sum.padStart(16)} ${unit.join(' ')}`;
}

/** Says where a batch's dead letters went: into another file, or discarded. */
function goneWords({ discarded, replaced, into }: NonNullable<BatchStatus['deadGone']>): string {
  const parts = [
    ...(replaced > 0 ? [`${grouped(replaced)} put into another file (batch ${into.join(', ')})`] : []),
    ...(discarded > 0 ? [`${grouped(discarded)} discarded`] : []),
  ];
  return `none of its dead letters is left to be mended or retried: ${parts.join(', ')}`;
}

/** Orders that wait: why, since when, and what ends it. A message that repeats the batch's reason is left out. */
function waitingLines(waiting: Waiting, { reason, amounts }: BatchStatus, colours: Colours): string[] {
  const { why, orders, tokens, since, until, message, next } = waiting;
  const said = reason?.message ?? '';
  const end = until === null ? '' : `, until ${until}`;
  const known = said !== '' && message.startsWith(said);
  return [
    `  ${colours.yellow('waiting')}: ${counted(orders, 'order')}, ${sumWords(tokens, amounts)} (${why}), since ${since}${end}`,
    ...(known ? [] : [`    ${message}`]),
    ...(next === null ? [] : [`    ${next}`]),
  ];
}

/** The next step for a person, given the batch's state. */
export function batchNext(status: BatchStatus, rerun: string | null = null): string | null {
  const { counts, batch } = status;
  if (status.state === 'halted') return status.reason?.next ?? `almoner resume ${batch}`;
  if (status.state === 'paused')
    return rerun === null
      ? `almoner resume ${batch}`
      : `${rerun}, or hand it to the workers: almoner resume ${batch}`;
  if (status.state === 'running' || status.state === 'planned')
    return status.waiting.find(({ next }) => next !== null)?.next ?? `almoner status ${batch} --watch`;
  if ((counts.cancelled ?? 0) > 0) return unsentNext(status, status.report);
  if ((counts.doubt ?? 0) > 0) return `almoner doubt list --batch ${batch}`;
  if (status.archived && (counts.refused ?? 0) + (counts.exhausted ?? 0) + (counts.invalid ?? 0) > 0)
    return archivedNext('failed.csv');
  if (status.deadGone !== null && status.deadGone.into.length > 0)
    return status.deadGone.into.map((other) => `almoner status ${other}`).join('; ');
  if (status.deadGone === null && (counts.refused ?? 0) + (counts.exhausted ?? 0) > 0)
    return `almoner dead list --batch ${batch}; mend failed.csv and run it, or almoner dead retry --batch ${batch}`;
  if ((counts.invalid ?? 0) > 0) return 'mend the rows of failed.csv and run that file';
  return status.report === null ? `almoner report ${batch}` : `open ${status.report}/report.html`;
}

/**
 * The next step for the unsent rest of a cancelled batch. It never suggests --again, which would pay the paid orders
 * once more. It does not suggest the whole file with --new-rows-only either: almoner refuses that for rows that
 * replace orders, for a labelled batch and for a rule's batch.
 */
export function unsentNext(
  { batch, archived, currency }: Pick<BatchStatus, 'batch' | 'archived' | 'currency'>,
  report: string | null,
): string {
  if (archived) return archivedNext('unprocessed.csv');
  const folder = report ?? `the report that \`almoner report ${batch}\` writes`;
  return `to pay what was never sent: almoner run unprocessed.csv${currencyOption(currency)} of ${folder}, with --new-rows-only where another file pays some of its rows by now`;
}

/**
 * The next step for an archived batch. almoner marks no order of an archive as replaced, so that the rows need
 * references of their own.
 */
function archivedNext(part: string): string {
  return `the batch is archived: give the rows of ${part} a reference each, take the almoner_order column out, and run that file`;
}

function paintOf(state: string, colours: Colours): (text: string) => string {
  if (state === 'paid') return colours.green;
  if (state === 'doubt' || state === 'unknown' || state === 'duplicate') return colours.yellow;
  if (state === 'refused' || state === 'exhausted' || state === 'invalid') return colours.red;
  return (text) => text;
}

/** Says what happens to open requests and unknown orders after a person paused or cancelled the batch. */
export function underWayLines({ counts }: BatchStatus): string[] {
  const { sending = 0, unknown = 0 } = counts;
  return [
    sending > 0
      ? `${counted(sending, 'order is', 'orders are')} being sent and will finish; nothing new is sent.`
      : 'Nothing is being sent.',
    ...(unknown > 0
      ? [
          `${counted(unknown, 'order is unknown: whether it was', 'orders are unknown: whether they were')} applied is still to be found out.`,
        ]
      : []),
  ];
}
