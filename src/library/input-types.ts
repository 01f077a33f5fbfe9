import type { Op } from './output-types.js';

/** The input of a payment: a file, or rows. The options of each call are in option-types.ts. */

/** One order to be made, as a line of a CSV file would say it. */
export interface PayRow {
  /** Decimal digits, as text: ids of 17 digits and more do not survive a JavaScript number. */
  readonly member: string;
  /** A whole number that is not zero; negative amounts subtract. */
  readonly tokens: number | bigint | string;
  /** Makes the row a transfer from `member` to this one. */
  readonly recipient?: string | undefined;
  /** Where left out, a recipient means transfer, else the sign decides. */
  readonly op?: Op | undefined;
  /** The business key under which the order is paid once in its realm, in whatever batch it stands: an event's id. */
  readonly reference?: string | undefined;
  readonly reason?: string | undefined;
  /** The dead letter that this row stands in for, by its order id. */
  readonly replaces?: string | undefined;
  /** Further columns, which come back in results and reports. */
  readonly columns?: Readonly<Record<string, string>> | undefined;
}

/** What is to be paid: a CSV file, or rows. The same orders are the same batch, whichever they come from. */
export type Input =
  | {
      readonly file: string;
      /**
       * Columns of the file by their meaning, such as `{ tokens: 'Punkte' }`; an empty name takes none. It is kept under
       * the header for the realm. Kept pairs that change what a later file means are not taken unless repeated.
       */
      readonly map?: Readonly<Record<string, string>> | undefined;
      /** Takes no names that were kept under the header, and forgets them. */
      readonly forgetMap?: boolean | undefined;
      /** The line of the header, counted from 1. */
      readonly headerLine?: number | undefined;
      /** The file of a table that turns wallets or handles into member ids. */
      readonly members?: string | undefined;
      readonly rows?: never;
    }
  | {
      readonly rows: readonly PayRow[];
      /** What people know them by: the batch's `source`. */
      readonly name?: string | undefined;
      readonly file?: never;
    };

export type Sum = number | bigint | string;

/** Sums of amounts by direction, without their signs; one that is left out is 0. */
export interface ExpectedTokens {
  readonly given?: Sum | undefined;
  readonly taken?: Sum | undefined;
  readonly moved?: Sum | undefined;
}
