import type { RealmLedger } from '../realm-ledger.js';

/** The slots of the pace that a session died with: the realm need not wait for their time-out. */
export async function freeSlots(ledger: RealmLedger, session: string): Promise<number> {
  return Number(await ledger.scripts.script('free-slots', ledger.keyPrefix, [session]));
}
