import { type BatchId, type OrderId, orderId, parseOrderId } from '../../src/core/ids.js';
import type { Order } from '../../src/core/order.js';
import { csvLine } from '../../src/report/csv-files.js';

/** Files as people write them, and what they mean by each row. */

export type Row = {
  readonly order: Order;
  readonly reference: string | null;
  readonly replaces: OrderId | null;
  /** What somebody wants once: a row that stands in for another, or repeats it, has that one's. */
  readonly intention: string;
  /** The intention that it takes back; null where it takes nothing back. */
  readonly undoes: string | null;
};

/** How the program is given a file. */
export type Given = {
  readonly rows: readonly Row[];
  readonly again: string | null;
  readonly newRowsOnly: boolean;
  /** The number of the rule's run, where its awards are the rows. */
  readonly run: number | null;
};
export type File = Given & { readonly id: BatchId };

export function rowsGiven(rows: readonly Row[], more: Partial<Given> = {}): Given {
  return { rows, again: null, newRowsOnly: false, run: null, ...more };
}

export function orderNamed(text: string): OrderId {
  const named = parseOrderId(text);
  if (named === undefined) throw new Error(`${text} names no order`);
  return orderId(named.batch, named.index);
}

const HEADER = ['member', 'recipient', 'op', 'tokens', 'reference', 'almoner_order'];

export function csvOf(rows: readonly Row[]): string {
  const lines = rows.map(({ order: { op, member, recipient, tokens }, reference, replaces }) =>
    csvLine([member, recipient ?? '', op, tokens, reference ?? '', replaces ?? ''], ','),
  );
  return [csvLine(HEADER, ','), ...lines].join('');
}
