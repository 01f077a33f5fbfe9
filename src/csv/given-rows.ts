import { show } from '../core/visible.js';
import { columnNamed, ownColumnNamed } from './columns.js';
import { INTAKE_LIMITS, type IntakeLimits } from './open.js';
import type { ParsedSheet } from './parse.js';
import { type RowRules, readRow } from './read-row.js';
import { References } from './references.js';
import { BrokenFile, type FileFaults, type Finding, ofFile, type Row } from './row.js';
import type { Shape } from './shape.js';

/**
 * Rows that a program hands over instead of a file. Each is read by the very reader of a file's rows, so that the
 * same orders have the same faults and are the same batch. What no file can hold is refused here by name: a number
 * that has lost digits, text that is none, a field nobody knows.
 */
const FIELDS = ['member', 'tokens', 'recipient', 'op', 'reference', 'reason'] as const;
/** The order that a row stands in for: a column of our reports, and so the last and no part of the sheet. */
const REPLACES = 'replaces';
/** Columns without a meaning of their own, which come back in the report. */
const FURTHER = 'columns';
const KNOWN: ReadonlySet<string> = new Set([...FIELDS, REPLACES, FURTHER]);

const FIRST_LINE = 2;
const ROWS_AT_ONCE = 256;

/** A row goes by the line it would have below a header; which row that was, or null where all of them are meant. */
export function rowOfLine(line: number): number | null {
  return line < FIRST_LINE ? null : line - FIRST_LINE;
}

type Columns = {
  readonly fields: readonly (typeof FIELDS)[number][];
  readonly further: readonly string[];
  readonly replaces: boolean;
};

export function readGivenRows(
  rows: readonly unknown[],
  rules: RowRules,
  limits: IntakeLimits = INTAKE_LIMITS,
): ParsedSheet | FileFaults {
  const columns = columnsOf(rows);
  const faults = columns.further.flatMap(furtherFaults);
  if (columns.further.length > limits.columnsMax)
    faults.push(ofFile('ALM_FILE_TOO_MANY_COLUMNS', `More than ${limits.columnsMax} columns are named.`));
  if (rows.length > limits.rowsMax)
    faults.push(ofFile('ALM_FILE_TOO_MANY_ROWS', `There are more than ${limits.rowsMax} rows. Split them.`));
  if (faults.length > 0) return { faults };
  const shape = shapeOf(columns);
  const blocks = { [Symbol.asyncIterator]: () => readBlocks(rows, columns, shape, rules, limits) };
  return { sheet: shape.sheet, standsIn: columns.replaces, blocks };
}

async function* readBlocks(
  rows: readonly unknown[],
  columns: Columns,
  shape: Shape,
  rules: RowRules,
  { recordBytesMax }: IntakeLimits,
): AsyncGenerator<Row[], void, undefined> {
  const references = new References();
  const read = (given: unknown, line: number): Row => {
    const { cells, faults } = cellsOf(given, columns);
    if (Buffer.byteLength(cells.join()) > recordBytesMax)
      throw new BrokenFile(
        'ALM_FILE_RECORD_TOO_LARGE',
        line,
        `The row is larger than ${recordBytesMax} bytes; nothing after it was read.`,
      );
    if (faults.length > 0) {
      const findings = faults.map((fault) => ({ line, code: 'ALM_ROW_FIELD' as const, ...fault }));
      return { kind: 'invalid', line, findings, cells: cells.slice(0, shape.kept.length) };
    }
    const row = readRow(shape, rules, line, cells, 0);
    return row.kind === 'order' ? references.judge(row, 'reference') : row;
  };
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    yield rows.slice(from, from + ROWS_AT_ONCE).map((given, at) => read(given, from + at + FIRST_LINE));
}

function columnsOf(rows: readonly unknown[]): Columns {
  const used = new Set<string>(['member', 'tokens']);
  const further = new Set<string>();
  for (const row of rows) {
    if (!isObject(row)) continue;
    for (const name of Object.keys(row)) if (row[name] !== undefined) used.add(name);
    if (isObject(row[FURTHER])) for (const name of Object.keys(row[FURTHER])) further.add(name);
  }
  // Beside transfers each row says its op (see `opOf`).
  if (used.has('recipient')) used.add('op');
  const fields = FIELDS.filter((field) => used.has(field));
  return { fields, further: [...further], replaces: used.has(REPLACES) };
}

