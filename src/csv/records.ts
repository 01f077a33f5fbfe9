import { parse } from 'csv-parse/sync';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { ByteGuard } from './bytes.js';
import type { IntakeLimits } from './open.js';
import { BrokenFile, type Delimiter, type Finding } from './row.js';

const QUOTE = 0x22;
const EQUALS = 0x3d;
const LF = 10;
const CR = 13;

/** Converts one record, or returns undefined to skip it. `flaw` is 0 or the scanner's finding. */
type RecordReader<T> = (line: number, cells: string[], flaw: number) => T | undefined;

/**
 * Streams the records of a file, one block per chunk: bytes → guard (UTF-8 only) → scanner (lines, quotes) → cells. A
 * blank line arrives as one empty cell. Memory is bounded by the chunk and the largest record.
 *
 * The scanner knows where the last whole record of a chunk ends; the remainder waits for the next chunk. Text without
 * quotes is split at the delimiters, at ten times the speed of csv-parse. csv-parse reads the rest.
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

  /** If a record ends the reading, the records before it are still delivered. */
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
    // A huge record arrives in many chunks. It is parsed once, when it is complete.
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

/** Bytes that wait for the end of their record, in a buffer that is reused. */
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

  /** Valid until the next `add`. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }
}

function recordsOf(bytes: Buffer, delimiter: Delimiter): Iterable<string[]> {
  return bytes.includes(QUOTE) ? parseRecords(bytes, delimiter) : split(bytes.toString('utf8'), delimiter);
}

/** Splits text without quotes into cells: the fast path. */
function* split(text: string, delimiter: Delimiter): Generator<string[], void, undefined> {
  for (let from = 0; from < text.length; ) {
    const lf = text.indexOf('\n', from);
    const next = lf === -1 ? text.length : lf + 1;
    // A CR belongs to the line end only directly before LF.
    const to = lf === -1 ? text.length : lf > from && text.charCodeAt(lf - 1) === CR ? lf - 1 : lf;
    yield text.slice(from, to).split(delimiter);
    from = next;
  }
}

/** Parses text with quotes by csv-parse, in relaxed mode. The scanner has already reported stray quotes. */
export function parseRecords(text: Buffer | string, delimiter: Delimiter): string[][] {
  return parse(text, {
    delimiter,
    record_delimiter: ['\r\n', '\n'],
    relax_quotes: true,
    relax_column_count: true,
  });
}

/**
 * The faults of a record itself, whatever its cells mean: quotes, line ends, too few or too many cells. After such a
 * fault it is uncertain which cell belongs to which column.
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
  if (record.length < width) return odd('ALM_ROW_TOO_SHORT', 'add the missing cells, even if they are empty');
  return hasSurplus(names, record)
    ? odd('ALM_ROW_TOO_LONG', 'put a cell that holds the delimiter (such as 1,000) into quotes')
    : [];
}

/**
 * True for a blank line, and for the empty cells that a spreadsheet leaves below a table. Such a row is no order and
 * no fault.
 */
export function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === '');
}

/**
 * True if the record has more cells than the header. Empty cells at the end do not count, because spreadsheets leave
 * them.
 */
export function hasSurplus(names: readonly string[], record: readonly string[]): boolean {
  return record.length > names.length && record.slice(names.length).some((text) => text.trim() !== '');
}

function flawFinding(names: readonly string[], line: number, flaw: number): Finding {
  const column = names[flawCell(flaw)] ?? null;
  if (flawKind(flaw) === LONE_CR) {
    const message = 'This row holds a CR by itself; expected LF or CR LF at line ends only.';
    return { line, column, code: 'ALM_ROW_CARRIAGE_RETURN', message };
  }
  const message = `Cell ${flawCell(flaw) + 1} holds a quote in a place where none is allowed; put the whole cell into quotes and write the quote twice.`;
  return { line, column, code: 'ALM_ROW_QUOTES', message };
}

/**
 * Scans the bytes ahead of csv-parse. For each record it notes the physical line on which it begins, and faults of
 * its quotes. csv-parse provides neither. It counts a CR LF inside quotes as two lines. Its strict mode refuses the
 * ="119…" of many spreadsheet exports, and its relaxed mode accepts every stray quote silently. Both find the same
 * record ends. Both read a stray quote as text, and the row is a fault in any case.
 *
 *   START ──"──► QUOTED ◄──"──► AFTER_QUOTE ──delimiter──► START
 *     │                              │ anything else: a stray quote
 *     └─ anything else ──► PLAIN ◄───┘      CR ──► AFTER_CR ──LF──► end of the record
 */
class RecordScanner {
  /** The physical line of the next byte. */
  line = 1;
  /** Set when a record is too large or a quote stays open. The file ends there. */
  broken: BrokenFile | undefined;
  /** The end of the last whole record within the last chunk; 0 or less if none ended. */
  recordsEnd = 0;
  /** The records that ended in the last chunk: the line on which each begins, and its flaw. */
  readonly ended: { readonly line: number; readonly flaw: number }[] = [];
  readonly #delimiter: number;
  readonly #recordBytesMax: number;
  #state: State = START;
  #recordLine = 1;
  #recordBytes = 0;
  #cell = 0;
  #cellLine = 1;
  #formula = false;
  #flaw = 0;

