import { CsvError } from 'csv-parse/sync';
import { undefuse } from '../core/formula-cells.js';
import { ByteGuard } from './bytes.js';
import type { IntakeLimits } from './open.js';
import { parseRecords } from './records.js';
import { BrokenFile, type Delimiter } from './row.js';

/** The first record that is not blank, as text, and what a `sep=` line before it said. */
export type HeaderLine = {
  readonly text: string;
  readonly line: number;
  readonly delimiter: Delimiter | null;
};

/**
 * Finds the header without knowing the delimiter yet. Where it ends can be told all the same: at a line feed
 * with an even number of quotes before it.
 */
export async function readHeaderLine(
  chunks: AsyncIterable<Buffer>,
  { recordBytesMax }: Pick<IntakeLimits, 'recordBytesMax'>,
): Promise<HeaderLine> {
  const guard = new ByteGuard();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let ended = true;
  for await (const chunk of chunks) {
    const text = guard.pass(chunk, 1);
    // The chunk's memory is used again for the next.
    pieces.push(Buffer.from(text));
    bytes += text.length;
    ended = false;
    const found = findHeader(Buffer.concat(pieces), false, recordBytesMax);
    if (found !== undefined) return found;
    if (bytes > 2 * recordBytesMax) break;
    ended = true;
  }
  if (ended) guard.end(1);
  const found = findHeader(Buffer.concat(pieces), true, recordBytesMax);
  if (found !== undefined) return found;
  const message = 'The file is empty; expected a header line and at least one row.';
  throw new BrokenFile('ALM_FILE_EMPTY', 0, message);
}

function findHeader(bytes: Buffer, whole: boolean, recordBytesMax: number): HeaderLine | undefined {
  let start = 0;
  let line = 1;
  let delimiter: Delimiter | null = null;
  for (;;) {
    const end = recordEnd(bytes, start);
    if (end === -1 && !whole) return undefined;
    const stop = end === -1 ? bytes.length : end;
    const text = bytes.toString('utf8', start, stop).replace(/\r?\n$/, '');
    const separator = start === 0 ? /^"?sep=([^"]*)"?$/i.exec(text) : null;
    if (separator !== null) delimiter = separatorOf(separator[1] ?? '');
    else if (text.trim() !== '') {
      const unquoted = text.replace(/"[^"]*"/g, '');
      if (unquoted.includes('\r'))
        throw new BrokenFile(
          'ALM_FILE_LINE_ENDS',
          line,
          'The lines end with a lone CR, as on very old Macs; expected LF or CR LF. Save the file as "CSV UTF-8".',
        );
      if (stop - start > recordBytesMax)
        throw new BrokenFile(
          'ALM_FILE_RECORD_TOO_LARGE',
          line,
          `The header line is larger than ${recordBytesMax} bytes; is a quote in it not closed?`,
        );
      if (unquoted.includes('"')) throw openQuote(line);
      return { text, line, delimiter };
    }
    if (end === -1) return undefined;
    line += text.split('\n').length;
    start = end;
  }
}

/** The position behind the line feed that ends the record, or -1. */
function recordEnd(bytes: Buffer, start: number): number {
  let quoted = false;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x22) quoted = !quoted;
    else if (byte === 10 && !quoted) return at + 1;
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

/**
 * Splits the header. Where no `sep=` line names the delimiter, it is the one under which most names are known; where
 * none is, the one that gives most cells.
 */
export function splitHeader(
  { text, line, delimiter: named }: HeaderLine,
  isKnown: (name: string) => boolean,
): { readonly delimiter: Delimiter; readonly names: readonly string[] } {
  const candidates = named === null ? ([',', ';', '\t'] as const) : [named];
  const splits = candidates.flatMap((delimiter) => {
    const names = headerCells(text, delimiter);
    if (names === undefined) return [];
    return [{ delimiter, names, score: names.filter(isKnown).length * 1000 + Math.min(names.length, 999) }];
  });
  const [best] = splits.sort((a, b) => b.score - a.score);
  // A stray quote inside a name can leave the last one open, although their number is even.
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

/** The header's cells, or undefined where a quote in it stays open. */
function headerCells(text: string, delimiter: Delimiter): string[] | undefined {
  try {
    return parseRecords(text, delimiter)[0]?.map(undefuse) ?? [];
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') return undefined;
    throw error;
  }
}
