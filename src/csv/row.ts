import type { Column } from '../core/columns.js';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError } from '../core/errors/error.js';
import type { OrderId } from '../core/ids.js';
import type { Order } from '../core/order.js';
import type { RowHashes } from '../core/reference.js';
import type { CellNote } from './cells.js';
import type { ColumnMap } from './columns.js';
import type { KeptPair } from './kept-columns.js';

/** A fault or a warning about a file, with a place that a person can find. */
export type Finding = {
  /** Physical line in the file, counted from 1. 0 means the whole file. */
  readonly line: number;
  /** The column's name as the header spells it. Null means the line or the file. */
  readonly column: string | null;
  readonly code: ErrorCode;
  /** What was found, what was expected, and how to correct it. */
  readonly message: string;
};

/** A file that is refused: its faults, and the columns if the header could be read. */
export type FileFaults = { readonly faults: readonly Finding[]; readonly found?: FoundColumns };

/**
 * How a column got its meaning: by its exact name, a similar name, the operator's mapping, a kept mapping, the
 * profile, or the member table.
 */
export type TakenBy = 'name' | 'like' | 'said' | 'kept' | 'profile' | 'members';

/** The findings about the file's columns, shown before anything is paid. */
export type FoundColumns = {
  readonly headerLine: number;
  /** The line that looks like the header, if the line that was read does not. */
  readonly headerBelow: number | null;
  readonly columns: readonly {
    readonly name: string;
    readonly meaning: Column | 'order' | null;
    readonly by: TakenBy | null;
    /** Its first cells. */
    readonly cells: readonly string[];
  }[];
  /** The mapping or header line that the operator gave for this file. */
  readonly said: ColumnMap | null;
  /** The kept mapping: who gave it, when, and the effect of each pair that the operator does not repeat. */
  readonly kept: { readonly who: string; readonly at: number; readonly pairs: readonly KeptPair[] } | null;
};

/** A finding about the whole file. */
export function ofFile(code: ErrorCode, message: string): Finding {
  return { line: 0, column: null, code, message };
}

/** A note about an unusual spelling that was accepted. */
export type RowNote = {
  readonly note: CellNote;
  readonly column: string;
  readonly cell: string;
  readonly read: string;
};

/** One row that is a valid order. */
export type OrderRow = {
  readonly kind: 'order';
  readonly line: number;
  readonly order: Order;
  readonly reference: string | null;
  readonly reason: string | null;
  /** The order of an earlier batch that this row stands in for (a corrected row of failed.csv). */
  readonly replaces: OrderId | null;
  /**
   * The line of an earlier row of this file with the same reference and content. It makes this row `duplicate`.
   * Absent on all other rows.
   */
  readonly repeats?: number;
  /** The hashes, if the row was hashed already. Reading, judging and storing use the same ones. */
  readonly hashes?: RowHashes;
  /** Cells that were accepted although spelt unusually. Absent on most rows. */
  readonly notes?: readonly RowNote[];
  /** The hash of the row's content before the member table translated it. Absent without a table. */
  readonly origin?: string;
  /** The row as read, one cell per header column. Only the formula protection of almoner's own reports is removed. */
  readonly cells: readonly string[];
};

/** A row that cannot become an order. With --skip-invalid the batch carries it as `invalid`. */
export type InvalidRow = {
  readonly kind: 'invalid';
  readonly line: number;
  readonly findings: readonly Finding[];
  /** The row as read. Missing cells are empty; surplus cells are joined to the last one, so that no text is lost. */
  readonly cells: readonly string[];
};

export type Row = OrderRow | InvalidRow;

export type Delimiter = ',' | ';' | '\t';

/** The shape of a file: the result of the first stage. */
export type Sheet = {
  readonly delimiter: Delimiter;
  /** The header as the file spells it, without the columns that almoner's reports add. */
  readonly header: readonly string[];
  /** The header's spelling of each column with a meaning. If absent, columns have their standard names. */
  readonly spelt?: ReadonlyMap<Column, string>;
};

/**
 * A fault after which the rest of the file cannot be trusted: bytes that are not text, an unclosed quote, or an
 * exceeded limit. It ends the reading. --skip-invalid does not pass it, because rows after it could be missing
 * without notice.
 */
export class BrokenFile extends AlmonerError {
  readonly finding: Finding;

  constructor(code: ErrorCode, line: number, message: string, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.finding = { line, column: null, code, message };
  }
}