  constructor(delimiter: Delimiter, recordBytesMax: number) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#recordBytesMax = recordBytesMax;
  }

  /** Scans one chunk and returns how many of its bytes can be parsed. */
  measure(chunk: Buffer): number {
    const delimiter = this.#delimiter;
    this.ended.length = 0;
    let state = this.#state;
    let recordStart = -this.#recordBytes;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (state === PLAIN) {
        if (byte === delimiter) {
          this.#cell++;
          state = START;
        } else if (byte === LF) {
          if (at - recordStart > this.#recordBytesMax) return this.#tooLarge(recordStart);
          recordStart = at + 1;
          this.#endRecord();
          state = START;
        } else if (byte === CR) state = AFTER_CR;
        else if (byte === QUOTE && !this.#formula) this.#stray();
      } else if (state === QUOTED) {
        if (byte === QUOTE) state = AFTER_QUOTE;
        else if (byte === LF) this.line++;
      } else if (state === START) {
        this.#formula = byte === EQUALS;
        this.#cellLine = this.line;
        state = byte === QUOTE ? QUOTED : PLAIN;
        if (byte === delimiter || byte === LF || byte === CR) at--;
      } else if (state === AFTER_QUOTE) {
        if (byte === QUOTE) state = QUOTED;
        else if (byte === delimiter || byte === LF) {
          state = PLAIN;
          at--;
        } else if (byte === CR) state = AFTER_QUOTE_CR;
        else {
          this.#stray();
          state = PLAIN;
        }
      } else {
        if (byte !== LF) {
          if (state === AFTER_QUOTE_CR) this.#stray();
          this.#flaw ||= flawAt(LONE_CR, this.#cell);
        }
        state = PLAIN;
        at--;
      }
    }
    this.#state = state;
    this.recordsEnd = recordStart;
    this.#recordBytes = chunk.length - recordStart;
    return this.#recordBytes > this.#recordBytesMax ? this.#tooLarge(recordStart) : chunk.length;
  }

  /** The end of the file. A quote that is still open here was never closed. */
  end(): void {
    this.ended.length = 0;
    if (this.#state === QUOTED) {
      this.broken ??= new BrokenFile(
        'ALM_FILE_QUOTES',
        this.#cellLine,
        `A quote opened on line ${this.#cellLine} (cell ${this.#cell + 1}) is not closed before the end of the file; all lines after it would be one cell. Close it.`,
      );
      return;
    }
    if (this.#state === AFTER_QUOTE_CR) this.#stray();
    if (this.#state === AFTER_CR || this.#state === AFTER_QUOTE_CR)
      this.#flaw ||= flawAt(LONE_CR, this.#cell);
    if (this.#recordBytes > 0) this.#endRecord();
  }

  #endRecord(): void {
    this.ended.push({ line: this.#recordLine, flaw: this.#flaw });
    this.line++;
    this.#recordLine = this.line;
    this.#recordBytes = 0;
    this.#cell = 0;
    this.#flaw = 0;
  }

  /** A stray quote in a cell of several lines may have swallowed whole rows. No row end is certain then. */
  #stray(): void {
    const kind = this.#cellLine === this.line ? STRAY_QUOTE : SWALLOWING_QUOTE;
    if (flawKind(this.#flaw) !== SWALLOWING_QUOTE) this.#flaw = flawAt(kind, this.#cell);
  }

  #tooLarge(recordStart: number): number {
    this.recordsEnd = recordStart;
    const quoted = this.#state === QUOTED || this.#cellLine !== this.line;
    this.broken = new BrokenFile(
      'ALM_FILE_RECORD_TOO_LARGE',
      this.#recordLine,
      `The record that begins on line ${this.#recordLine} is larger than ${this.#recordBytesMax} bytes${
        quoted ? `; a quote opened on line ${this.#cellLine} may not be closed` : ''
      }. Nothing after it was read.`,
    );
    return Math.max(0, recordStart);
  }
}

type State = 0 | 1 | 2 | 3 | 4 | 5;
const START: State = 0;
const PLAIN: State = 1;
const QUOTED: State = 2;
const AFTER_QUOTE: State = 3;
const AFTER_CR: State = 4;
const AFTER_QUOTE_CR: State = 5;

/** A flaw packs kind and cell into one small number, because most of the millions of records have none. */
const STRAY_QUOTE = 1;
export const SWALLOWING_QUOTE = 2;
const LONE_CR = 3;

function flawAt(kind: number, cell: number): number {
  return kind + cell * 4;
}
export function flawKind(flaw: number): number {
  return flaw % 4;
}
function flawCell(flaw: number): number {
  return Math.floor(flaw / 4);
}
