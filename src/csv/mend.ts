import { AlmonerError } from '../core/errors/error.js';
import { headerKey } from './columns.js';
import { INTAKE_LIMITS, type Source } from './open.js';
import { hasSurplus, isBlank, readRecords } from './records.js';
import { BrokenFile, type Delimiter } from './row.js';

/**
 * Corrects single cells of a file without touching the rest. Records are found by the physical line on which they
 * begin, as faults name them. All other bytes are copied unchanged. A corrected record is written anew, because its
 * quoting may have to change; it keeps its line end.
 */
export type MendSheet = {
  readonly delimiter: Delimiter;
  readonly headerLine: number;
  /** All names of the header. */
  readonly names: readonly string[];
};

type CellPosition = { readonly line: number; readonly column: string };
export type MendedCell = CellPosition & { readonly text: string };

/** A record to correct: where it is in the file, and its cells. */
type MendRecord = {
  readonly cells: readonly string[];
  /** The line on which the next record begins; infinite for the last record. */
  to: number;
  /** True if the record has as many cells as the header, so that each cell belongs to a column. */
  readonly sound: boolean;
};

/** The current text of cells. Null if the row does not have the cells of the header, so it cannot be corrected. */
export async function cellsAt(
  source: Source,
  sheet: MendSheet,
  places: readonly CellPosition[],
): Promise<(string | null)[]> {
  const records = await recordsAt(source, sheet, new Set(places.map(({ line }) => line)));
  return places.map(({ line, column }) => {
    const record = records.get(line);
    return record?.sound === true ? (record.cells[sheet.names.indexOf(column)] ?? null) : null;
  });
}

/** Writes the file with the corrected cells. It finds all cells before it returns the first byte. */
export async function mendFile(
  source: Source,
  sheet: MendSheet,
  mended: readonly MendedCell[],
): Promise<AsyncIterable<Buffer>> {
  const records = await recordsAt(source, sheet, new Set(mended.map(({ line }) => line)));
  const rows = new Map<number, string[]>();
  const seen = new Set<string>();
  for (const { line, column, text } of mended) {
    const record = records.get(line);
    const at = sheet.names.indexOf(column);
    if (record === undefined) throw refusal(`No row begins on line ${line}.`);
    if (!record.sound)
      throw refusal(
        `The row on line ${line} does not have the cells of the header, or its quotes do not match. Correct it in the file itself.`,
      );
    if (at === -1 || headerKey(column) === '')
      throw refusal(`The header has no column ${JSON.stringify(column)}.`);
    if (seen.has(`${line} ${at}`)) throw refusal(`Line ${line}, column ${column} is given twice.`);
    seen.add(`${line} ${at}`);
    const cells = rows.get(line) ?? [...record.cells];
    cells[at] = text;
    rows.set(line, cells);
  }
  const pieces = [...rows].map(([from, cells]) => ({
    from,
    to: records.get(from)?.to ?? from,
    text: cells.map((cell) => quoted(cell, sheet.delimiter)).join(sheet.delimiter),
  }));
  return splice(
    source.chunks(),
    pieces.sort((a, b) => a.from - b.from),
  );
}

function refusal(why: string): AlmonerError {
  return new AlmonerError('ALM_FILE_MEND', `${why} Nothing was changed.`);
}

async function recordsAt(
  source: Source,
  { delimiter, headerLine, names }: MendSheet,
  lines: ReadonlySet<number>,
): Promise<Map<number, MendRecord>> {
  const last = Math.max(...lines);
  const found = new Map<number, MendRecord>();
  let open: MendRecord | undefined;
  let passed = false;
  const records = readRecords(source.chunks(), delimiter, INTAKE_LIMITS, (line, cells, flaw) => {
    if (open !== undefined) open.to = line;
    open = undefined;
    passed ||= line > last;
    if (!lines.has(line) || line <= headerLine || isBlank(cells)) return undefined;
    const sound = flaw === 0 && cells.length >= names.length && !hasSurplus(names, cells);
    open = { cells: [...cells], to: Number.POSITIVE_INFINITY, sound };
    found.set(line, open);
    return undefined;
  });
  try {
    for await (const _ of records) if (passed) break;
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    // The end of the last record is not known, so it cannot be corrected.
    for (const [line, record] of found) if (record === open) found.delete(line);
  }
  return found;
}

function quoted(text: string, delimiter: Delimiter): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

type Piece = { readonly from: number; readonly to: number; readonly text: string };

/** Copies the file and replaces whole lines. `pieces` are in the order of their lines. */
async function* splice(
  chunks: AsyncIterable<Buffer>,
  pieces: readonly Piece[],
): AsyncGenerator<Buffer, void, undefined> {
  let line = 1;
  let next = 0;
  /** The last two bytes of the replaced piece, which hold its line end. */
  let tail = '';
  const written = ({ text }: Piece) => Buffer.from(text + (/\r?\n$/.exec(tail)?.[0] ?? ''));
  for await (const chunk of chunks) {
    const given: Buffer[] = [];
    let kept = 0;
    for (let at = 0; at < chunk.length; ) {
      const lf = chunk.indexOf(10, at);
      const end = lf === -1 ? chunk.length : lf + 1;
      const piece = pieces[next];
      const isReplaced = piece !== undefined && line >= piece.from;
      if (lf !== -1) line++;
      if (isReplaced) {
        given.push(chunk.subarray(kept, at));
        kept = end;
        tail = (tail + chunk.toString('latin1', Math.max(at, end - 2), end)).slice(-2);
        if (line === piece.to) {
          given.push(written(piece));
          next++;
          tail = '';
        }
      }
      at = end;
    }
    given.push(chunk.subarray(kept));
    yield Buffer.concat(given);
  }
  const piece = pieces[next];
  if (piece !== undefined) yield written(piece);
}
