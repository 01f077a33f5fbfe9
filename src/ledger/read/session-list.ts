import { join } from 'node:path';
import { z } from 'zod';
import { whereabouts } from '../here/liveness.js';
import type { JournalHead } from '../journal/line.js';
import { askRealm, type RealmLedger } from '../realm-ledger.js';

/** A sending process is a session, registered in the ledger before its first claim. */
const sessionEntry = whereabouts.extend({
  id: z.string(),
  kind: z.string(),
  startedAt: z.number(),
  /** The folder of its journal; a session that never sends has none. */
  journal: z.string().default(''),
  /** Its data folder is gone with its process: once everything is taken, it is not waited for. */
  ephemeral: z.boolean().default(false),
});

export type SessionEntry = z.infer<typeof sessionEntry>;

export const JOURNAL_FOLDER = 'journal';

/** Their journals' folders as seen from here: the same volume may have another path in another container. */
export async function listSessions(ledger: RealmLedger): Promise<SessionEntry[]> {
  const { here } = ledger.scripts;
  const all = await askRealm(ledger, 'list sessions', (redis, T) => redis.hvals(`${T}:sessions`));
  return Promise.all(
    all.map(async (json) => {
      const entry = sessionEntry.parse(JSON.parse(json));
      const folder = await here.folderOf(entry);
      return folder === undefined ? entry : { ...entry, journal: join(folder, JOURNAL_FOLDER) };
    }),
  );
}

/** As its journal begins. */
export function headOf({ id, journal: _, ephemeral: __, ...rest }: SessionEntry): JournalHead {
  return { session: id, ...rest };
}

/** A journal found on disk tells whose it is, also when the registry has forgotten the session. */
export function entryOf({ session, ...rest }: JournalHead, journal: string): SessionEntry {
  return { id: session, ...rest, journal, ephemeral: false };
}
