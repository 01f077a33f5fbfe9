import type { OrderState } from '../core/states.js';
import type { Manifest, RowView } from '../ledger/index.js';
import { isoTime } from '../words/spelling.js';
import { type Cell, csvLine } from './csv-line.js';

/**
 * The five files that together are the input, row for row: each state has exactly one place. A row that is
 * being sent or resolved when a report is made half-way stands with the doubts, because it must not be run
 * again from a file either.
 */
export const REPORT_FILES = ['paid', 'failed', 'doubt', 'unprocessed', 'duplicate'] as const;
export type ReportFile = (typeof REPORT_FILES)[number];

const PART_OF: Readonly<Record<OrderState, ReportFile>> = {
  paid: 'paid',
  refused: 'failed',
  exhausted: 'failed',
  invalid: 'failed',
  doubt: 'doubt',
  sending: 'doubt',
  unknown: 'doubt',
  planned: 'unprocessed',
  cancelled: 'unprocessed',
  duplicate: 'duplicate',
};

export function fileOf(state: OrderState): ReportFile {
  return PART_OF[state];
}

const ADDED_COLUMNS = ['almoner_order', 'almoner_state', 'almoner_error_code', 'almoner_error'] as const;
/** Left empty for a person to fill with `paid` or `unpaid`, and read by `doubt resolve --file`. */
const DECISION_COLUMN = 'decision';

export function fileHeader(part: ReportFile, manifest: Manifest): string {
  const decision = part === 'doubt' ? [DECISION_COLUMN] : [];
  return csvLine([...manifest.header, ...ADDED_COLUMNS, ...decision], manifest.delimiter);
}

export function fileLine(part: ReportFile, row: RowView, manifest: Manifest): string {
  const { own, surplus } = fitCells(row, manifest);
  const added: Cell[] = [row.order, row.state, row.errorCode, row.error];
  if (part === 'doubt') added.push('');
  return csvLine([...own, ...added, ...surplus], manifest.delimiter);
}

/**
 * An invalid row may have fewer or more cells than the header. Missing ones become empty; surplus ones go
 * behind our own columns, so that no cell is lost, every column stays under its name, and the row is still
 * too long when it is read again.
 */
export function fitCells(row: RowView, manifest: Manifest): { own: Cell[]; surplus: readonly string[] } {
  const columns = manifest.header.length;
  const own: Cell[] = row.cells.slice(0, columns);
  while (own.length < columns) own.push('');
  return { own, surplus: row.cells.slice(columns) };
}

/** results.csv: one line per input row, in input order. The columns' names and order are a promise. */
const RESULT_COLUMNS = [
  'line',
  'order',
  'op',
  'member',
  'recipient',
  'tokens',
  'state',
  'attempts',
  'http_status',
  'balance_after',
  'error_code',
  'error',
  'evidence',
  'sent_at',
  'settled_at',
] as const;

export function resultsHeader(manifest: Manifest): string {
  return csvLine([...RESULT_COLUMNS, ...manifest.header.map((name) => `in_${name}`)], manifest.delimiter);
}

export function resultsLine(row: RowView, manifest: Manifest): string {
  const { own, surplus } = fitCells(row, manifest);
  return csvLine(
    [
      row.line,
      row.order,
      row.op,
      row.member,
      row.recipient,
      row.tokens,
      row.state,
      row.attempts,
      row.httpStatus,
      row.balanceAfter,
      row.errorCode,
      row.error,
      row.evidence,
      isoTime(row.sentAt),
      isoTime(row.settledAt),
      ...own,
      ...surplus,
    ],
    manifest.delimiter,
  );
}
