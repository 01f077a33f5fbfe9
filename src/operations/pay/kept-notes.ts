import { z } from 'zod';
import { notes, type RealmLedger } from '../../ledger/index.js';

const keptNote = z.object({ map: z.record(z.string(), z.string()), who: z.string(), at: z.number() });

/** What people said of the columns of a realm's files, by the hash of the header. */
export function keptNotes(ledger: RealmLedger) {
  return notes.stores.columns(ledger, keptNote);
}
