import { absoluteOf } from '../../core/op-sums.js';
import type { Statement } from '../../operations/totals/statement.js';
import { type LabelSum, paidOf, type RealmStats, type Summary } from '../../operations/totals/stats.js';
import { OTHERS } from '../../operations/totals/stats-csv.js';
import { amountsWords } from '../../words/amounts.js';
import { counted, duration, grouped, percent } from '../../words/spelling.js';

/** The widest bar of the history, in characters. */
const BAR_WIDTH = 24;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const TOP = 5;

/** The history of a realm: a line and a bar per period, the days before, and the top rules and reasons. */
export function statsLines(realm: RealmStats, bold: (text: string) => string): string[] {
  const { whole, before, periods } = realm;
  const paid = periods.map((one) => orders(one, 'paid'));
  const most = Math.max(1, ...paid);
  const rows = periods.map((one, at) => [
    one.period,
    grouped(paid[at] ?? 0),
    bar((paid[at] ?? 0) / most),
    grouped(orders(one, 'refused', 'exhausted')),
    grouped(orders(one, 'unknown', 'doubt')),
    ...figures(one),
    tokensWords(one),
  ]);
  const heads = ['period', 'paid', '', 'unpaid', 'open', ...FIGURES, 'tokens paid'];
  return [
    bold(
      `Realm ${realm.realm}${realm.rehearsal ? ' (rehearsal)' : ''}, ${whole.from} to ${whole.to}, days of UTC`,
    ),
    ...aligned([heads, ...rows]),
    '',
    ...aligned([
      ['', 'paid', 'unpaid', 'open', ...FIGURES, 'tokens paid'],
      ...[whole, before].map((one) => [
        `${one.from} to ${one.to}`,
        grouped(orders(one, 'paid')),
        grouped(orders(one, 'refused', 'exhausted')),
        grouped(orders(one, 'unknown', 'doubt')),
        ...figures(one),
        tokensWords(one),
      ]),
    ]),
    ...topLines('Top rules', whole.rules, (label) => label),
    ...topLines('Top reasons', whole.reasons, (label) => (label === '' ? '(none)' : label)),
  ];
}

const FIGURES = ['success', 'requests', '429s', 'p50', 'p95', 'of rate'];

function figures(one: Summary): string[] {
  return [
    share(one.success),
    grouped(one.requests),
    grouped(one.rateLimited),
    one.p50Ms === null ? '' : duration(one.p50Ms),
    one.p95Ms === null ? '' : duration(one.p95Ms),
    share(one.share),
  ];
}

function orders({ outcomes }: Summary, ...wanted: readonly string[]): number {
  return outcomes.reduce((sum, one) => (wanted.includes(one.outcome) ? sum + one.orders : sum), 0);
}

function tokensWords({ outcomes }: Summary): string {
  return [...paidOf(outcomes)]
    .filter(([, sums]) => absoluteOf(sums) > 0n)
    .map(([currency, sums]) => `${amountsWords(sums, 'did')}${currency === null ? '' : ` ${currency}`}`)
    .join('; ');
}

function share(value: number | null): string {
  return value === null ? '' : percent(value, 1);
}

function bar(part: number): string {
  const eighths = Math.round(Math.max(0, part) * BAR_WIDTH * 8);
  return '█'.repeat(eighths >> 3) + (EIGHTHS[eighths & 7] ?? '');
}

/** The rules or reasons that paid most. */
function topLines(title: string, labels: readonly LabelSum[], nameOf: (label: string) => string): string[] {
  if (labels.length === 0) return [];
  const rows = labels
    .slice(0, TOP)
    .map(({ label, currency, paid, unpaid, tokens }) => [
      label === null ? OTHERS : nameOf(label),
      `${grouped(paid)} paid`,
      `${grouped(unpaid)} unpaid`,
      `${amountsWords(tokens, 'did')}${currency === null ? '' : ` ${currency}`}`,
    ]);
  const more = labels.length - TOP;
  return [
    '',
    title,
    ...aligned(rows),
    ...(more > 0 ? [`  and ${counted(more, 'other')}: --json or --csv`] : []),
  ];
}

/** A month's statement as a table. */
export function statementLines({ month, at, final, sending, lines }: Statement): string[] {
  const heads = ['realm', 'currency', 'paid', 'given', 'taken', 'moved', 'net', 'open', 'address'];
  const rows = lines.map((line) => [
    line.rehearsal ? `${line.realm} (rehearsal)` : line.realm,
    line.currency ?? '',
    grouped(line.paid),
    ...[line.tokens.credit, line.tokens.debit, line.tokens.transfer, line.net].map((sum) => grouped(sum)),
    grouped(line.open),
    line.baseUrl,
  ]);
  return [
    `Statement of ${month} (UTC), as of ${at}: ${final ? 'final' : 'not final: the month is not over, or orders of it are open'}`,
    ...(rows.length === 0 ? ['  Nothing was sent in this month.'] : aligned([heads, ...rows])),
    ...(sending === 0 ? [] : [`  ${counted(sending, 'order is', 'orders are')} being sent: in no line yet.`]),
  ];
}

/** Aligns the cells in columns: numbers to the right, bars and names to the left. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    `  ${row.map((cell, at) => (isNumber(rows, at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join('  ')}`.trimEnd(),
  );
}

function isNumber(rows: readonly (readonly string[])[], at: number): boolean {
  const cells = rows.slice(1).map((row) => row[at] ?? '');
  return at > 0 && cells.some((cell) => cell !== '') && cells.every((cell) => /^$|^[−+]?[0-9]/.test(cell));
}
