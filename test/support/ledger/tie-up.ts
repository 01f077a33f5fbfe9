import { verifyLedger } from '../../../src/ledger/read/verify.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';

/** What does not tie in a ledger that stands still, in words; nothing at all means that it does. */
export async function tieUp(ledger: RealmLedger): Promise<string[]> {
  const { differences, unchecked } = await verifyLedger(ledger);
  return [...differences, ...unchecked];
}
