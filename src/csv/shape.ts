import type { ErrorCode } from '../core/errors/catalogue.js';
import { show } from '../core/visible.js';
import {
  type Column,
  type ColumnMap,
  columnNamed,
  headerKey,
  nearlyNamed,
  ownColumnNamed,
  spellingsOf,
} from './columns.js';
import { type HeaderLine, splitHeader } from './header.js';
import type { IntakeLimits } from './open.js';
import type { FileFaults, Finding, Sheet } from './row.js';

/** What the first stage found out; the second reads every row by it. Columns are positions, -1 for none. */
export type Shape = {
  readonly sheet: Sheet;
  readonly headerLine: number;
  /** All names of the header, own columns included, as the file spells them. */
  readonly names: readonly string[];
  /** Positions that belong to the sheet: all but the columns that our own reports add. */
  readonly kept: readonly number[];
  readonly columns: Readonly<Record<Column | 'order', number>>;
};

/** The header of a results.csv, whose rows are mostly paid and whose references have become `in_reference`. */
const RESULTS_HEADER = ['line', 'order', 'op', 'member', 'state', 'attempts', 'evidence', 'settled_at'];

/**
 * The first stage: finds delimiter and columns. Names are never used as keys of an object, so that a column
 * called `__proto__` is just a column.
 */
export function findShape(
  head: HeaderLine,
  map: ColumnMap,
  limits: Pick<IntakeLimits, 'columnsMax'>,
): Shape | FileFaults {
  const wanted = new Set([...map.values()].map(headerKey));
  const { delimiter, names } = splitHeader(
    head,
    (name) => columnNamed(name) !== undefined || wanted.has(headerKey(name)),
  );
  const faults: Finding[] = [];
  const fault: HeaderFault = (code, column, message) => {
    faults.push({ line: head.line, column, code, message });
  };
  const keys = names.map(headerKey);
  if (names.length > limits.columnsMax)
    fault(
      'ALM_FILE_TOO_MANY_COLUMNS',
      null,
      `The header has ${names.length} columns, at most ${limits.columnsMax} are read.`,
    );
  else if (RESULTS_HEADER.every((name) => keys.includes(name)))
    fault(
      'ALM_FILE_IS_RESULTS',
      null,
      'This is a results.csv of a report, and most of its rows may be paid already. Run failed.csv or unprocessed.csv of that report instead.',
    );
  else if (
    names.every((name) => columnNamed(name) === undefined) &&
    names.some((name) => /^\s*-?[0-9]+\s*$/.test(name))
  )
    fault(
      'ALM_FILE_HEADER_MISSING',
      null,
      `Line ${head.line} (${show(head.text)}) looks like a row; expected a header line such as member${delimiter}tokens.`,
    );
  if (faults.length > 0) return { faults };

  const columns: Record<Column | 'order', number> = {
    member: -1,
    tokens: -1,
    recipient: -1,
    op: -1,
    reference: -1,
    reason: -1,
    realm: -1,
    currency: -1,
    order: -1,
  };
  for (const [column, header] of map) {
    columns[column] = keys.indexOf(headerKey(header));
    if (columns[column] === -1)
      fault(
        'ALM_FILE_MAP',
        null,
        `--map ${column}=${header}: the header has no column ${show(header)}; it has ${names.map((name) => show(name)).join(', ')}.`,
      );
  }
  const mapped = new Set([...map.keys()].map((column) => columns[column]));
  const kept: number[] = [];
  const own = new Set<string>();
  names.forEach((name, index) => {
    const mine = ownColumnNamed(name);
    if (mine !== undefined) {
      if (own.has(mine))
        fault('ALM_FILE_COLUMN_TWICE', name, `The column ${show(name)} stands twice in the header.`);
      own.add(mine);
      if (mine === 'almoner_order') columns.order = index;
      return;
    }
    kept.push(index);
    if (mapped.has(index)) return;
    const column = columnNamed(name);
    if (column === undefined || map.has(column)) return;
    const earlier = names[columns[column]];
    if (earlier === undefined) columns[column] = index;
    else
      fault(
        'ALM_FILE_COLUMN_TWICE',
        name,
        `Columns ${show(earlier)} and ${show(name)} both mean ${column}; remove or rename one, or name the right one with --map ${column}=COLUMN.`,
      );
  });
  faultMisspelt(names, columns, mapped, fault);
  faultTwins(names, keys, fault);
  faultMissing(columns, map, faults, fault);
  if (faults.length > 0) return { faults };
  const header = kept.map((index) => names[index] ?? '');
  return { sheet: { delimiter, header }, headerLine: head.line, names, kept, columns };
}

/** Reports one fault of the header line. */
type HeaderFault = (code: ErrorCode, column: string | null, message: string) => void;

/** A column whose meaning is filled already may be followed by any similar name: `reason`, `season`. */
function faultMisspelt(
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
function faultTwins(names: readonly string[], keys: readonly string[], fault: HeaderFault): void {
  const seen = new Set<string>();
  keys.forEach((key, index) => {
    const name = names[index] ?? '';
    const handled = columnNamed(name) !== undefined || ownColumnNamed(name) !== undefined;
    if (key !== '' && !handled && seen.has(key))
      fault('ALM_FILE_COLUMN_TWICE', name, `The column ${show(name)} stands twice in the header.`);
    seen.add(key);
  });
}

function faultMissing(
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
