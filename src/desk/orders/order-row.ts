import type { BatchRef, RowView } from '../../ledger/index.js';
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
    sentAt: iso(row.sentAt),
    settledAt: iso(row.settledAt),
  };
}

export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Messages that differ only in an id or an amount are one group. */
export function messagePattern(message: string | null): string {
  return (message ?? '').slice(0, 300).replaceAll(/[0-9a-f-]*[0-9]{2}[0-9a-f-]*/gi, '#');
}
