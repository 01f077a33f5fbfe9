import { CsvError } from 'csv-parse/sync';
import { undefuse } from '../core/formula-cells.js';
import { ByteGuard, countLineFeeds } from './bytes.js';
import type { IntakeLimits } from './open.js';
import { parseRecords } from './records.js';
import { BrokenFile, type Delimiter } from './row.js';

/** A record from the beginning of the file, as text. */
export type HeaderLine = {
  readonly text: string;
  readonly line: number;
  /** The delimiter that a `sep=` line above it named. */
  readonly delimiter: Delimiter | null;
};

/** The first records that are not blank. The first of them is the header, unless the operator names another line. */
export type Head = { readonly first: HeaderLine; readonly records: readonly HeaderLine[] };

/** The number of records that are searched for a header and that show what a column holds. */
const HEAD_RECORDS = 50;
/** Those records must fit into this size. Only the header itself may be larger. */
const HEAD_BYTES = 256 * 1024;

const LINE_FEED = 10;

type HeadLimits = Pick<IntakeLimits, 'recordBytesMax'>;

/** Reads only the header line. */
export async function readHeaderLine(chunks: AsyncIterable<Buffer>, limits: HeadLimits): Promise<HeaderLine> {
  return soundHeader((await readHead(chunks, limits)).first, limits);
}

/**
 * Reads the beginning of the file without knowing the delimiter. A record still has a clear end: a line feed with an
 * even number of quotes before it.
 */
export async function readHead(chunks: AsyncIterable<Buffer>, { recordBytesMax }: HeadLimits): Promise<Head> {
  const guard = new ByteGuard();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let lines = 1;
  let ended = true;
  let records: readonly HeaderLine[] = [];
  for await (const chunk of chunks) {
    const text = guard.pass(chunk, lines);
    // Copy the text, because the chunk's memory is reused for the next chunk.
    pieces.push(Buffer.from(text));
    bytes += text.length;
    lines += countLineFeeds(text);
    ended = false;
    // A record ends only at a line feed. Without this check, a record of megabytes would be parsed again with each
    // chunk.
    if (text.includes(LINE_FEED)) records = headRecords(Buffer.concat(pieces), false);
    if (records.length >= HEAD_RECORDS || (records.length > 0 && bytes > HEAD_BYTES)) return headOf(records);
    if (bytes > 2 * recordBytesMax) break;
    ended = true;
  }
  if (ended) guard.end(lines);
  return headOf(headRecords(Buffer.concat(pieces), true));
}

function headOf(records: readonly HeaderLine[]): Head {
  const [first] = records;
  if (first !== undefined) return { first, records };
  const message = 'The file is empty; expected a header line and at least one row.';
  throw new BrokenFile('ALM_FILE_EMPTY', 0, message);
}

/**
 * Splits the beginning of a file into records. `whole`: the bytes are the whole file, so the last record may lack a
 * line feed.
 */
function headRecords(bytes: Buffer, whole: boolean): HeaderLine[] {
  const records: HeaderLine[] = [];
  let start = 0;
  let line = 1;
  let delimiter: Delimiter | null = null;
  while (start < bytes.length && records.length < HEAD_RECORDS) {
    const end = recordEnd(bytes, start);
    if (end === -1 && !whole) break;
    const stop = end === -1 ? bytes.length : end;
    const text = bytes.toString('utf8', start, stop).replace(/\r?\n$/, '');
    const separator = start === 0 ? /^"?sep=([^"]*)"?$/i.exec(text) : null;
    if (separator !== null) delimiter = separatorOf(separator[1] ?? '');
    else if (text.trim() !== '') records.push({ text, line, delimiter });
    line += text.split('\n').length;
    start = stop;
  }
  return records;
}

/** Returns the record that is the header, or throws the reason why it cannot be one. */
export function soundHeader(head: HeaderLine, { recordBytesMax }: HeadLimits): HeaderLine {
  const { text, line } = head;
  const unquoted = text.replace(/"[^"]*"/g, '');
  if (unquoted.includes('\r'))
    throw new BrokenFile(
      'ALM_FILE_LINE_ENDS',
      line,
      'The lines end with a lone CR, as on very old Macs; expected LF or CR LF. Save the file as "CSV UTF-8".',
    );
  if (Buffer.byteLength(text) > recordBytesMax)
    throw new BrokenFile(
      'ALM_FILE_RECORD_TOO_LARGE',
      line,
      `The header line is larger than ${recordBytesMax} bytes; is a quote in it not closed?`,
    );
  if (unquoted.includes('"')) throw openQuote(line);
  return head;
}

/** The position after the line feed that ends the record, or -1. */
function recordEnd(bytes: Buffer, start: number): number {
  let quoted = false;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) quoted = !quoted;
    else if (byte === LINE_FEED && !quoted) return at + 1;
  }
  return -1;
}

function separatorOf(text: string): Delimiter {
  if (text === ',' || text === ';' || text === '\t') return text;
  throw new BrokenFile(
    'ALM_FILE_SEPARATOR',
    1,
    `The sep= line names ${JSON.stringify(text)} as the delimiter; expected a comma, a semicolon or a tab.`,
  );
}

export const DELIMITERS = [',', ';', '\t'] as const;

/**
 * Splits the header. If no `sep=` line names the delimiter, use the one that yields most known names; if none does,
 * the one that yields most cells.
 */
export function splitHeader(
  { text, line, delimiter: named }: HeaderLine,
  isKnown: (name: string) => boolean,
): { readonly delimiter: Delimiter; readonly names: readonly string[] } {
  const candidates = named === null ? DELIMITERS : [named];
  const splits = candidates.flatMap((delimiter) => {
    const names = headerCells(text, delimiter);
    if (names === undefined) return [];
    return [{ delimiter, names, score: names.filter(isKnown).length * 1000 + Math.min(names.length, 999) }];
  });
  const [best] = splits.sort((a, b) => b.score - a.score);
  // A stray quote inside a name can leave the last quote open, even if the number of quotes is even.
  if (best === undefined) throw openQuote(line);
  return best;
}

function openQuote(line: number): BrokenFile {
  return new BrokenFile(
    'ALM_FILE_QUOTES',
    line,
    `A quote opened in the header on line ${line} is not closed before the end of the file. Close it.`,
  );
}

/** The header's cells; undefined if a quote stays open. */
export function headerCells(text: string, delimiter: Delimiter): string[] | undefined {
  try {
    return parseRecords(text, delimiter)[0]?.map(undefuse) ?? [];
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') return undefined;
    throw error;
  }
}
