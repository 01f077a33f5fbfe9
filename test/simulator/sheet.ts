import { type BatchId, type MemberId, type OrderId, orderId, parseOrderId } from '../../src/core/ids.js';
import type { Order } from '../../src/core/order.js';
import { csvLine } from '../../src/report/csv-files.js';

/** Files as people write them, and the intention behind each row. */

export type Row = {
  readonly order: Order;
  /** The text in the file instead of the member, if a table maps it to the member. */
  readonly handle?: string;
  readonly reference: string | null;
  readonly replaces: OrderId | null;
  /** One wish of a person. A row that stands in for another row, or repeats it, has the same intention. */
  readonly intention: string;
  /** The intention that the row takes back, or null. */
  readonly undoes: string | null;
};

/** A file as the program receives it. */
export type Given = {
  readonly rows: readonly Row[];
  readonly again: string | null;
  readonly newRowsOnly: boolean;
  /** The number of the rule's run, if the rows are its awards. */
  readonly run: number | null;
  /** Members by handle, if the file has handles. */
  readonly table: ReadonlyMap<string, MemberId> | null;
};
export type File = Given & { readonly id: BatchId };

export function rowsGiven(rows: readonly Row[], more: Partial<Given> = {}): Given {
  return { rows, again: null, newRowsOnly: false, run: null, table: null, ...more };
}

export function orderNamed(text: string): OrderId {
  const named = parseOrderId(text);
  if (named === undefined) throw new Error(`${text} names no order`);
  return orderId(named.batch, named.index);
}

const HEADER = ['recipient', 'op', 'tokens', 'reference', 'almoner_order'];

export function csvOf(rows: readonly Row[]): string {
  const lines = rows.map(({ order: { op, member, recipient, tokens }, handle, reference, replaces }) =>
    csvLine([handle ?? member, recipient ?? '', op, tokens, reference ?? '', replaces ?? ''], ','),
  );
  const byHandle = rows.some(({ handle }) => handle !== undefined);
  return [csvLine([byHandle ? 'handle' : 'member', ...HEADER], ','), ...lines].join('');
}
