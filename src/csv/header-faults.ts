import type { ErrorCode } from '../core/errors/catalogue.js';
import type { ColumnMap } from './column-map.js';
import { type Column, columnNamed, nearlyNamed, ownColumnNamed, spellingsOf } from './columns.js';
import type { Finding } from './row.js';
import { show } from './visible.js';

/** Reports one fault of the header line. */
export type HeaderFault = (code: ErrorCode, column: string | null, message: string) => void;

/** A column whose meaning is filled already may be followed by any similar name: `reason`, `season`. */
export function faultMisspelt(
  names: readonly string[],
  columns: Readonly<Record<Column, number>>,
  mapped: ReadonlySet<number>,
  fault: HeaderFault,
): void {
  names.forEach((name, index) => {
    if (mapped.has(index) || columnNamed(name) !== undefined || ownColumnNamed(name) !== undefined) return;
    const near = nearlyNamed(name);
    if (near === undefined || columns[near.column] !== -1) return;
    fault(
      'ALM_FILE_COLUMN_MISSPELT',
      name,
      `The column ${show(name)} is nearly ${near.spelling}; rename it so, name it with --map ${near.column}=COLUMN, or give it a clearly different name.`,
    );
  });
}

/** The same name twice, of columns without a meaning: which one a person meant is anybody's guess. */
export function faultTwins(names: readonly string[], keys: readonly string[], fault: HeaderFault): void {
  const seen = new Set<string>();
  keys.forEach((key, index) => {
    const name = names[index] ?? '';
    const handled = columnNamed(name) !== undefined || ownColumnNamed(name) !== undefined;
    if (key !== '' && !handled && seen.has(key))
      fault('ALM_FILE_COLUMN_TWICE', name, `The column ${show(name)} stands twice in the header.`);
    seen.add(key);
  });
}

export function faultMissing(
  columns: Readonly<Record<Column, number>>,
  map: ColumnMap,
  faults: readonly Finding[],
  fault: HeaderFault,
): void {
  const suggested = faults.filter((found) => found.code === 'ALM_FILE_COLUMN_MISSPELT');
  for (const column of ['member', 'tokens'] as const) {
    if (columns[column] !== -1 || map.has(column)) continue;
    // The misspelt column is the missing one; saying it twice does not help.
    if (suggested.some((found) => nearlyNamed(found.column ?? '')?.column === column)) continue;
    fault(
      'ALM_FILE_COLUMN_MISSING',
      null,
      `There is no column for ${column}; expected one of ${spellingsOf(column)}, or --map ${column}=COLUMN.`,
    );
  }
}
