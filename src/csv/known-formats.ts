/** Files that are not CSV but are often handed in as if they were, told by how they begin. */

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

/** Text that is not a table. A header that begins like one of these has never been seen. */
const TEXT: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^\s*<(!doctype|html|\?xml|table)/i, `a web page or XML: ${EXPORT}; a saved log-in page looks like this`],
  [/^\s*[[{]\s*["{[\]}]/, `JSON: ${EXPORT} instead`],
  [/^\s*\{\\rtf/, `a formatted text document (RTF): ${EXPORT}`],
];

/** A sentence part such as "a PDF document: …", or undefined where the beginning may well be CSV. */
export function knownFormat(head: Buffer): string | undefined {
  for (const [magic, name] of BINARY) if (magic.every((byte, at) => head[at] === byte)) return name;
  const text = head.subarray(0, 256).toString('latin1').replace(/^ï»¿/, '');
  return TEXT.find(([pattern]) => pattern.test(text))?.[1];
}
