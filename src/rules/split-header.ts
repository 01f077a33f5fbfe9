import { columnNamed } from '../csv/columns.js';
import { type HeaderLine, headerCells, openQuote } from '../csv/header-line.js';
import type { Delimiter } from '../csv/row.js';

/** The header of an audience: the delimiter that a `sep=` line names, else the one that shows a member column. */
export function splitHeader(head: HeaderLine): {
  readonly delimiter: Delimiter;
  readonly names: readonly string[];
} {
  const candidates: readonly Delimiter[] = head.delimiter === null ? [',', ';', '\t'] : [head.delimiter];
  const splits = candidates.flatMap((delimiter) => {
    const names = headerCells(head.text, delimiter);
    return names === undefined ? [] : [{ delimiter, names }];
  });
  const [first] = splits;
  if (first === undefined) throw openQuote(head.line);
  const score = (names: readonly string[]) =>
    (names.some((name) => columnNamed(name) === 'member') ? 1000 : 0) + Math.min(names.length, 999);
  return splits.reduce((best, one) => (score(one.names) > score(best.names) ? one : best), first);
}
