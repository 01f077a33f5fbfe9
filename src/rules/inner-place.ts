/**
 * Where a character of a YAML text value stands in its source. A value is its lines without indentation,
 * joined by a blank or a line feed, so both sides can be walked together. Escapes in double quotes shift the
 * place by a character or two, which still leads to the right line.
 */
export function innerPlace(source: string, offset: number): number {
  const header = /^[|>][^\n]*\n/.exec(source)?.[0];
  const blockIndent = header === undefined ? Number.POSITIVE_INFINITY : indentOf(source.slice(header.length));
  let at = header?.length ?? (/^["']/.test(source) ? 1 : 0);
  let left = offset;
  for (let first = header === undefined; at < source.length; first = false) {
    const end = source.indexOf('\n', at);
    const line = source.slice(at, end === -1 ? source.length : end);
    const indent = first ? 0 : Math.min(blockIndent, line.length - line.trimStart().length);
    const length = line.length - indent;
    if (left <= length || end === -1) return Math.min(at + indent + left, source.length);
    // One character of the value, a blank or a line feed, stands for the line's end.
    left -= length + 1;
    at = end + 1;
  }
  return Math.min(at, source.length);
}

/** A block is indented as its first line that is not blank. */
function indentOf(lines: string): number {
  return /^(?:[ \t]*\n)*( *)/.exec(lines)?.[1]?.length ?? 0;
}
