import { COLUMNS, type Column } from '../core/columns.js';
import { type ColumnMap, columnNamed, headerKey } from './columns.js';

/** The mapping that somebody said of a header in an earlier file of the same realm. */
export type KeptColumns = { readonly map: ColumnMap; readonly who: string; readonly at: number };

/**
 * What one kept pair does to a file of which nobody repeats it. `fills`: it names the column for the member or the
 * tokens, which the file has none for. `changes`: without it the file is read otherwise. `refused`: it would close or
 * move a column that bears a name of the contract, so it is not taken. `none`: the file is read so in any case.
 */
type KeptEffect = 'fills' | 'changes' | 'refused' | 'none';

export type KeptPair = {
  readonly column: Column;
  /** The column's name; empty: no column is taken for the meaning. */
  readonly header: string;
  readonly effect: KeptEffect;
};

/** Judges the pairs of a kept mapping by what the columns are taken for without it. */
export function judgeKept(
  kept: ColumnMap,
  columns: Readonly<Record<Column, number>>,
  names: readonly string[],
): KeptPair[] {
  const keys = names.map(headerKey);
  const meaningAt = (at: number) => COLUMNS.find((column) => columns[column] === at) ?? null;
  return [...kept].map(([column, header]) => {
    const index = header === '' ? -1 : keys.indexOf(headerKey(header));
    const meaning = meaningAt(index);
    const closesName = names.some(
      (name, at) => at !== index && nameOfContract(name) === column && (meaningAt(at) ?? column) === column,
    );
    const named = nameOfContract(names[index]);
    const movesName = named !== undefined && named !== column && meaning !== column;
    const pair = { column, header };
    if (closesName || movesName) return { ...pair, effect: 'refused' };
    if (columns[column] === index) return { ...pair, effect: 'none' };
    const isNeeded = column === 'member' || column === 'tokens';
    const fills = isNeeded && columns[column] === -1 && meaning === null;
    return { ...pair, effect: fills ? 'fills' : 'changes' };
  });
}

/** A reason moves no points, so that another column may be taken for it. */
function nameOfContract(name = ''): Column | undefined {
  const column = columnNamed(name);
  return column === 'reason' ? undefined : column;
}

export function keptPairText({ column, header }: Pick<KeptPair, 'column' | 'header'>): string {
  return `${column}=${header}`;
}
