import { dirname, join } from 'node:path';
import { Here } from '../here/liveness.js';
import {
  type Highest,
  highest,
  type JournalFiles,
  listJournals,
  readHead,
  readMerged,
  readRemoved,
} from '../journal/folder.js';
import {
  type JournalDamage,
  latestSequence,
  readSessionJournal,
  type SessionJournal,
} from '../journal/reader.js';
import { entryOf, headOf, JOURNAL_FOLDER, listSessions, type SessionEntry } from '../read/session-list.js';
import { askRealm, askScript, type RealmLedger } from '../realm-ledger.js';
import type { LookedFolder } from './fence.js';
import { journalFolders } from './folders.js';
import { tidingsFor } from './merge.js';
import { sessionIn } from './session.js';

/** The journals that lie on this machine, and what was removed of them. */

type Place = Pick<SessionEntry, 'id' | 'journal'>;

type FoundJournal = SessionJournal & {
  /** The sequence by which the ledger knew what was removed in its folder, by era. */
  readonly removed: Highest;
};

/** Undefined where its files are not here. */
export async function journalOf(
  { keyPrefix }: RealmLedger,
  entry: Place | SessionEntry,
  files?: JournalFiles,
): Promise<FoundJournal | undefined> {
  const found = files ?? (await listJournals(entry.journal)).find(({ session }) => session === entry.id);
  if (found === undefined) return undefined;
  // After the files were listed: what was removed before that is noted by then.
  const { [keyPrefix]: removed = {} } = await readRemoved(entry.journal);
  // Where no head can be read, the lines that can be read count all the same.
  const known = 'pid' in entry ? headOf(entry) : undefined;
  const journal = await readSessionJournal(found.files, keyPrefix, known);
  return journal && { ...journal, removed };
}

type EndedJournal = SessionJournal & { readonly folder: string };

type LocalJournals = {
  /**
   * Of every session that is proven dead, or said itself that it ended, and whose files are here. Those that
   * ended in order are among them: a store restored from a backup has forgotten what they did, too.
   */
  readonly ended: readonly EndedJournal[];
  /** Registered and proven dead, but their journal is not here. */
  readonly missing: readonly SessionEntry[];
  /**
   * Sessions that work for the realm and are not in the registry: it was rolled back. They live here; or
   * their journal lies here, in a copied folder, knows more than the ledger, and nobody can say whether they
   * live where it came from. Such a one is waited for until a person gives it up, and named.
   */
  readonly forgotten: readonly { readonly entry: SessionEntry; readonly journal: SessionJournal }[];
  /**
   * The highest sequence in the journals of registered sessions that live here. They look for themselves; until their
   * next look they do not know yet that the store went back, and their journals tell a process that starts meanwhile.
   */
  readonly livingSeq: number;
  /** The sequence by which the ledger knew what was removed here, by era. */
  readonly removed: Highest;
  /** The folders of which every journal was looked at, or was looked at before and is known since. */
  readonly folders: readonly string[];
  /** Journals that hold lines which cannot be read, of sessions that do not merge them themselves. */
  readonly damaged: readonly DamagedJournal[];
  /** Those of them from which an order of the realm was sent. */
  readonly sentFrom: ReadonlySet<string>;
};

export type DamagedJournal = JournalDamage & { readonly session: string; readonly folder: string };

/** Every journal that lies here, or only those of registered sessions: one of them may have died. */
export type Scope = 'every journal' | 'registered sessions';

type Candidate = { readonly entry: SessionEntry; readonly files?: JournalFiles };

/** Those of the registry, wherever on this machine their folder is, and all in folders known here. */
export async function localJournals(
  ledger: RealmLedger,
  own: Place,
  /** The era for which the ledger is armed, null where it is not: what was found in it by then is not read again. */
  era: string | null,
  scope: Scope,
): Promise<LocalJournals> {
  const registered = new Map((await listSessions(ledger)).map((entry) => [entry.id, entry]));
  const folders =
    scope === 'every journal' ? [...new Set([own.journal, ...(await journalFolders(ledger))])] : [];
  const looked = await lookedAt(ledger, folders);
  const { candidates, removed } = await candidatesIn(ledger, folders, registered);
  candidates.delete(own.id);
  const sorted = new SortedJournals({ ledger, registered, era, looked }, removed);
  for (const candidate of candidates.values()) await sorted.add(candidate);
  const { ended, missing, forgotten, livingSeq, damaged, sentFrom } = sorted;
  return { ended, missing, forgotten, livingSeq, removed: sorted.removed, folders, damaged, sentFrom };
}

async function candidatesIn(
  ledger: RealmLedger,
  folders: readonly string[],
  registered: ReadonlyMap<string, SessionEntry>,
) {
  const candidates = new Map<string, Candidate>([...registered].map(([id, entry]) => [id, { entry }]));
  let removed: Highest = {};
  for (const folder of folders) {
    removed = highest(removed, (await readRemoved(folder))[ledger.keyPrefix] ?? {});
    for (const files of await listJournals(folder)) {
      const { session } = files;
      const entry = registered.get(session);
      const head = entry === undefined ? await readHead(files) : undefined;
      if (entry !== undefined && entry.journal === folder) candidates.set(session, { entry, files });
      else if (head !== undefined) candidates.set(session, { entry: entryOf(head, folder), files });
      else if (entry === undefined)
        candidates.set(session, { entry: await sessionIn(ledger.scripts.here, folder, session), files });
    }
  }
  return { candidates, removed };
}

