import type { Column } from '../core/columns.js';
import { shellWord } from '../core/shell-word.js';
import { invisibleIn, show } from '../core/visible.js';
import { type ColumnMap, columnNamed, headerKey, isKeyName, ownColumnNamed, spellingsOf } from './columns.js';
import { type Head, headerCells, splitHeader } from './header.js';
import { judgeKept } from './kept-columns.js';
import { type ChosenColumns, headerBelow, isKnown, rowsAbove } from './mapping.js';
import { nearlyNamed } from './misspelt.js';
import type { IntakeLimits } from './open.js';
import type { FileFaults, Finding, FoundColumns, Sheet } from './row.js';
import { type HeaderFault, listed, TakenColumns } from './taken-columns.js';

/** The result of the first stage, by which the second reads every row. Columns are positions; -1 for none. */
export type Shape = {
  readonly sheet: Sheet;
  readonly headerLine: number;
  /** All names of the header as the file spells them, including own report columns. */
  readonly names: readonly string[];
  /** The positions that belong to the sheet: all except the columns that almoner's reports add. */
  readonly kept: readonly number[];
  readonly columns: Readonly<Record<Column | 'order', number>>;
  readonly found: FoundColumns | null;
};

/** The header of a results.csv. Most of its rows are paid, and its references are in `in_reference`. */
const RESULTS_HEADER = ['line', 'order', 'op', 'member', 'state', 'attempts', 'evidence', 'settled_at'];

/**
 * Runs the first stage: finds delimiter and columns. Column names are never used as keys of an object, so a column
 * named `__proto__` does no harm.
 */
export function findShape(
  head: Head,
  chosen: ChosenColumns,
  limits: Pick<IntakeLimits, 'columnsMax'>,
  /** With a member table, columns of wallets and handles count as member columns. */
  byTable = false,
): Shape | FileFaults {
  const { header, kept } = chosen;
  const wanted = new Set(
    [...(kept?.map ?? []), ...chosen.map, ...chosen.usual].map(([, name]) => headerKey(name)).filter(Boolean),
  );
  const { delimiter, names } = splitHeader(header, (name) => isKnown(name) || wanted.has(headerKey(name)));
  const faults: Finding[] = [];
  const fault: HeaderFault = (code, column, message) => {
    faults.push({ line: header.line, column, code, message });
  };
  const keys = names.map(headerKey);
  faultHeader(keys, limits, fault);
  if (faults.length > 0) return { faults };

  const cells = head.records
    .filter(({ line }) => line > header.line)
    .map(({ text }) => headerCells(text, delimiter) ?? []);
  const { taken, said, pairs } = takeColumns({ names, keys }, chosen, byTable, fault);
  const { columns } = taken;
  faultMisspelt(names, columns, said, fault);
  faultTwins(names, keys, faults, fault);
  const missing = (['member', 'tokens'] as const).filter((column) => columns[column] === -1);
  const below =
    missing.length === 0
      ? null
      : (chosen.keptBelow ?? headerBelow(head, header.line, new Map([...chosen.usual, ...said])));
  const noHeader = whyNoHeader(header, { below, isEmpty: missing.length === 2, names, delimiter });
  if (noHeader !== null) {
    faults.length = 0;
    fault(noHeader.code, null, noHeader.message);
  } else faultMissing(missing, { names, cells, columns, map: said, byTable }, faults, fault);
  if (missing.length === 0) faultRowsAbove(head, { line: header.line, width: names.length, columns }, fault);
  const found = {
    ...taken.found(header.line, cells),
    headerBelow: below,
    said: chosen.said ? said : null,
    kept: kept && { who: kept.who, at: kept.at, pairs },
  };
  if (faults.length > 0) return { faults, found };
  const own = names.flatMap((name, index) => (ownColumnNamed(name) === undefined ? [index] : []));
  const sheet = { delimiter, header: own.map((index) => names[index] ?? ''), spelt: taken.spelt() };
  return { sheet, headerLine: header.line, names, kept: own, columns, found };
}

