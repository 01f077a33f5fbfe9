import { defuse } from '../core/formula-cells.js';
import type { OrderState } from '../core/states.js';
import { OWN_COLUMNS, TRACE_COLUMNS } from '../csv/columns.js';
import { type AuditEntry, type Manifest, type RowView, reading } from '../ledger/index.js';
import { isoTime } from '../words/spelling.js';

type Delimiter = Manifest['delimiter'];
type Cell = string | number | null;

/**
 * All three delimiters count, not only the file's own. A reader that guesses the delimiter from a line then never
 * meets another candidate outside quotes. Blanks at the ends are quoted too, because some programs trim them.
 */
const NEEDS_QUOTES = /[",;\t\r\n]|^ | $/;

/**
 * Writes one record, quoted as in RFC 4180 and ended by LF. Every program reads that, and Unix line tools see no
 * stray CR in the last column.
 *
 * Every text cell is protected against formulas, also the input's own. "Unchanged" therefore means that the file
 * reads back as the same cells. Raw bytes would let an input run a formula in the operator's spreadsheet.
 */
export function csvLine(cells: readonly Cell[], delimiter: Delimiter): string {
  let line = '';
  for (let at = 0; at < cells.length; at += 1) {
    if (at > 0) line += delimiter;
    const cell = cells[at];
    if (typeof cell === 'string') line += csvCell(cell);
    else if (typeof cell === 'number') line += String(cell);
  }
  return `${line}\n`;
}

/** Protects a text cell against formulas and quotes it if needed. */
function csvCell(text: string): string {
  const safe = defuse(text);
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * The five files that together are the input, row for row: each state belongs to exactly one. Orders that are still
 * being sent or resolved are listed with the doubts, because they must not be run again from a file either.
 */
export const REPORT_FILES = ['paid', 'failed', 'doubt', 'unprocessed', 'duplicate'] as const;
export type ReportFile = (typeof REPORT_FILES)[number];

export const FILE_OF: Readonly<Record<OrderState, ReportFile>> = {
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

/** An empty column that a person fills with `paid` or `unpaid`. `doubt resolve --file` reads it. */
const DECISION_COLUMN = 'decision';

export function fileHeader(file: ReportFile, manifest: Manifest): string {
  const more = file === 'doubt' ? [...TRACE_COLUMNS, DECISION_COLUMN] : [];
  return csvLine([...manifest.header, ...OWN_COLUMNS, ...more], manifest.delimiter);
}

export function fileLine(file: ReportFile, row: RowView, manifest: Manifest): string {
  const { own, surplus } = fitCells(row, manifest);
  const added: Cell[] = [row.order, row.state, row.errorCode, row.error];
  if (file === 'doubt') added.push(...traceCells(row), '');
  return csvLine([...own, ...added, ...surplus], manifest.delimiter);
}

/** The cells of TRACE_COLUMNS, in that order. */
function traceCells(row: RowView): Cell[] {
  const { state, doubt, traces } = row;
  const { key = null, requestId = null, before = null, inDoubt = null } = traces ?? {};
  return [
    state === 'doubt' ? doubt : null,
    isoTime(reading.orders.requestTime(row)),
    key,
    requestId,
    before?.member ?? null,
    inDoubt?.member ?? null,
    before?.recipient ?? null,
    inDoubt?.recipient ?? null,
  ];
}

/**
 * Fits the cells of a row to the header. An invalid row may have fewer or more cells. Missing cells become empty.
 * Surplus cells go after almoner's own columns: no cell is lost, every column keeps its name, and the row is still
 * too long when it is read again.
 */
function fitCells(row: RowView, manifest: Manifest): { own: Cell[]; surplus: readonly string[] } {
  const columns = manifest.header.length;
  const own: Cell[] = row.cells.slice(0, columns);
  while (own.length < columns) own.push('');
  return { own, surplus: row.cells.slice(columns) };
}

/** audit.csv: who did what to the batch, when and why. */
export function auditCsv(entries: readonly AuditEntry[], delimiter: Delimiter): string {
  const lines = entries.map((entry) =>
    csvLine([isoTime(entry.at), entry.who, entry.what, entry.why], delimiter),
  );
  return csvLine(['at', 'who', 'what', 'why'], delimiter) + lines.join('');
}

/**
 * The columns of results.csv, which has one line per input row in input order. Their names and order are part of the
 * contract.
 */
const RESULT_COLUMNS: Readonly<Record<string, (row: RowView) => Cell>> = {
  line: ({ line }) => line,
  order: ({ order }) => order,
  op: ({ op }) => op,
  member: ({ member }) => member,
  recipient: ({ recipient }) => recipient,
  tokens: ({ tokens }) => tokens,
  state: ({ state }) => state,
  attempts: ({ attempts }) => attempts,
  http_status: ({ httpStatus }) => httpStatus,
  balance_after: ({ balanceAfter }) => balanceAfter,
  error_code: ({ errorCode }) => errorCode,
  error: ({ error }) => error,
  evidence: ({ evidence }) => evidence,
  sent_at: ({ sentAt }) => isoTime(sentAt),
  settled_at: ({ settledAt }) => isoTime(settledAt),
};
const RESULT_CELLS = Object.values(RESULT_COLUMNS);

export function resultsHeader({ header, delimiter }: Manifest): string {
  return csvLine([...Object.keys(RESULT_COLUMNS), ...header.map((name) => `in_${name}`)], delimiter);
}

export function resultsLine(row: RowView, manifest: Manifest): string {
  const { own, surplus } = fitCells(row, manifest);
  return csvLine([...RESULT_CELLS.map((cell) => cell(row)), ...own, ...surplus], manifest.delimiter);
}
