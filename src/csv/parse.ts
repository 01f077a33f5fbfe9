import { createHash } from 'node:crypto';
import { readHead } from './header.js';
import { type ColumnOptions, chooseColumns, NO_COLUMN_OPTIONS } from './mapping.js';
import { INTAKE_LIMITS, type IntakeLimits, type Source } from './open.js';
import { type RowRules, readRow } from './read-row.js';
import { flawKind, isBlank, readRecords, SWALLOWING_QUOTE } from './records.js';
import { References } from './references.js';
import { BrokenFile, type FileFaults, type FoundColumns, type Row, type Sheet } from './row.js';
import { findShape, type Shape } from './shape.js';

type ParseOptions = RowRules & {
  readonly wish?: ColumnOptions;
  readonly limits?: Partial<IntakeLimits>;
};

/** A parsed file: its shape, and its rows as a stream. */
export type ParsedSheet = {
  readonly sheet: Sheet;
  /** Null for rows that come from a program. */
  readonly found: FoundColumns | null;
  /** True if the sheet has a column that names the orders its rows stand in for. */
  readonly standsIn: boolean;
  /**
   * All rows in the file's order, some hundred at a time, each judged alone and against the references before it.
   * Every iteration reads the file from its beginning and yields the same rows. Throws BrokenFile if reading cannot
   * continue.
   */
  readonly blocks: AsyncIterable<readonly Row[]>;
  /** The SHA-256 of the file's bytes after all rows were read. Null before that, and for rows of a program. */
  readonly sha256: () => string | null;
};

/** Parses a file in two stages: first its shape, where a fault stops it, then its rows as a stream. */
export async function parseSheet(source: Source, options: ParseOptions): Promise<ParsedSheet | FileFaults> {
  const limits: IntakeLimits = { ...INTAKE_LIMITS, ...options.limits };
  try {
    const head = await readHead(source.chunks(), limits);
    const chosen = await chooseColumns(head, options.wish ?? NO_COLUMN_OPTIONS, limits);
    const shape = findShape(head, chosen, limits, options.members != null);
    if ('faults' in shape) return shape;
    let sha256: string | null = null;
    const chunks = async function* () {
      const digest = createHash('sha256');
      for await (const chunk of source.chunks()) {
        digest.update(chunk);
        yield chunk;
      }
      sha256 = digest.digest('hex');
    };
    const blocks = { [Symbol.asyncIterator]: () => readBlocks(chunks(), shape, options, limits) };
    return {
      sheet: shape.sheet,
      found: shape.found,
      standsIn: shape.columns.order !== -1,
      blocks,
      sha256: () => sha256,
    };
  } catch (error) {
    if (error instanceof BrokenFile) return { faults: [error.finding] };
    throw error;
  }
}

function readBlocks(
  chunks: AsyncIterable<Buffer>,
  shape: Shape,
  rules: RowRules,
  limits: IntakeLimits,
): AsyncGenerator<Row[], void, undefined> {
  const references = new References();
  const referenceColumn = shape.names[shape.columns.reference] ?? 'reference';
  const reading = { shape, rules };
  let rows = 0;
  return readRecords(chunks, shape.sheet.delimiter, limits, (line, cells, flaw) => {
    if (flaw !== 0 && (line <= shape.headerLine || flawKind(flaw) === SWALLOWING_QUOTE))
      throw new BrokenFile(
        'ALM_FILE_QUOTES',
        line,
        `The quotes of the record that begins on line ${line} do not match, so it is unclear where its rows end. No row after it was read. Close the quote, and write a quote inside a cell twice.`,
      );
    if (line <= shape.headerLine || isBlank(cells)) return undefined;
    if (++rows > limits.rowsMax)
      throw new BrokenFile(
        'ALM_FILE_TOO_MANY_ROWS',
        line,
        `The file has more than ${limits.rowsMax} rows; nothing from line ${line} on was read. Split it.`,
      );
    const row = readRow(reading, line, cells, flaw);
    return row.kind === 'order' ? references.judge(row, referenceColumn) : row;
  });
}
