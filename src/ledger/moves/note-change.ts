import type { RealmLedger } from '../realm-ledger.js';

/** Something about a batch was written by another way than a script: its lists and the desk learn of it. */
export async function noteChange({ scripts, keyPrefix }: RealmLedger, no: string): Promise<void> {
  await scripts.script('note-change', keyPrefix, [no]);
}