function shapeOf({ fields, further, replaces }: Columns): Shape {
  const header = [...fields, ...further];
  const names = replaces ? [...header, 'almoner_order'] : header;
  const at = (name: string) => names.indexOf(name, 0);
  return {
    sheet: { delimiter: ',', header },
    headerLine: FIRST_LINE - 1,
    names,
    kept: header.map((_, index) => index),
    columns: {
      member: at('member'),
      tokens: at('tokens'),
      recipient: at('recipient'),
      op: at('op'),
      reference: at('reference'),
      reason: at('reason'),
      realm: -1,
      currency: -1,
      order: at('almoner_order'),
    },
  };
}

/** A further column that has a meaning in files would not have it here. */
function furtherFaults(name: string): Finding[] {
  const known = columnNamed(name) ?? ownColumnNamed(name);
  if (known !== undefined)
    return [
      ofFile('ALM_FILE_COLUMN_TWICE', `columns: ${show(name)} means ${known}; it is a field of its own.`),
    ];
  return name.trim() === '' || !isWellFormed(name)
    ? [ofFile('ALM_FILE_COLUMN_MISSING', `columns: ${show(name)} is no name for a column.`)]
    : [];
}

type CellFault = { readonly column: string | null; readonly message: string };

function cellsOf(given: unknown, { fields, further, replaces }: Columns) {
  const faults: CellFault[] = [];
  const row = isObject(given) ? given : {};
  if (row !== given)
    faults.push({ column: null, message: `expected an object for each row, got ${kindOf(given)}.` });
  for (const name of Object.keys(row))
    if (!KNOWN.has(name))
      faults.push({
        column: null,
        message: `a row has no field ${show(name)}; it has ${[...KNOWN].join(', ')}.`,
      });
  const text = (column: string, value: unknown, amount = false): string => {
    if (value === undefined) return '';
    const fault = amount ? amountFault(value) : textFault(value);
    if (fault !== null) faults.push({ column, message: `${column}: ${fault}.` });
    return typeof value === 'object' || typeof value === 'symbol' ? '' : String(value);
  };
  const more = row[FURTHER];
  if (more !== undefined && !isObject(more))
    faults.push({ column: FURTHER, message: `columns: expected an object of texts, got ${kindOf(more)}.` });
  const cells = [
    ...fields.map((field) => text(field, field === 'op' ? opOf(row) : row[field], field === 'tokens')),
    ...further.map((name) =>
      text(name, isObject(more) && Object.hasOwn(more, name) ? more[name] : undefined),
    ),
    ...(replaces ? [text(REPLACES, row[REPLACES])] : []),
  ];
  return { cells, faults };
}

/**
 * In a file of transfers an empty recipient is refused unless the op is said, for it may be a forgotten cell. A field
 * that a program leaves out is not there at all, and the sign decides as it does where nobody is a recipient.
 */
function opOf({ op, recipient, tokens }: Readonly<Record<string, unknown>>): unknown {
  if (op !== undefined || recipient !== undefined) return op;
  return String(tokens).trim().startsWith('-') ? 'debit' : 'credit';
}

function textFault(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'bigint')
    return `expected text, got the number ${value}; ids and references are strings, because a JavaScript number has no room for 17 digits`;
  if (typeof value !== 'string') return `expected text, got ${kindOf(value)}`;
  return isWellFormed(value) ? null : `${show(value)} holds half of a character (a lone surrogate)`;
}

function amountFault(value: unknown): string | null {
  if (typeof value === 'bigint') return null;
  if (typeof value !== 'number') return textFault(value);
  return Number.isSafeInteger(value)
    ? null
    : `${value} is no whole number that a JavaScript number holds exactly; give a bigint or digits`;
}

/** Written as UTF-8, each half of a surrogate pair becomes the same replacement, and two references one. */
function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
