import { COLUMNS, type Column } from '../core/columns.js';
import { type ColumnMap, columnNamed, headerKey } from './columns.js';

/** A mapping that a person gave for the same header in an earlier file of this realm. */
export type KeptColumns = { readonly map: ColumnMap; readonly who: string; readonly at: number };

/**
 * The effect of one kept pair on a file for which the operator does not repeat it. `fills`: it names the missing
 * column for the member or the tokens. `changes`: the file reads differently with it. `refused`: it would close or
 * move a column with a documented name, so it is ignored. `none`: the file reads the same without it.
 */
type KeptEffect = 'fills' | 'changes' | 'refused' | 'none';

/** One pair of a kept mapping with its effect. */
export type KeptPair = {
  readonly column: Column;
  /** The column's name. Empty: no column has this meaning. */
  readonly header: string;
  readonly effect: KeptEffect;
};

/** Finds the effect of each kept pair, compared with how the columns read without it. */
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

/** The documented meaning of a name. A reason moves no points, so a mapping may replace it. */
function nameOfContract(name = ''): Column | undefined {
  const column = columnNamed(name);
  return column === 'reason' ? undefined : column;
}

export function keptPairText({ column, header }: Pick<KeptPair, 'column' | 'header'>): string {
  return `${column}=${header}`;
}
