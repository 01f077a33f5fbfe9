import { dirname } from 'node:path';
import { z } from 'zod';
import { readFence } from '../read/fence.js';
import { listSessions } from '../read/session-list.js';
import { askRealm, askScript, type RealmLedger } from '../realm-ledger.js';
import { type FolderFault, folderFault, type LookedFolder } from './fence.js';

/** Data folders from which orders were sent, and which a ledger that opens waits for (includes/data-folders.lua). */
export type DataFolder = {
  readonly id: string;
  /** Where its journals are, on its own machine. */
  readonly journal: string;
  /** The name of the machine that used it last; shown, never compared. */
  readonly machine: string;
  /** The store's time when it was last heard of. */
  readonly at: number;
  /** Why its journals do not tell all that was sent from it, as its machine found; null where nothing is wrong. */
  readonly fault: FolderFault | null;
};

const stored = z.object({
  journal: z.string(),
  machine: z.string(),
  at: z.number(),
  fault: folderFault.nullable().default(null),
});

export async function listFolders(ledger: RealmLedger): Promise<DataFolder[]> {
  const found = await askRealm(ledger, 'list data folders', (redis, T) => redis.hgetall(`${T}:dataFolders`));
  return Object.entries(found)
    .map(([id, json]) => ({ id, ...stored.parse(JSON.parse(json)) }))
    .sort((a, b) => a.at - b.at);
}

/** Every folder that is here and in which a session ever kept a journal for the realm. */
export async function journalFolders(ledger: RealmLedger): Promise<string[]> {
  const { here } = ledger.scripts;
  const known = [...(await listFolders(ledger)), ...(await listSessions(ledger))];
  const folders = [...new Set(known.map(({ journal }) => journal).filter((journal) => journal !== ''))];
  const found = await Promise.all(folders.map((folder) => here.placeAt(dirname(folder))));
  return folders.filter((_, i) => found[i]);
}

/**
 * `isAway`: nobody has looked at its journals on the server that answers now, and they do not lie here, or do not tell all
 * that was sent. `isInUse`: a registered session has it, and is waited for itself.
 */
export async function foldersOf(
  ledger: RealmLedger,
): Promise<(DataFolder & { readonly isAway: boolean; readonly isInUse: boolean })[]> {
  const { here } = ledger.scripts;
  const looks = await askRealm(ledger, 'read looks', (redis, T) => redis.hgetall(`${T}:looks`));
  const { run } = await readFence(ledger);
  const inUse = new Set((await listSessions(ledger)).map(({ placeId }) => placeId));
  return Promise.all(
    (await listFolders(ledger)).map(async (folder) => {
      const isHere = (await here.placeAt(dirname(folder.journal)))?.id === folder.id;
      return {
        ...folder,
        isInUse: inUse.has(folder.id),
        isAway: looks[folder.id] !== run && (!isHere || folder.fault !== null),
      };
    }),
  );
}

/**
 * The folders that are away, not heard of since then, and that no registered session has. A damaged journal is given up by its
 * session instead: its folder may be in use.
 */
export async function unseenFolders(ledger: RealmLedger, beforeMs: number): Promise<DataFolder[]> {
  return (await foldersOf(ledger)).filter(
    ({ at, isAway, isInUse, fault }) => at < beforeMs && isAway && fault?.what !== 'damaged' && !isInUse,
  );
}

/** Folders without an identity are not waited for: nothing could say that they came back. */
export async function lookedFolders(
  { scripts: { here } }: RealmLedger,
  journals: readonly string[],
  machine: string,
  {
    sent,
    faults = new Map(),
  }: { readonly sent: ReadonlySet<string>; readonly faults?: ReadonlyMap<string, FolderFault> },
): Promise<LookedFolder[]> {
  const found = await Promise.all(
    journals.map(async (journal) => ({
      id: (await here.placeAt(dirname(journal)))?.id ?? '',
      journal,
      machine,
      sent: sent.has(journal),
      fault: faults.get(journal) ?? null,
    })),
  );
  return found.filter(({ id }) => id !== '');
}

/** Answers the ids of the folders that are not waited for any more; null where the store changed meanwhile. */
export async function retireFolders(
  ledger: RealmLedger,
  folders: readonly DataFolder[],
  store: string,
): Promise<string[] | null> {
  const known = folders.flatMap(({ id, at }) => [id, at]);
  const [answer, ...ids] = await askScript(ledger, 'retire-folders', [store, ...known]);
  return answer === 'retired' ? ids : null;
}
