import type { Manifest, RowView } from '../ledger/views.js';
import { csvLine } from './csv-line.js';
import { fitCells } from './files.js';
import { isoTime } from './spelling.js';

/** results.csv: one line per input row, in input order. The columns' names and order are a promise. */
export const RESULT_COLUMNS = [
  'line',
  'order',
  'op',
  'member',
  'recipient',
  'tokens',
  'state',
  'attempts',
  'http_status',
  'balance_after',
  'error_code',
  'error',
  'evidence',
  'sent_at',
  'settled_at',
] as const;

export function resultsHeader(manifest: Manifest): string {
  return csvLine([...RESULT_COLUMNS, ...manifest.header.map((name) => `in_${name}`)], manifest.delimiter);
}

export function resultsLine(row: RowView, manifest: Manifest): string {
  const { own, surplus } = fitCells(row, manifest);
  return csvLine(
    [
      row.line,
      row.order,
      row.op,
      row.member,
      row.recipient,
      row.tokens,
      row.state,
      row.attempts,
      row.httpStatus,
      row.balanceAfter,
      row.errorCode,
      row.error,
      row.evidence,
      isoTime(row.sentAt),
      isoTime(row.settledAt),
      ...own,
      ...surplus,
    ],
    manifest.delimiter,
  );
}
