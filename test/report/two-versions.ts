import type { BatchRecord } from '../../src/ledger/views.js';
import { recordOf, rowOf } from '../support/ledger/batch-record.js';

/** One batch half-way and at its end: every file of the two reports differs. */
export function soonVersion(): BatchRecord {
  return version(150, 'soon');
}

export function lateVersion(): BatchRecord {
  return version(250, 'late');
}

function version(paid: number, label: string): BatchRecord {
  const rows = Array.from({ length: 300 }, (_, at) =>
    rowOf(at < paid ? 'paid' : at % 3 === 0 ? 'refused' : at % 3 === 1 ? 'doubt' : 'planned', at + 1),
  ).map((row) => (row.index % 10 === 0 ? { ...row, state: 'duplicate' as const, error: label } : row));
  return recordOf(rows, { record: { audit: [{ at: paid, who: 'ada', what: label, why: null }] } });
}
