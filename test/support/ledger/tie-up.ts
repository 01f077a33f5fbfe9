import { verifyLedger } from '../../../src/ledger/read/verify.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';

/** Returns the differences that verification finds in an idle ledger, as text; an empty list means none. */
export async function tieUp(ledger: RealmLedger): Promise<string[]> {
  const { differences, unchecked } = await verifyLedger(ledger);
  return [...differences, ...unchecked];
}
