import type { Op } from './output-types.js';

/** One order, with the fields of a CSV line. */
export interface PayRow {
  /** Decimal digits as text: a JavaScript number cannot hold ids of 17 digits and more exactly. */
  readonly member: string;
  /** A whole number other than zero. A negative amount subtracts. */
  readonly tokens: number | bigint | string;
  /** Makes the row a transfer from `member` to this member. */
  readonly recipient?: string | undefined;
  /** Left out, a recipient means transfer; else the sign decides. */
  readonly op?: Op | undefined;
  /**
   * The business key, such as an event's id. The realm's ledger pays one order under it, in whichever batch that
   * order is.
   */
  readonly reference?: string | undefined;
  readonly reason?: string | undefined;
  /** The order id of the dead letter that this row replaces. */
  readonly replaces?: string | undefined;
  /** Further columns. Results and reports return them. */
  readonly columns?: Readonly<Record<string, string>> | undefined;
}

/** The orders to pay: a CSV file, or rows. The same orders are the same batch, from either source. */
export type Input =
  | {
      readonly file: string;
      /**
       * Columns of the file by their meaning, such as `{ tokens: 'Punkte' }`. An empty name uses no column. almoner
       * keeps the mapping under the header for the realm. A kept pair that would change the meaning of a later file
       * is ignored unless repeated.
       */
      readonly map?: Readonly<Record<string, string>> | undefined;
      /** Ignores names kept under the header, and forgets them. */
      readonly forgetMap?: boolean | undefined;
      /** The line of the header, counted from 1. */
      readonly headerLine?: number | undefined;
      /** The path of a table that turns wallets or handles into member ids. */
      readonly members?: string | undefined;
      readonly rows?: never;
    }
  | {
      readonly rows: readonly PayRow[];
      /** The name that people see: the batch's `source`. */
      readonly name?: string | undefined;
      readonly file?: never;
    };

export type Sum = number | bigint | string;

/** Sums of amounts by direction, without signs. A sum left out is 0. */
export interface ExpectedTokens {
  readonly given?: Sum | undefined;
  readonly taken?: Sum | undefined;
  readonly moved?: Sum | undefined;
}
