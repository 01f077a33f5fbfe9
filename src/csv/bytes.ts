import { isUtf8 } from 'node:buffer';
import { BrokenFile } from './row.js';

/**
 * Lets only UTF-8 text pass, chunk by chunk. It checks the bytes before any decoder sees them. A decoder replaces bad
 * bytes by U+FFFD, which would make two different references equal and a wrong name look right.
 */
export class ByteGuard {
  #offset = 0;
  /** Up to three bytes of a character that the end of the last chunk split. */
  #carry: Buffer = Buffer.alloc(0);

  /**
   * Returns the chunk without a byte order mark. Throws BrokenFile at the first byte that is not text. `line` is the
   * physical line on which the chunk begins.
   */
  pass(chunk: Buffer, line: number): Buffer {
    const first = this.#offset === 0;
    if (first) refuseByBeginning(chunk);
    const nul = chunk.indexOf(0);
    if (nul !== -1) this.#refuseNul(chunk, nul, line);
    const whole = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const cut = whole.length - tailOfCutCharacter(whole);
    if (!isUtf8(whole.subarray(0, cut))) this.#refuseEncoding(whole, line);
    this.#offset += chunk.length;
    this.#carry = Buffer.from(whole.subarray(cut));
    return first && hasMark(chunk) ? chunk.subarray(3) : chunk;
  }

  end(line: number): void {
    if (this.#carry.length === 0) return;
    this.#offset -= this.#carry.length;
    const rest = this.#carry;
    this.#carry = Buffer.alloc(0);
    this.#refuseEncoding(rest, line);
  }

  #refuseNul(chunk: Buffer, at: number, startLine: number): never {
    if (this.#offset === 0 && looksLikeUtf16(chunk)) throw utf16();
    const line = startLine + countLineFeeds(chunk.subarray(0, at));
    throw new BrokenFile(
      'ALM_FILE_NOT_CSV',
      line,
      `Byte ${this.#offset + at + 1} (line ${line}) is a NUL: this is a binary file or UTF-16 text, not CSV. Nothing was read further. Export it as "CSV UTF-8".`,
    );
  }

  #refuseEncoding(bytes: Buffer, startLine: number): never {
    const at = firstBadByte(bytes);
    const byte = bytes[at] ?? 0;
    const line = startLine + countLineFeeds(bytes.subarray(0, at));
    const place = this.#offset - this.#carry.length + at + 1;
    const hex = `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    const reading = new TextDecoder('windows-1252').decode(bytes.subarray(at, at + 1));
    throw new BrokenFile(
      'ALM_FILE_ENCODING',
      line,
      `Byte ${place} (line ${line}) is ${hex}, which is not UTF-8; in Windows-1252 it would be "${reading}". Export the file as "CSV UTF-8".`,
    );
  }
}

/** Refuses other file formats by their first bytes, with a hint how to get a CSV. */
function refuseByBeginning(head: Buffer): void {
  const [a, b] = head;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) throw utf16();
  const format = knownFormat(head);
  if (format === undefined) return;
  throw new BrokenFile('ALM_FILE_NOT_CSV', 0, `This is not a CSV file but ${format}.`);
}

function utf16(): BrokenFile {
  return new BrokenFile(
    'ALM_FILE_ENCODING',
    1,
    'The file is UTF-16 (Excel calls it "Unicode Text"), expected UTF-8. Export it as "CSV UTF-8".',
  );
}

/** Western text in UTF-16 has a NUL in every second byte. A single stray NUL in UTF-8 text does not match this. */
function looksLikeUtf16(head: Buffer): boolean {
  const sample = head.subarray(0, 1024);
  const nuls = [0, 0];
  sample.forEach((byte, at) => {
    if (byte === 0) nuls[at % 2] = (nuls[at % 2] ?? 0) + 1;
  });
  return Math.max(...nuls) * 2 >= sample.length * 0.6;
}

function hasMark(head: Buffer): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
}

/** The number of bytes at the end that begin a character without completing it: at most three. */
function tailOfCutCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? back : 0;
  }
  return 0;
}

/**
 * Finds the first bad byte by bisection: every prefix of valid UTF-8 is valid, except for a split character at its
 * end.
 */
function firstBadByte(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const prefix = bytes.subarray(0, middle);
    if (isUtf8(prefix.subarray(0, middle - tailOfCutCharacter(prefix)))) good = middle;
    else bad = middle;
  }
  return good - tailOfCutCharacter(bytes.subarray(0, good));
}

/** Counts line feeds, which gives the number of physical lines in a chunk. */
export function countLineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}

/** Formats that people often submit instead of CSV, recognized by their first bytes. */

const EXPORT = 'export it as "CSV UTF-8"';

const BINARY: readonly (readonly [magic: readonly number[], name: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], `an Excel workbook (or another zip archive): open it and ${EXPORT}`],
  [[0xd0, 0xcf, 0x11, 0xe0], `an old Excel workbook (.xls): open it and ${EXPORT}`],
  [[0x1f, 0x8b], 'a gzip archive: unpack it first'],
  [[0x25, 0x50, 0x44, 0x46], `a PDF document: ask for the table itself and ${EXPORT}`],
  [[0x50, 0x41, 0x52, 0x31], `a Parquet file: ${EXPORT}`],
  [[0x37, 0x7a, 0xbc, 0xaf], 'a 7-Zip archive: unpack it first'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'a Zstandard archive: unpack it first'],
  [[0x89, 0x50, 0x4e, 0x47], 'a PNG picture'],
];

/** Text formats that are not tables. No CSV header is known to begin like one of these. */
const TEXT: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^\s*<(!doctype|html|\?xml|table)/i, `a web page or XML: ${EXPORT}; a saved log-in page looks like this`],
  [/^\s*[[{]\s*["{[\]}]/, `JSON: ${EXPORT} instead`],
  [/^\s*\{\\rtf/, `a formatted text document (RTF): ${EXPORT}`],
];

/** Part of a sentence such as "a PDF document: …". Undefined if the beginning may be CSV. */
function knownFormat(head: Buffer): string | undefined {
  for (const [magic, name] of BINARY) if (magic.every((byte, at) => head[at] === byte)) return name;
  const text = head.subarray(0, 256).toString('latin1').replace(/^ï»¿/, '');
  return TEXT.find(([pattern]) => pattern.test(text))?.[1];
}
