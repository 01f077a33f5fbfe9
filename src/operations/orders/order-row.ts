import type { BatchRef, Manifest, RowView } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import type { OrderRow, ResultRow } from '../views/order.js';

/** An order as every face shows it. */
export function orderRow({ id, ledger: { realm } }: BatchRef, row: RowView): OrderRow {
  const { httpStatus, errorCode, error, sentAt, settledAt, cells: _, traces: __, ...same } = row;
  return {
    ...same,
    batch: id,
    realm: realm.name,
    rehearsal: realm.rehearsal,
    class: errorCode,
    status: httpStatus,
    message: error,
    sentAt: isoTime(sentAt),
    settledAt: isoTime(settledAt),
  };
}

/** The same under the names of results.csv, with the row as it was given. */
export function resultRow({ header }: Manifest, row: RowView): ResultRow {
  const { index: _, cells, traces: __, sentAt, settledAt, ...same } = row;
  return {
    ...same,
    sentAt: isoTime(sentAt),
    settledAt: isoTime(settledAt),
    // By definition, so that a column called `__proto__` is just a column.
    input: Object.fromEntries(header.map((name, at) => [name, cells[at] ?? ''])),
  };
}
