import { defuse } from '../core/formula-cells.js';
import type { OrderState } from '../core/states.js';
import { OWN_COLUMNS, TRACE_COLUMNS } from '../csv/columns.js';
import { type AuditEntry, type Manifest, type RowView, requestTime } from '../ledger/index.js';
import { isoTime } from '../words/spelling.js';

type Delimiter = Manifest['delimiter'];
type Cell = string | number | null;

/**
 * All three delimiters count, not only the file's own: a reader that guesses the delimiter from a line must
 * never meet another candidate outside quotes. Blanks at the ends are quoted since some programs trim them.
 */
const NEEDS_QUOTES = /[",;\t\r\n]|^ | $/;

/**
 * One record as RFC 4180 quotes it, ending in LF: every program reads that, and the line tools of Unix see no
 * stray CR in the last column.
 *
 * Every text cell is defused, also the input's own. "Unchanged" means that the file reads back as the same
 * cells; raw bytes would hand whoever wrote the input a formula in the operator's spreadsheet.
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

function csvCell(text: string): string {
  const safe = defuse(text);
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * The five files that together are the input, row for row: each state has exactly one place. A row that is
 * being sent or resolved when a report is made half-way stands with the doubts, because it must not be run
 * again from a file either.
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

/** The column is left empty for a person to fill with `paid` or `unpaid`; `doubt resolve --file` reads it. */
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

/** In the order of TRACE_COLUMNS. */
function traceCells(row: RowView): Cell[] {
  const { state, doubt, traces } = row;
  const { key = null, requestId = null, before = null, inDoubt = null } = traces ?? {};
  return [
    state === 'doubt' ? doubt : null,
    isoTime(requestTime(row)),
    key,
    requestId,
    before?.member ?? null,
    inDoubt?.member ?? null,
    before?.recipient ?? null,
    inDoubt?.recipient ?? null,
  ];
}

/**
 * An invalid row may have fewer or more cells than the header. Missing ones become empty; surplus ones go
 * behind our own columns, so that no cell is lost, every column stays under its name, and the row is still
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

/** results.csv: one line per input row, in input order. The columns' names and order are a promise. */
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