/** Refuses a header with too many columns, and that of a results.csv. */
function faultHeader(
  keys: readonly string[],
  { columnsMax }: Pick<IntakeLimits, 'columnsMax'>,
  fault: HeaderFault,
): void {
  if (keys.length > columnsMax)
    fault(
      'ALM_FILE_TOO_MANY_COLUMNS',
      null,
      `The header has ${keys.length} columns, at most ${columnsMax} are read.`,
    );
  else if (RESULTS_HEADER.every((name) => keys.includes(name)))
    fault(
      'ALM_FILE_IS_RESULTS',
      null,
      'This is a results.csv of a report, and most of its rows may be paid already. Run failed.csv or unprocessed.csv of that report instead.',
    );
}

/** Returns why the line is not a header; null if it may be one. `isEmpty`: it names neither members nor tokens. */
function whyNoHeader(
  { line, text }: ChosenColumns['header'],
  {
    below,
    isEmpty,
    names,
    delimiter,
  }: {
    readonly below: number | null;
    readonly isEmpty: boolean;
    readonly names: readonly string[];
    readonly delimiter: string;
  },
): Pick<Finding, 'code' | 'message'> | null {
  if (below !== null)
    return {
      code: 'ALM_FILE_HEADER_BELOW',
      message: `Line ${line} (${show(text)}) is not a header, but line ${below} looks like one. Use --header-line ${below} to take it and skip the lines above.`,
    };
  if (isEmpty && names.some((name) => /^\s*-?[0-9]+\s*$/.test(name)))
    return {
      code: 'ALM_FILE_HEADER_MISSING',
      message: `Line ${line} (${show(text)}) looks like a row; expected a header line such as member${delimiter}tokens.`,
    };
  return null;
}

/**
 * Refuses rows above the header, also if the operator named the header's line. Lines above the header are skipped, so
 * a row there would not be paid.
 */
function faultRowsAbove(head: Head, header: Parameters<typeof rowsAbove>[1], fault: HeaderFault): void {
  const lines = rowsAbove(head, header);
  if (lines.length === 0) return;
  const [what, they] =
    lines.length === 1 ? ['line looks like a row', 'it'] : ['lines look like rows', 'they'];
  fault(
    'ALM_FILE_ROWS_ABOVE',
    null,
    `${lines.length} ${what} above the header on line ${header.line}, and ${they} would not be paid: ${lines.slice(0, LINES_SHOWN).join(', ')}${lines.length > LINES_SHOWN ? ', …' : ''}.`,
  );
}

const LINES_SHOWN = 20;

/** Assigns the columns: by the operator's mapping, a kept mapping, the profile, and their names, in that order. */
function takeColumns(
  { names, keys }: { readonly names: readonly string[]; readonly keys: readonly string[] },
  { map, kept, usual }: ChosenColumns,
  byTable: boolean,
  fault: HeaderFault,
) {
  const take = (pairs: ColumnMap, onFault: HeaderFault) => {
    const taken = new TakenColumns(names, keys, onFault);
    taken.mapped(map, 'said');
    taken.mapped(pairs, 'kept');
    taken.usual(usual);
    taken.named();
    taken.like();
    if (byTable) taken.byTable();
    return taken;
  };
  const without = take(new Map(), () => {});
  const pairs = judgeKept(kept?.map ?? new Map(), without.columns, names);
  const left = pairs.filter(({ effect }) => effect !== 'refused');
  const used: ColumnMap = new Map(left.map(({ column, header }) => [column, header]));
  return { taken: take(used, fault), said: new Map([...used, ...map]), pairs };
}

/**
 * Refuses a misspelt column name. If another column already has the meaning, a similar name such as `season` is
 * allowed.
 */
