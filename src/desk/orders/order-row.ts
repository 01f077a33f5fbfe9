import type { BatchRef, RowView } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import type { OrderRow } from '../api/index.js';

/** A row of the ledger as the desk shows it. */
export function orderRow({ id, ledger: { realm } }: BatchRef, row: RowView): OrderRow {
  return {
    order: row.order,
    batch: id,
    realm: realm.name,
    index: row.index,
    line: row.line,
    op: row.op,
    member: row.member,
    recipient: row.recipient,
    tokens: row.tokens,
    reference: row.reference,
    reason: row.reason,
    state: row.state,
    marks: row.marks,
    attempts: row.attempts,
    status: row.httpStatus,
    balanceAfter: row.balanceAfter,
    class: row.errorCode,
    message: row.error,
    evidence: row.evidence,
    sentAt: isoTime(row.sentAt),
    settledAt: isoTime(row.settledAt),
  };
}
