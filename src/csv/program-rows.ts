import { show } from '../core/visible.js';
import { columnNamed, ownColumnNamed } from './columns.js';
import { INTAKE_LIMITS, type IntakeLimits } from './open.js';
import type { ParsedSheet } from './parse.js';
import { type RowReading, type RowRules, readRow } from './read-row.js';
import { References } from './references.js';
import { BrokenFile, type FileFaults, type Finding, ofFile, type Row } from './row.js';
import type { Shape } from './shape.js';
import { FIELDS, isWellFormed, type TakenRow } from './take-rows.js';
import { NO_COLUMNS } from './taken-columns.js';

/**
 * The rows of a program get line numbers as if a header were on line 1. The reader for files reads each of them, so
 * the same orders have the same faults and form the same batch.
 */
const FIRST_LINE = 2;
const ROWS_AT_ONCE = 256;

/** Converts a line back to the index of the row; null if the line means all rows. */
export function rowOfLine(line: number): number | null {
  return line < FIRST_LINE ? null : line - FIRST_LINE;
}

type Columns = {
  readonly fields: readonly (typeof FIELDS)[number][];
  readonly further: readonly string[];
  readonly replaces: boolean;
};

/** Reads the rows that a program passed in, as if they came from a file. */
export function readProgramRows(
  rows: readonly TakenRow[],
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
  const blocks = { [Symbol.asyncIterator]: () => readBlocks(rows, columns, { shape, rules }, limits) };
  return { sheet: shape.sheet, found: null, standsIn: columns.replaces, blocks, sha256: () => null };
}

/** Reads the rows in small blocks, so that other work of the process gets its turn. */
async function* readBlocks(
  rows: readonly TakenRow[],
  columns: Columns,
  reading: RowReading,
  { recordBytesMax }: IntakeLimits,
): AsyncGenerator<Row[], void, undefined> {
  const references = new References();
  const read = (given: TakenRow, line: number): Row => {
    const cells = cellsOf(given, columns);
    if (Buffer.byteLength(cells.join()) > recordBytesMax)
      throw new BrokenFile(
        'ALM_FILE_RECORD_TOO_LARGE',
        line,
        `The row is larger than ${recordBytesMax} bytes; no row after it was read.`,
      );
    if (given.faults.length > 0) {
      const findings = given.faults.map((fault) => ({ line, code: 'ALM_ROW_FIELD' as const, ...fault }));
      return { kind: 'invalid', line, findings, cells: cells.slice(0, reading.shape.kept.length) };
    }
    const row = readRow(reading, line, cells, 0);
    return row.kind === 'order' ? references.judge(row, 'reference') : row;
  };
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
    yield rows.slice(from, from + ROWS_AT_ONCE).map((given, at) => read(given, from + at + FIRST_LINE));
}

function columnsOf(rows: readonly TakenRow[]): Columns {
  const used = new Set<string>(['member', 'tokens']);
  const further = new Set<string>();
  for (const row of rows) {
    for (const name of Object.keys(row.texts)) used.add(name);
    for (const name of row.further.keys()) further.add(name);
  }
  // With transfers among the rows, each row needs an op (see `opOf`).
  if (used.has('recipient')) used.add('op');
  const fields = FIELDS.filter((field) => used.has(field));
  return { fields, further: [...further], replaces: used.has('replaces') };
}

/** Builds the shape that a file with these columns would have. */
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
      ...NO_COLUMNS,
      ...Object.fromEntries(fields.map((field) => [field, at(field)])),
      order: at('almoner_order'),
    },
    found: null,
  };
}

/** A further column must not have a name with a meaning: it would have that meaning in a file, but not here. */
function furtherFaults(name: string): Finding[] {
  const known = columnNamed(name) ?? ownColumnNamed(name);
  if (known !== undefined)
    return [
      ofFile('ALM_FILE_COLUMN_TWICE', `columns: ${show(name)} means ${known}, which is a field of its own.`),
    ];
  return name.trim() === '' || !isWellFormed(name)
    ? [ofFile('ALM_FILE_COLUMN_MISSING', `columns: ${show(name)} is not a name for a column.`)]
    : [];
}

function cellsOf({ texts, further }: TakenRow, columns: Columns): string[] {
  return [
    ...columns.fields.map((field) => (field === 'op' ? opOf(texts) : texts[field]) ?? ''),
    ...columns.further.map((name) => further.get(name) ?? ''),
    ...(columns.replaces ? [texts.replaces ?? ''] : []),
  ];
}

/**
 * Adds the op to a row that omits it. In a file with transfers, an empty recipient without an op is refused, because
 * the cell may be forgotten. A program that omits the field means that there is no recipient, so the sign decides.
 */
function opOf({ op, recipient, tokens }: TakenRow['texts']): string | undefined {
  if (op !== undefined || recipient !== undefined) return op;
  return tokens?.trim().startsWith('-') ? 'debit' : 'credit';
}
