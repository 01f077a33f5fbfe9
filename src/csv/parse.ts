import type { ColumnMap } from './columns.js';
import { readHeaderLine } from './header.js';
import { INTAKE_LIMITS, type IntakeLimits, type Source } from './open.js';
import { type RowRules, readRow } from './read-row.js';
import { isBlank, readRecords } from './records.js';
import { References } from './references.js';
import { BrokenFile, type FileFaults, type Row, type Sheet } from './row.js';
import { flawKind, SWALLOWING_QUOTE } from './scan.js';
import { findShape, type Shape } from './shape.js';

type ParseOptions = RowRules & {
  readonly map?: ColumnMap;
  readonly limits?: Partial<IntakeLimits>;
};

export type ParsedSheet = {
  readonly sheet: Sheet;
  /** It has a column of orders that its rows stand in for. */
  readonly standsIn: boolean;
  /**
   * Every row in the file's order, some hundred at a time, judged by itself and by the references before it. Each
   * iteration reads the file from its beginning and gives the same rows. Throws BrokenFile where reading cannot go on.
   */
  readonly blocks: AsyncIterable<readonly Row[]>;
};

/** Two stages: the shape of the file, whose faults stop it, then the rows as a stream. */
export async function parseSheet(source: Source, options: ParseOptions): Promise<ParsedSheet | FileFaults> {
  const limits: IntakeLimits = { ...INTAKE_LIMITS, ...options.limits };
  try {
    const head = await readHeaderLine(source.chunks(), limits);
    const shape = findShape(head, options.map ?? new Map(), limits);
    if ('faults' in shape) return shape;
    const blocks = { [Symbol.asyncIterator]: () => readBlocks(source, shape, options, limits) };
    return { sheet: shape.sheet, standsIn: shape.columns.order !== -1, blocks };
  } catch (error) {
    if (error instanceof BrokenFile) return { faults: [error.finding] };
    throw error;
  }
}

function readBlocks(
  source: Source,
  shape: Shape,
  rules: RowRules,
  limits: IntakeLimits,
): AsyncGenerator<Row[], void, undefined> {
  const references = new References();
  const referenceColumn = shape.names[shape.columns.reference] ?? 'reference';
  let rows = 0;
  return readRecords(source.chunks(), shape.sheet.delimiter, limits, (line, cells, flaw) => {
    if (flaw !== 0 && (line <= shape.headerLine || flawKind(flaw) === SWALLOWING_QUOTE))
      throw new BrokenFile(
        'ALM_FILE_QUOTES',
        line,
        `The quotes of the record that begins on line ${line} do not match, so that it is not certain where its rows end. Nothing after it was read. Close the quote, and write a quote inside a cell twice.`,
      );
    if (line <= shape.headerLine || isBlank(cells)) return undefined;
    if (++rows > limits.rowsMax)
      throw new BrokenFile(
        'ALM_FILE_TOO_MANY_ROWS',
        line,
        `The file has more than ${limits.rowsMax} rows; nothing from line ${line} on was read. Split it.`,
      );
    const row = readRow(shape, rules, line, cells, flaw);
    return row.kind === 'order' ? references.judge(row, referenceColumn) : row;
  });
}
