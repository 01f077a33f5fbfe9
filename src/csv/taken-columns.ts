import { COLUMNS, type Column } from '../core/columns.js';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { show } from '../core/visible.js';
import { type ColumnMap, columnLike, columnNamed, headerKey, isKeyName, ownColumnNamed } from './columns.js';
import type { TakenBy } from './row.js';

export const NO_COLUMNS: Readonly<Record<Column | 'order', number>> = {
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

/** Reports one fault of the header line. */
export type HeaderFault = (code: ErrorCode, column: string | null, message: string) => void;

/** Records which column has which meaning, and why. */
export class TakenColumns {
  readonly columns: Record<Column | 'order', number> = { ...NO_COLUMNS };
  readonly #by = new Map<number, TakenBy>();
  /** Meanings to which no column may be assigned. */
  readonly #closed = new Set<Column>();

  constructor(
    private readonly names: readonly string[],
    private readonly keys: readonly string[],
    private readonly fault: HeaderFault,
  ) {}

  mapped(map: ColumnMap, by: TakenBy): void {
    for (const [column, header] of map) {
      if (header === '') {
        this.#closed.add(column);
        continue;
      }
      const index = this.#placeOf(header);
      if (index !== -1) this.#take(column, index, by);
      else
        this.fault(
          'ALM_FILE_MAP',
          null,
          `--map ${column}=${header}: the header has no column ${show(header)}; it has ${listed(this.names)}.`,
        );
    }
  }

  /** Applies the profile's mapping to the remaining columns that the header has. */
  usual(map: ColumnMap): void {
    for (const [column, header] of map) {
      const index = this.#placeOf(header);
      if (index !== -1 && this.#isOpen(column) && !this.#by.has(index)) this.#take(column, index, 'profile');
    }
  }

  named(): void {
    const mapped = new Set(this.#by.keys());
    const open = new Set(COLUMNS.filter((column) => this.#isOpen(column)));
    const own = new Set<string>();
    this.names.forEach((name, index) => {
      const mine = ownColumnNamed(name);
      if (mine !== undefined) {
        if (own.has(mine))
          this.fault('ALM_FILE_COLUMN_TWICE', name, `The column ${show(name)} occurs twice in the header.`);
        own.add(mine);
        if (mine === 'almoner_order') this.columns.order = index;
        return;
      }
      const column = columnNamed(name);
      if (column !== undefined && !mapped.has(index) && open.has(column))
        this.#takeOnce(column, index, 'name');
    });
  }

  /** Assigns similar names to meanings that no exact name has taken. */
  like(): void {
    const open = new Set(COLUMNS.filter((column) => this.#isOpen(column)));
    this.names.forEach((name, index) => {
      const column = columnLike(name);
      if (column !== undefined && open.has(column) && !this.#by.has(index))
        this.#takeOnce(column, index, 'like');
    });
  }

  byTable(): void {
    if (this.columns.member !== -1) return;
    this.names.forEach((name, index) => {
      if (isKeyName(name) && !this.#by.has(index)) this.#takeOnce('member', index, 'members');
    });
  }

  /** The column with the name; a fault if two columns have it, because it is unclear which one is meant. */
  #placeOf(header: string): number {
    const index = this.keys.indexOf(headerKey(header));
    if (index !== this.keys.lastIndexOf(headerKey(header)))
      this.fault(
        'ALM_FILE_COLUMN_TWICE',
        this.names[index] ?? null,
        `The column ${show(header)} occurs twice in the header; rename one.`,
      );
    return index;
  }

  #isOpen(column: Column): boolean {
    return this.columns[column] === -1 && !this.#closed.has(column);
  }

  #takeOnce(column: Column, index: number, by: TakenBy): void {
    const earlier = this.names[this.columns[column]];
    if (earlier === undefined) this.#take(column, index, by);
    else
      this.fault(
        'ALM_FILE_COLUMN_TWICE',
        this.names[index] ?? null,
        `Columns ${show(earlier)} and ${show(this.names[index] ?? '')} both mean ${column}; remove or rename one, or name the right one with --map ${column}=COLUMN.`,
      );
  }

  #take(column: Column, index: number, by: TakenBy): void {
    this.columns[column] = index;
    this.#by.set(index, by);
  }

  #meaningAt(index: number): Column | 'order' | null {
    if (index === this.columns.order) return 'order';
    return COLUMNS.find((column) => this.columns[column] === index) ?? null;
  }

  spelt(): Map<Column, string> {
    const filled = COLUMNS.filter((column) => this.columns[column] !== -1);
    return new Map(filled.map((column) => [column, this.names[this.columns[column]] ?? '']));
  }

  found(headerLine: number, cells: readonly (readonly string[])[]) {
    const columns = this.names.map((name, index) => ({
      name,
      meaning: this.#meaningAt(index),
      by: this.#by.get(index) ?? null,
      cells: cells.slice(0, CELLS_SHOWN).map((row) => show(row[index] ?? '')),
    }));
    return { headerLine, columns };
  }
}

const CELLS_SHOWN = 3;

export function listed(names: readonly string[]): string {
  return names.map((name) => show(name)).join(', ');
}
