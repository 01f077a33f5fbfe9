import type { Books } from './books.js';
import { listJournals, readHead } from './journal-folder.js';
import { readSessionJournal, type SessionJournal } from './journal-reader.js';
import { liveness, thisMachine } from './liveness.js';
import { entryOf, journalFolders, listSessions, type SessionEntry } from './sessions.js';

/** The journals that lie on this machine. */

type Place = Pick<SessionEntry, 'id' | 'journal'>;

/** Undefined where its files are not here. */
export async function journalOf(entry: Place, realm: string): Promise<SessionJournal | undefined> {
  const files = (await listJournals(entry.journal)).find(({ session }) => session === entry.id);
  return files === undefined ? undefined : readSessionJournal(files.paths, realm);
}

export type LocalJournals = {
  /**
   * Of every session that is proven dead and whose files are here. Sessions that ended in order are among
   * them: a store restored from a backup has forgotten what they did, too.
   */
  readonly ended: readonly SessionJournal[];
  /** Sessions that live here, work for the realm, and are not in the registry: it was rolled back. */
  readonly forgotten: readonly SessionEntry[];
};

/** Those of the registry, wherever on this machine their folder is, and all in folders known here. */
export async function localJournals(books: Books, own: Place): Promise<LocalJournals> {
  const registered = new Map((await listSessions(books)).map((entry) => [entry.id, entry]));
  const candidates = new Map(registered);
  const { machine } = await thisMachine();
  for (const folder of new Set([own.journal, ...(await journalFolders(books, machine))]))
    for (const { session, paths } of await listJournals(folder)) {
      const head = candidates.has(session) ? undefined : await readHead(paths[0] ?? '');
      if (head !== undefined) candidates.set(session, entryOf(head, folder));
    }
  candidates.delete(own.id);
  const ended: SessionJournal[] = [];
  const forgotten: SessionEntry[] = [];
  for (const entry of candidates.values()) {
    const state = await liveness(entry);
    if (state === 'elsewhere' || (state === 'alive' && registered.has(entry.id))) continue;
    const journal = await journalOf(entry, books.realm);
    if (journal === undefined) continue;
    if (state === 'dead') ended.push(journal);
    else if (journal.works) forgotten.push(entry);
  }
  return { ended, forgotten };
}
