import { parse } from 'csv-parse/sync';
import { undefuse } from '../../core/formula-cells.js';
import { columnNamed } from '../columns.js';
import type { HeaderLine } from '../header-line.js';
import type { Delimiter } from '../row.js';

/** The header of an audience: the delimiter that a `sep=` line names, else the one that shows a member column. */
export function splitHeader(head: HeaderLine): {
  readonly delimiter: Delimiter;
  readonly names: readonly string[];
} {
  const candidates: readonly Delimiter[] = head.delimiter === null ? [',', ';', '\t'] : [head.delimiter];
  const splits = candidates.map((delimiter) => ({ delimiter, names: split(head.text, delimiter) }));
  const score = (names: readonly string[]) =>
    (names.some((name) => columnNamed(name) === 'member') ? 1000 : 0) + Math.min(names.length, 999);
  return splits.reduce((best, one) => (score(one.names) > score(best.names) ? one : best));
}

function split(text: string, delimiter: Delimiter): string[] {
  const records: unknown = parse(text, { delimiter, relax_quotes: true, relax_column_count: true });
  const first: unknown = Array.isArray(records) ? records[0] : undefined;
  return Array.isArray(first) ? first.map((name) => undefuse(String(name))) : [];
}
