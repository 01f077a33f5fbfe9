import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { readWaitAfterRollback, resumeAfterRollback } from '../../../src/ledger/sessions/after-rollback.js';
import type { AuditEntry } from '../../../src/ledger/views.js';

/** Resumes, as a person would, the orders that are currently waiting. */
export async function resume(ledger: RealmLedger, audit: AuditEntry) {
  const waits = await readWaitAfterRollback(ledger);
  return resumeAfterRollback(ledger, waits?.sinceMs ?? 0, audit);
}
