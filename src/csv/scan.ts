import { BrokenFile, type Delimiter } from './row.js';

/**
 * Runs along the bytes ahead of csv-parse and notes for each record the physical line it begins on and what
 * is wrong with its quotes. csv-parse cannot tell either: it counts a CR LF inside quotes as two lines, and
 * it is either strict, refusing the ="119…" that spreadsheet exports are full of, or relaxed and silent about
 * every stray quote. Both see the same record ends; where the scanner and csv-parse read a stray quote, they
 * read it alike (as text), and the row is a fault in any case.
 *
 *   START ──"──► QUOTED ◄──"──► AFTER_QUOTE ──delimiter──► START
 *     │                              │ anything else: a stray quote
 *     └─ anything else ──► PLAIN ◄───┘      CR ──► AFTER_CR ──LF──► end of the record
 */
export class RecordScanner {
  /** The physical line that the next byte stands on. */
  line = 1;
  /** Set once a record is too large, or a quote stays open; the file ends there. */
  broken: BrokenFile | undefined;
  /** The end of the last whole record within the last chunk; 0 or less where none ended. */
  recordsEnd = 0;
  /** The line on which each record begins that ended in the last chunk, and its flaw. */
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

  /** Measures one chunk and returns how many of its bytes may be parsed. */
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

  /** The file has ended: an open quote is what an unclosed one looks like. */
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

  /** A stray quote in a cell of several lines may have swallowed whole rows: then no row end is certain. */
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

const QUOTE = 0x22;
const EQUALS = 0x3d;
const LF = 10;
const CR = 13;

type State = 0 | 1 | 2 | 3 | 4 | 5;
const START: State = 0;
const PLAIN: State = 1;
const QUOTED: State = 2;
const AFTER_QUOTE: State = 3;
const AFTER_CR: State = 4;
const AFTER_QUOTE_CR: State = 5;

/** A flaw is a small number, kind and cell in one, because most records have none and there are millions. */
const STRAY_QUOTE = 1;
export const SWALLOWING_QUOTE = 2;
export const LONE_CR = 3;

function flawAt(kind: number, cell: number): number {
  return kind + cell * 4;
}
export function flawKind(flaw: number): number {
  return flaw % 4;
}
export function flawCell(flaw: number): number {
  return Math.floor(flaw / 4);
}
