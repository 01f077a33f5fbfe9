import type { Column } from '../core/columns.js';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError } from '../core/errors/error.js';
import type { OrderId } from '../core/ids.js';
import type { Order } from '../core/order.js';
import type { RowHashes } from '../core/reference.js';
import type { CellNote } from './cells.js';
import type { ColumnMap } from './columns.js';
import type { KeptPair } from './kept-columns.js';

/** Something wrong (fault) or odd (warning) with a file, at a place a person can find. */
export type Finding = {
  /** Physical line in the file, counted from 1; 0 where the whole file is meant. */
  readonly line: number;
  /** The column's name as the header spells it, or null where the line or file is meant. */
  readonly column: string | null;
  readonly code: ErrorCode;
  /** What was found, what was expected, and how to mend it. */
  readonly message: string;
};

export type FileFaults = { readonly faults: readonly Finding[]; readonly found?: FoundColumns };

/** Why a column is taken for something: its name, a name like it, what somebody said, or the table of members. */
export type TakenBy = 'name' | 'like' | 'said' | 'kept' | 'profile' | 'members';

/** What was found at the head of a file, for whoever looks at it before anything is paid. */
export type FoundColumns = {
  readonly headerLine: number;
  /** The line that looks like the header, where the one that was read does not. */
  readonly headerBelow: number | null;
  readonly columns: readonly {
    readonly name: string;
    readonly meaning: Column | 'order' | null;
    readonly by: TakenBy | null;
    /** Its first cells. */
    readonly cells: readonly string[];
  }[];
  /** What holds where somebody said it with this very file: which line is the header, or what a column means. */
  readonly said: ColumnMap | null;
  /** Who said something of the same header before, when, and what each pair does that is not repeated now. */
  readonly kept: { readonly who: string; readonly at: number; readonly pairs: readonly KeptPair[] } | null;
};

/** A finding that is of the whole file and of no place in it. */
export function ofFile(code: ErrorCode, message: string): Finding {
  return { line: 0, column: null, code, message };
}

export type RowNote = {
  readonly note: CellNote;
  readonly column: string;
  readonly cell: string;
  readonly read: string;
};

/** One row of the file that is an order. */
export type OrderRow = {
  readonly kind: 'order';
  readonly line: number;
  readonly order: Order;
  readonly reference: string | null;
  readonly reason: string | null;
  /** The order of an earlier batch that this row stands in for (a mended row of failed.csv). */
  readonly replaces: OrderId | null;
  /**
   * The line of an earlier row of this file with the same reference and the same content, which makes this
   * row `duplicate`. Absent on all other rows.
   */
  readonly repeats?: number;
  /** The hashes, where the row was hashed already: reading, judging and storing it need the same ones. */
  readonly hashes?: RowHashes;
  /** Cells that were taken although they are not written plainly; absent on most rows. */
  readonly notes?: readonly RowNote[];
  /** The hash of its content before a table of members was asked; absent without one. */
  readonly origin?: string;
  /** The row as read, one cell for each header column; only the defusing of our own reports is taken off. */
  readonly cells: readonly string[];
};

/** One row that cannot become an order; with --skip-invalid it is carried along as `invalid`. */
export type InvalidRow = {
  readonly kind: 'invalid';
  readonly line: number;
  readonly findings: readonly Finding[];
  /** The row as read; missing cells are empty, surplus ones are joined to the last, so that nothing is lost. */
  readonly cells: readonly string[];
};

export type Row = OrderRow | InvalidRow;

export type Delimiter = ',' | ';' | '\t';

/** The shape of a file: what the first stage found. */
export type Sheet = {
  readonly delimiter: Delimiter;
  /** The header as the file spells it, without the columns that our own reports add. */
  readonly header: readonly string[];
  /** How the header spells what has a meaning; by their own names where this is not said. */
  readonly spelt?: ReadonlyMap<Column, string>;
};

/**
 * A fault after which nothing more of the file can be trusted: bytes that are not text, quotes that leave it
 * open where a row ends, a limit. It ends the reading, and --skip-invalid does not get past it, because rows
 * behind it might be missing without anybody noticing.
 */
export class BrokenFile extends AlmonerError {
  readonly finding: Finding;

  constructor(code: ErrorCode, line: number, message: string, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.finding = { line, column: null, code, message };
  }
}
