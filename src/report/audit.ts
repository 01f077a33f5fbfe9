import type { AuditEntry } from '../ledger/views.js';
import { csvLine, type Delimiter } from './csv-line.js';
import { isoTime } from './spelling.js';

/** audit.csv: who did what to the batch, when and why. */
export function auditCsv(entries: readonly AuditEntry[], delimiter: Delimiter): string {
  const lines = entries.map((entry) =>
    csvLine([isoTime(entry.at), entry.who, entry.what, entry.why], delimiter),
  );
  return csvLine(['at', 'who', 'what', 'why'], delimiter) + lines.join('');
}
