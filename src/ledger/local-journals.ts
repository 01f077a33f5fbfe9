import type { Books } from './books.js';
import { listJournals, readHead } from './journal-folder.js';
import { readSessionJournal, type SessionJournal } from './journal-reader.js';
import { entryOf, listSessions, liveness, type SessionEntry } from './sessions.js';

/** The journals that lie on this machine: a session's own, and those of sessions that have ended here. */

/** Undefined where its files are not here. */
export async function journalOf(
  entry: Pick<SessionEntry, 'id' | 'journal'>,
  realm: string,
): Promise<SessionJournal | undefined> {
  const files = (await listJournals(entry.journal)).find(({ session }) => session === entry.id);
  return files === undefined ? undefined : readSessionJournal(files.paths, realm);
}

/**
 * Of every session that is proven dead and whose files are here: those of the registry, wherever on this
 * machine their folder is, and those that lie in our own folder although the registry, rolled back, has
 * forgotten them. Sessions that ended in order are among them: a store restored from a backup has forgotten
 * what they did, too.
 */
export async function endedJournals(
  books: Books,
  own: Pick<SessionEntry, 'id' | 'journal'>,
): Promise<SessionJournal[]> {
  const candidates = new Map<string, SessionEntry>();
  for (const entry of await listSessions(books)) candidates.set(entry.id, entry);
  for (const { session, paths } of await listJournals(own.journal)) {
    const head = candidates.has(session) ? undefined : await readHead(paths[0] ?? '');
    if (head !== undefined) candidates.set(session, entryOf(head, own.journal));
  }
  candidates.delete(own.id);
  const found: SessionJournal[] = [];
  for (const entry of candidates.values()) {
    if ((await liveness(entry)) !== 'dead') continue;
    const journal = await journalOf(entry, books.realm);
    if (journal !== undefined) found.push(journal);
  }
  return found;
}
