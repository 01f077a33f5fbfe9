import type { RealmLedger } from '../realm-ledger.js';

/** The store was put back from a backup by a person: first sends wait for one. */
export function noteRestored(_ledger: RealmLedger): Promise<void> {
  return Promise.resolve();
}