function faultMisspelt(
  names: readonly string[],
  columns: Readonly<Record<Column, number>>,
  map: ColumnMap,
  fault: HeaderFault,
): void {
  const taken = new Set(Object.values(columns));
  names.forEach((name, index) => {
    if (taken.has(index) || columnNamed(name) !== undefined || ownColumnNamed(name) !== undefined) return;
    const near = nearlyNamed(name);
    if (near === undefined || columns[near.column] !== -1 || map.has(near.column)) return;
    fault(
      'ALM_FILE_COLUMN_MISSPELT',
      name,
      `The column ${show(name)} is nearly ${near.spelling}; rename it so, name it with ${mapHint(near.column, name)}, or give it a clearly different name.`,
    );
  });
}

/** Refuses two columns with the same name and no meaning, because it is unclear which one counts. */
function faultTwins(
  names: readonly string[],
  keys: readonly string[],
  faults: readonly Finding[],
  fault: HeaderFault,
): void {
  const seen = new Set<string>();
  keys.forEach((key, index) => {
    const name = names[index] ?? '';
    const reported = faults.some(({ code, column }) => code === 'ALM_FILE_COLUMN_TWICE' && column === name);
    const handled = reported || columnNamed(name) !== undefined || ownColumnNamed(name) !== undefined;
    if (key !== '' && !handled && seen.has(key))
      fault('ALM_FILE_COLUMN_TWICE', name, `The column ${show(name)} occurs twice in the header.`);
    seen.add(key);
  });
}

type Unnamed = {
  readonly names: readonly string[];
  readonly cells: readonly (readonly string[])[];
  readonly columns: Readonly<Record<Column, number>>;
  readonly map: ColumnMap;
  readonly byTable: boolean;
};

/** Reports missing columns, with the columns that look like them. */
function faultMissing(
  missing: readonly ('member' | 'tokens')[],
  { names, cells, columns, map, byTable }: Unnamed,
  faults: readonly Finding[],
  fault: HeaderFault,
): void {
  const suggested = faults.filter((found) => found.code === 'ALM_FILE_COLUMN_MISSPELT');
  const taken = new Set(Object.values(columns));
  for (const column of missing) {
    if (map.has(column)) continue;
    // The misspelt column is the missing one, so do not report it twice.
    if (suggested.some((found) => nearlyNamed(found.column ?? '')?.column === column)) continue;
    const offered = names.filter((name, index) => {
      const filled = cells.map((row) => row[index]?.trim() ?? '').filter((cell) => cell !== '');
      return (
        name.trim() !== '' &&
        !taken.has(index) &&
        filled.length > 0 &&
        filled.every((cell) => LOOKS[column].test(cell))
      );
    });
    const offers = offered.slice(0, OFFERS_MAX).map((name) => mapHint(column, name));
    const way =
      offers.length > 0
        ? `${offered.length === 1 ? 'One column looks like it' : 'Some columns look like it'}: ${offers.join(' or ')}.`
        : `Name it with ${mapHint(column, 'COLUMN')}.`;
    const table =
      column === 'member' && !byTable && names.some(isKeyName)
        ? ' To pay by wallet or handle, give the table that turns them into members with --members FILE.'
        : '';
    fault(
      'ALM_FILE_COLUMN_MISSING',
      null,
      `There is no column for ${column}, which is called ${spellingsOf(column)}; the header has ${listed(names)}. ${way}${table}`,
    );
  }
}

/** How cells look in a member or tokens column whose name is unknown. */
const LOOKS = { member: /^'?(?:<@!?)?[0-9]{15,20}>?$/, tokens: /^[-+]?[0-9]{1,9}(?:[.,]00?)?$/ } as const;
const OFFERS_MAX = 3;

/**
 * A --map option quoted for a shell. A name with invisible characters is not offered, because nobody could type it.
 */
function mapHint(column: Column, name: string): string {
  return `--map ${invisibleIn(name) === undefined ? shellWord(`${column}=${name}`) : `${column}=COLUMN`}`;
}
