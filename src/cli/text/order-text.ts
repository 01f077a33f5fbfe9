import { oneLine } from '../../core/one-line.js';
import { NO_SUMS, type OpSums, plus, sumOf } from '../../core/op-sums.js';
import type { OrderEvent } from '../../ledger/index.js';
import type { HeldLetters } from '../../operations/orders/dead-letters.js';
import type { OrderRow } from '../../operations/views/order.js';
import { amountsWords } from '../../words/amounts.js';
import { counted, duration, grouped, utcTime } from '../../words/spelling.js';
import type { Colours } from './colours.js';

/** At most this many groups and orders are printed. */
const SHOWN_MAX = 50;

/**
 * Collects dead letters or doubts for a person. It groups them by message first, since thousands usually have three
 * causes.
 */
export class LetterSummary {
  readonly shown: OrderRow[] = [];
  readonly batches = new Set<string>();
  count = 0;
  private tokens = NO_SUMS;
  private readonly groups = new Map<
    string,
    { letter: OrderRow; message: string; count: number; tokens: OpSums }
  >();

  add(letter: OrderRow): void {
    this.count += 1;
    const sum = sumOf(letter.op, letter.tokens);
    this.tokens = plus(this.tokens, sum);
    this.batches.add(letter.batch);
    if (this.shown.length < SHOWN_MAX) this.shown.push(letter);
    const message = withoutIds(letter);
    const key = `${letter.state} ${letter.class} ${message}`;
    const group = this.groups.get(key) ?? { letter, message, count: 0, tokens: NO_SUMS };
    group.count += 1;
    group.tokens = plus(group.tokens, sum);
    this.groups.set(key, group);
  }

  lines(what: string): string[] {
    const groups = [...this.groups.values()].sort((a, b) => b.count - a.count).slice(0, SHOWN_MAX);
    const more = this.count - this.shown.length;
    return [
      `${counted(this.count, what)}: ${amountsWords(this.tokens)} tokens`,
      ...groups.map(
        ({ letter, message, count, tokens }) =>
          `  ${grouped(count).padStart(8)}  ${letter.state} ${letter.class ?? 'without a class'}: ${message} (${amountsWords(tokens)} tokens)`,
      ),
      '',
      ...this.shown.map(letterLine),
      ...(more > 0 ? [`… and ${grouped(more)} more; --json lists all of them`] : []),
    ];
  }
}

/** Dead letters that an unfinished import holds. No process pays them before the import is finished or cancelled. */
export function heldLine({ batch, orders }: HeldLetters): string {
  return `${counted(orders, 'dead letter')} put into batch ${batch}, an import that has not finished, so that nothing pays them: import its file again, or give it up with \`almoner cancel ${batch}\``;
}

/** Removes ids from a message. Otherwise every order would form a group of its own. */
function withoutIds({ message, member, recipient }: OrderRow): string {
  const ids = [member, recipient].filter((id) => id !== null);
  return ids.reduce((text, id) => text.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), 'N'), message ?? '');
}

/** One order on one line. */
export function letterLine(letter: OrderRow): string {
  const marks = letter.marks.length === 0 ? '' : ` (${letter.marks.join(', ')})`;
  const status = letter.status === null ? '' : ` ${letter.status}`;
  return `  ${letter.order}  line ${letter.line}  ${orderWords(letter)}  ${letter.state}${marks}${status}  ${letter.class ?? ''}`.trimEnd();
}

/** The heading of one order. */
export function headLines(letter: OrderRow, colours: Colours): string[] {
  return [
    ...(letter.rehearsal ? [colours.yellow('REHEARSAL: no real points moved.')] : []),
    `Order ${colours.bold(letter.order)} (line ${letter.line}) on ${letter.realm}: ${orderWords(letter)}`,
  ];
}

function orderWords(order: OrderRow): string {
  const to = order.recipient === null ? '' : ` to ${order.recipient}`;
  return `${order.op ?? 'no order'} ${grouped(order.tokens ?? 0)} ${order.member ?? ''}${to}`;
}

/** The orders that were refused, each with its reason. */
export function refusalLines(refused: readonly { readonly order: string; readonly why: string }[]): string[] {
  const more = refused.length - SHOWN_MAX;
  return [
    ...refused.slice(0, SHOWN_MAX).map(({ order, why }) => `  ${order}: ${why}`),
    ...(more > 0 ? [`  … and ${grouped(more)} more; --json lists all of them`] : []),
  ];
}

/** Reports the progress of a long piece of work every two seconds. Short work prints no progress. */
export function slowProgress(
  note: (text: string) => void,
  words: (done: number, of: number) => string,
): (done: number, of: number) => void {
  let nextAt = performance.now() + FIRST_WORD_MS;
  return (done, of) => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + FIRST_WORD_MS;
    note(words(done, of));
  };
}

const FIRST_WORD_MS = 2_000;

/** One event of an order's history, for a person who looks for a cause. */
export function detailLines(detail: OrderEvent): string[] {
  const at = utcTime(detail.at);
  switch (detail.event) {
    case 'attempt': {
      const status = detail.status === null ? 'no status' : `status ${detail.status}`;
      return [
        `  ${at}  attempt: ${detail.message}${detail.code === null ? '' : ` [${detail.code}]`}`,
        `      ${detail.kind}, ${status}, phase ${detail.phase}, ${duration(detail.latencyMs)}, key ${detail.key}, request id ${detail.requestId ?? 'none'}`,
        ...(detail.body === '' ? [] : [`      body: ${oneLine(detail.body)}`]),
      ];
    }
    case 'orphaned':
      return [`  ${at}  ${detail.message} [${detail.code}]`, `      key ${detail.key}`];
    case 'balances': {
      const { member, recipient } = detail.balances;
      const when = { before: 'before sending', doubt: 'when the doubt arose', check: 'while resolving' };
      const other = recipient === null ? '' : `, recipient ${recipient}`;
      return [`  ${at}  balance ${when[detail.when]}: member ${member ?? 'not readable'}${other}`];
    }
    case 'concluded':
      return [`  ${at}  ${detail.state}, by ${detail.by}: ${detail.message}`];
    case 'retried':
      return [`  ${at}  put back to work by ${detail.who}${detail.why === null ? '' : `: ${detail.why}`}`];
    case 'discarded':
      return [`  ${at}  discarded by ${detail.who}: ${detail.why}`];
  }
}
