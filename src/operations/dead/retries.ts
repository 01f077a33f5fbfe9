import { approvalHash } from '../../core/approvals.js';
import { type BatchRef, type RowView, reading } from '../../ledger/index.js';
import { contextOf } from '../orders/find-orders.js';

/** Those of them that are dead letters now, with the hash that a request and an approval for exactly these names. */
export async function retriesOf(ref: BatchRef, indexes: readonly number[]) {
  const context = await contextOf(ref);
  const letters: RowView[] = [];
  const facts: unknown[] = [];
  let tokens = 0n;
  for (const index of [...indexes].sort((one, other) => one - other)) {
    const [row, record] = await Promise.all([
      reading.orders.row(context, index),
      reading.orders.record(ref, index),
    ]);
    const isDead = row?.state === 'refused' || row?.state === 'exhausted';
    if (row === undefined || !isDead || row.marks.length > 0) continue;
    letters.push(row);
    tokens += BigInt(row.tokens ?? 0);
    facts.push([row.order, row.state, row.errorCode, record.keyNumber, record.attempts, row.tokens]);
  }
  const hash = approvalHash('retry', {
    ledger: ref.ledger.id,
    batch: ref.id,
    orders: facts,
    count: letters.length,
    tokens,
  });
  return { letters, tokens, hash };
}