type Sorting = {
  readonly ledger: RealmLedger;
  readonly registered: ReadonlyMap<string, SessionEntry>;
  readonly era: string | null;
  readonly looked: ReadonlyMap<string, number>;
};

/** The journals by what is known of their sessions. */
class SortedJournals {
  readonly ended: EndedJournal[] = [];
  readonly missing: SessionEntry[] = [];
  readonly forgotten: { entry: SessionEntry; journal: SessionJournal }[] = [];
  readonly damaged: DamagedJournal[] = [];
  readonly sentFrom = new Set<string>();
  livingSeq = 0;

  constructor(
    private readonly by: Sorting,
    public removed: Highest,
  ) {}

  async add({ entry, files }: Candidate): Promise<void> {
    const { ledger, registered } = this.by;
    if (await this.wasLookedAt(entry)) return;
    const state = await ledger.scripts.here.liveness(entry);
    if (state === 'alive' && registered.has(entry.id)) {
      const seq = await latestSequence(files?.files ?? [], ledger.keyPrefix);
      this.livingSeq = Math.max(this.livingSeq, seq);
      return;
    }
    const journal = await journalOf(ledger, entry, files);
    if (journal === undefined) {
      if (state === 'dead') this.missing.push(entry);
      return;
    }
    this.removed = highest(this.removed, journal.removed);
    if (journal.damage !== null)
      this.damaged.push({ ...journal.damage, session: entry.id, folder: entry.journal });
    if (journal.attempts.length > 0) this.sentFrom.add(entry.journal);
    if (state === 'dead' || (state === 'elsewhere' && journal.ended))
      this.ended.push({ ...journal, folder: entry.journal });
    else if (
      !registered.has(entry.id) &&
      journal.works &&
      (state === 'alive' || (await knowsMore(ledger, journal)))
    )
      this.forgotten.push({ entry, journal });
  }

  /** Whether the ledger was found to know this journal, and has not gone back since. */
  private async wasLookedAt(entry: SessionEntry): Promise<boolean> {
    const { ledger, registered, era, looked } = this.by;
    if (era === null || registered.has(entry.id)) return false;
    const { [ledger.keyPrefix]: merged } = await readMerged(entry.journal, entry.id);
    const isKnown = merged?.era === era && merged.seq <= (looked.get(entry.journal) ?? -1);
    if (isKnown && merged.sent) this.sentFrom.add(entry.journal);
    return isKnown;
  }
}

/** By the attempts themselves: what others put back raises the sequence, and says nothing of these. */
async function knowsMore(ledger: RealmLedger, { attempts }: SessionJournal): Promise<boolean> {
  return (await tidingsFor(ledger, attempts)).some(({ standing }) => standing === 'forgotten');
}

/**
 * The sequence at which the store was last found to know all journals of each folder, as the store itself remembers it.
 * One that went back remembers an earlier look, however far it has come since, and the journals are read again.
 */
async function lookedAt(
  ledger: RealmLedger,
  folders: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const looks = await askRealm(ledger, 'read looks', (redis, T) => redis.hgetall(`${T}:looked`));
  const numbers = await numbersOf(ledger, folders);
  return new Map(folders.map((folder, i) => [folder, Number(looks[numbers[i] ?? ''] ?? -1)]));
}

/** `sent`: the data folders among them from which orders were sent, which are waited for from now on. */
export async function noteLooked(
  ledger: RealmLedger,
  folders: readonly string[],
  sent: readonly LookedFolder[],
  store: string,
): Promise<void> {
  const numbers = (await numbersOf(ledger, folders)).filter((number) => number !== '');
  if (numbers.length > 0) await askScript(ledger, 'note-looked', [store, JSON.stringify(sent), ...numbers]);
}

/** Empty for a folder without an identity, whose journals are always read. */
function numbersOf({ scripts: { here } }: RealmLedger, folders: readonly string[]): Promise<string[]> {
  return Promise.all(folders.map(async (folder) => (await here.placeAt(dirname(folder)))?.number ?? ''));
}

/** The sending processes that live on this machine and keep their journals in the data folder, whatever store they use. */
export async function sessionsAtWork(
  dataFolder: string,
): Promise<{ readonly session: string; readonly kind: string; readonly pid: number }[]> {
  const here = new Here(dataFolder);
  const folder = join(dataFolder, JOURNAL_FOLDER);
  const found = await Promise.all(
    (await listJournals(folder)).map(async (files) => {
      const head = await readHead(files);
      if (head === undefined || (await here.liveness(entryOf(head, folder))) !== 'alive') return [];
      return [{ session: head.session, kind: head.kind, pid: head.pid }];
    }),
  );
  return found.flat();
}
