import { readFile, rm } from 'node:fs/promises';
import {
  forgetMerged,
  type Highest,
  type JournalFile,
  listJournals,
  noteRemoved,
  type Removed,
  readMerged,
} from './folder.js';
import type { Journal } from './journal.js';
import { decodeEntry } from './line.js';

/**
 * The journals of a folder may become so large together and no larger, the oldest files go first. But an intent is
 * open until the ledger has settled its attempt, and a file with an open one stays, whatever the budget says: from
 * an intent that is missing it would be concluded that nothing was sent.
 *
 *   own files            this process knows which attempts the ledger has settled
 *   of ended sessions    the whole journal was found in the ledger, in some era (see `noteMerged`)
 *   of the living        theirs to remove
 */
type Budget = {
  readonly folder: string;
  readonly session: string;
  readonly journal: Journal;
  readonly bytesMax: number;
  /** The era in which this process has merged, per realm. */
  readonly eraOf: (realm: string) => string | undefined;
  /** Whether a session of this folder is proven dead. */
  readonly isDead: (session: string) => Promise<boolean>;
};

type Candidate = JournalFile & { readonly session: string; readonly isLast: boolean; readonly at: number };

/** Even an empty file counts some, so that their number is bounded too. */
const FILE_BYTES_MIN = 32 * 1024;

export async function boundJournals(budget: Budget): Promise<number> {
  const candidates: Candidate[] = [];
  let total = 0;
  for (const journal of await listJournals(budget.folder)) {
    // A session's files go in their order, whatever a stepped clock says.
    let at = 0;
    for (const file of journal.files) {
      total += Math.max(file.bytes, FILE_BYTES_MIN);
      at = Math.max(at, file.writtenMs);
      candidates.push({ ...file, session: journal.session, isLast: file === journal.files.at(-1), at });
    }
  }
  let removed = 0;
  const staying = new Set<string>();
  for (const file of candidates.sort((a, b) => a.at - b.at || a.number - b.number)) {
    if (total <= budget.bytesMax) break;
    const removal = staying.has(file.session) ? null : await removalOf(budget, file);
    if (removal === null) {
      staying.add(file.session);
      continue;
    }
    await noteRemoved(budget.folder, budget.session, removal, budget.isDead);
    await rm(file.path, { force: true });
    // Nothing is left of the session that could be merged.
    if (file.isLast) await forgetMerged(budget.folder, file.session);
    total -= Math.max(file.bytes, FILE_BYTES_MIN);
    removed += 1;
  }
  return removed;
}

/** What is to be noted of a file that may go; null where it must stay. */
async function removalOf(
  { folder, session: own, journal, eraOf, isDead }: Budget,
  { session, number, path }: Candidate,
): Promise<Removed | null> {
  if (session === own ? journal.isOpen(number) : !(await isDead(session))) return null;
  const merged = session === own ? null : await readMerged(folder, session);
  const seqs: Record<string, Highest> = {};
  for (const [realm, began] of await realmsIn(path)) {
    const era = merged === null ? eraOf(realm) : merged[realm]?.era;
    if (era === undefined) return null;
    // Not the sequence of the last intent: a store that comes back from before its answer has forgotten that.
    const known = merged === null ? journal.knownBy(number, realm) : (merged[realm]?.seq ?? 0);
    seqs[realm] = { [era]: began ? known : 0 };
  }
  return seqs;
}

/** The realms that a file names, and whether it holds an intent of each. */
async function realmsIn(path: string): Promise<Map<string, boolean>> {
  const realms = new Map<string, boolean>();
  for (const text of (await textOf(path)).split('\n')) {
    const entry = decodeEntry(text);
    if (entry?.kind === 'works' && !realms.has(entry.realm)) realms.set(entry.realm, false);
    // A session says so only if it began nothing.
    if (entry?.kind === 'leaves') realms.delete(entry.realm);
    if (entry?.kind === 'intent') realms.set(entry.intent.realm, true);
  }
  return realms;
}

/** Another process of this folder may have removed it meanwhile. */
function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}
