import { parse } from 'csv-parse/sync';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { ByteGuard } from './bytes.js';
import type { IntakeLimits } from './open.js';
import type { Delimiter, Finding } from './row.js';
import { flawCell, flawKind, LONE_CR, RecordScanner } from './scan.js';

/** Makes something of one record, or undefined to pass over it. `flaw` is 0 or what the scanner found. */
type RecordReader<T> = (line: number, cells: string[], flaw: number) => T | undefined;

/**
 * Streams the records of a file, a block for each chunk read: bytes → guard (UTF-8 only) → scanner (lines,
 * quotes) → cells. Blank lines come as one empty cell. Memory is bounded by the chunk and the largest record.
 *
 * The scanner knows where the last whole record of a chunk ends; what follows waits for the next chunk. Where
 * no quote stands, cells are what is between delimiters, and splitting gives them at ten times the speed of
 * csv-parse, which reads everything else.
 */
export async function* readRecords<T>(
  chunks: AsyncIterable<Buffer>,
  delimiter: Delimiter,
  limits: IntakeLimits,
  read: RecordReader<T>,
): AsyncGenerator<T[], void, undefined> {
  const guard = new ByteGuard();
  const scanner = new RecordScanner(delimiter, limits.recordBytesMax);
  const waiting = new Waiting();
  let failure: unknown;

  /** A record that ends the reading does so after those before it. */
  const readAll = (records: Iterable<string[]>): T[] => {
    const block: T[] = [];
    try {
      let at = 0;
      for (const record of records) {
        const ended = scanner.ended[at++];
        if (ended === undefined) throw new Error('csv-parse found a record that the scanner did not');
        const made = read(ended.line, record, ended.flaw);
        if (made !== undefined) block.push(made);
      }
    } catch (error) {
      failure = error;
    }
    return block;
  };

  for await (const chunk of chunks) {
    const text = guard.pass(chunk, scanner.line);
    const good = text.subarray(0, scanner.measure(text));
    const end = Math.max(0, Math.min(scanner.recordsEnd, good.length));
    waiting.add(good.subarray(0, end));
    // A huge record arrives in many chunks: it is looked at once, when it is whole.
    if (end > 0) yield readAll(recordsOf(waiting.take(), delimiter));
    waiting.add(good.subarray(end));
    if (failure !== undefined) throw failure;
    if (scanner.broken !== undefined) throw scanner.broken;
  }
  guard.end(scanner.line);
  scanner.end();
  if (scanner.broken !== undefined) throw scanner.broken;
  const rest = waiting.take();
  if (rest.length > 0) yield readAll(recordsOf(rest, delimiter));
  if (failure !== undefined) throw failure;
}

/** Bytes that wait for the end of their record, in memory that is used again and again. */
class Waiting {
  #bytes = Buffer.allocUnsafe(256 * 1024);
  #length = 0;

  add(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * length);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    bytes.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  /** Good until the next `add`. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }
}

function recordsOf(bytes: Buffer, delimiter: Delimiter): Iterable<string[]> {
  return bytes.includes(QUOTE) ? parseRecords(bytes, delimiter) : split(bytes.toString('utf8'), delimiter);
}

const QUOTE = 0x22;

function* split(text: string, delimiter: Delimiter): Generator<string[], void, undefined> {
  for (let from = 0; from < text.length; ) {
    const lf = text.indexOf('\n', from);
    const next = lf === -1 ? text.length : lf + 1;
    // CR is part of the line's end only before LF.
    const to = lf === -1 ? text.length : lf > from && text.charCodeAt(lf - 1) === CR ? lf - 1 : lf;
    yield text.slice(from, to).split(delimiter);
    from = next;
  }
}

const CR = 13;

export function parseRecords(text: Buffer | string, delimiter: Delimiter): string[][] {
  return parse(text, {
    delimiter,
    record_delimiter: ['\r\n', '\n'],
    relax_quotes: true,
    relax_column_count: true,
  });
}

/**
 * What is wrong with a record as such, whatever its cells mean: quotes, line ends, and cells that are too few
 * or too many. After any of it nobody can say which cell belongs to which column.
 */
export function recordFaults(
  names: readonly string[],
  line: number,
  record: readonly string[],
  flaw: number,
): Finding[] {
  if (flaw !== 0) return [flawFinding(names, line, flaw)];
  const width = names.length;
  const odd = (code: ErrorCode, mend: string): Finding[] => {
    const cells = record.length === 1 ? '1 cell' : `${record.length} cells`;
    return [{ line, column: null, code, message: `The row has ${cells}, the header ${width}; ${mend}.` }];
  };
  if (record.length < width) return odd('ALM_ROW_TOO_SHORT', 'fill it up, also with empty cells');
  return hasSurplus(names, record)
    ? odd('ALM_ROW_TOO_LONG', 'put a cell that holds the delimiter (such as 1,000) into quotes')
    : [];
}

/** A blank line, or the empty cells that a spreadsheet leaves below a table: nothing to pay, nothing wrong. */
export function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '');
}

/** Spreadsheets leave empty cells at the end of a row; nothing is lost with them. */
export function hasSurplus(names: readonly string[], record: readonly string[]): boolean {
  return record.length > names.length && record.slice(names.length).some((text) => text.trim() !== '');
}

function flawFinding(names: readonly string[], line: number, flaw: number): Finding {
  const column = names[flawCell(flaw)] ?? null;
  if (flawKind(flaw) === LONE_CR) {
    const message =
      'A CR stands alone in this row; expected LF or CR LF at the end of lines and nowhere else.';
    return { line, column, code: 'ALM_ROW_CARRIAGE_RETURN', message };
  }
  const message = `Cell ${flawCell(flaw) + 1} holds a quote where none may stand; put the whole cell into quotes and write the quote twice.`;
  return { line, column, code: 'ALM_ROW_QUOTES', message };
}
