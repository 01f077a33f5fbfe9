import { dirname, join } from 'node:path';
import { CATALOGUE } from '../../core/errors/catalogue.js';
import type { Highest } from '../journal/folder.js';
import {
  foldersThatPaid,
  type PaidElsewhere,
  type Position,
  positionInStore,
  readPositions,
  witnessedElsewhere,
  witnessedPositions,
} from '../journal/positions.js';
import { erasOf, type Fence, readFence } from '../read/fence.js';
import { JOURNAL_FOLDER, type SessionEntry } from '../read/session-list.js';
import type { RealmLedger } from '../realm-ledger.js';
import type { Reason } from '../views.js';
import { type FolderFault, forgottenRemoved, isDamageAccepted } from './fence.js';
import type { DamagedJournal } from './local-journals.js';

/**
 * Whether the data folder of this process is the one that its ledgers were paid from. A folder that is restored from a
 * backup brings its journals back with its store, so that both agree and both have forgotten the same payments.
 *
 *   behind   a witness outside the folder (the state folder, or a store that is not in it) knows a higher position than the notes inside it
 *   copied   the store was written in another folder: this one is a copy, was moved, or was restored from a backup
 */
export type FolderCheck = {
  readonly behind: Position | null;
  /** The store is behind as well, so that nothing here tells what was paid since. */
  readonly forgotten: boolean;
  readonly copied: boolean;
  /** The last position that the folder itself knows. */
  readonly last: Position | null;
};

const WHOLE: FolderCheck = { behind: null, forgotten: false, copied: false, last: null };

/** What `missed` holds while nobody has decided about a copied folder. No era has this name. */
const COPIED = 'copied';

export async function checkFolder(ledger: RealmLedger, fence: Fence): Promise<FolderCheck> {
  const { realm } = ledger;
  const { here } = ledger.scripts;
  const own = realm.rehearsal ? null : await here.ownFolder();
  if (own === null) return WHOLE;
  const copied =
    own.storeId !== '' && fence.folder !== '' && fence.folder !== own.storeId && !fence.untouched;
  const { last, behind: known } = await compare(ledger, own.number, join(own.path, JOURNAL_FOLDER));
  const elsewhere = await behindElsewhere(ledger, fence, { path: own.path, copied, last });
  const behind = further(known, elsewhere);
  return { behind, forgotten: await isForgotten(ledger, fence, behind), copied, last };
}

/** Whether the store is behind as well, and no person has accepted that. */
async function isForgotten(ledger: RealmLedger, fence: Fence, behind: Position | null): Promise<boolean> {
  if (behind === null) return false;
  const lost = await forgottenRemoved(ledger, { ...fence, missed: {} }, { [behind.era]: behind.seq });
  return Object.keys(lost).length > 0;
}

/**
 * The data folders on this machine whose journals do not tell all that was sent from them, by the folder of their journals.
 * Whether this process's own folder was put back has a check and a decision of its own (`checkFolder`).
 */
export async function faultsOf(
  ledger: RealmLedger,
  fence: Fence,
  journals: readonly string[],
  damaged: readonly DamagedJournal[],
): Promise<ReadonlyMap<string, FolderFault>> {
  const { here } = ledger.scripts;
  const faults = new Map<string, FolderFault>();
  for (const journal of ledger.realm.rehearsal ? [] : journals) {
    const place = dirname(journal) === here.folder ? undefined : await here.placeAt(dirname(journal));
    if (place === undefined) continue;
    const { behind } = await compare(ledger, place.number, journal);
    if (behind !== null && (await isForgotten(ledger, fence, behind)))
      faults.set(journal, { what: 'behind', until: behind.at });
  }
  for (const { folder, session, path, line } of damaged)
    if (!(await isDamageAccepted(ledger, session)))
      faults.set(folder, { what: 'damaged', session, path, line });
  return faults;
}

/**
 * A backup that was put into an empty folder: of the folder in which its store was written, this machine may know more. One
 * from before the first opening names no folder and no epoch, so that every payment of this machine may be newer.
 */
async function behindElsewhere(
  ledger: RealmLedger,
  { restored, meantBeside }: Fence,
  { path, copied, last }: { readonly path: string; readonly copied: boolean; readonly last: Position | null },
): Promise<Position | null> {
  const { keyPrefix, scripts } = ledger;
  const { stateFolder } = scripts.here;
  if (stateFolder === null) return null;
  const eras = await erasOf(ledger);
  const namesNone = restored && eras.size === 0 && last === null;
  if (!copied && !namesNone) return null;
  const seen = await witnessedElsewhere(
    stateFolder,
    keyPrefix,
    (folder, era) =>
      folder === path || eras.has(era) || (namesNone && meantBeside?.includes(folder) !== true),
  );
  return seen !== null && seen.seq > (last?.seq ?? 0) ? seen : null;
}

function further(a: Position | null, b: Position | null): Position | null {
  return (a?.seq ?? 0) >= (b?.seq ?? 0) ? a : b;
}

/** The last position that a data folder itself knows, and the later one that a witness outside knows, if any. */
async function compare(ledger: RealmLedger, number: string, journals: string) {
  const { keyPrefix, scripts } = ledger;
  const { stateFolder, holdsStore } = scripts.here;
  const path = holdsStore ? null : dirname(journals);
  const { [keyPrefix]: witness = null } =
    stateFolder === null ? {} : await witnessedPositions(stateFolder, number, path);
  const inStore = await positionInStore(ledger, number);
  // The folder last: a session that sends meanwhile notes its position there first.
  const { [keyPrefix]: last = null } = await readPositions(journals);
  const outside = (inStore?.seq ?? 0) > (witness?.seq ?? 0) ? inStore : witness;
  return { last, behind: outside !== null && outside.seq > (last?.seq ?? 0) ? outside : null };
}

/**
 * Whether a session's folder still holds every line that the session wrote: it is the same folder, and no witness
 * knows a later position. A folder that was put back lacks lines, so that what its journals do not hold may have been
 * sent all the same.
 */
export async function isIntact(ledger: RealmLedger, { placeId, journal }: SessionEntry): Promise<boolean> {
  const place = await ledger.scripts.here.placeAt(dirname(journal));
  if (place === undefined || place.id !== placeId) return false;
  return (await compare(ledger, place.number, journal)).behind === null;
}

/** What `missed` holds of the folder itself, until a person has decided. */
export function missedByFolder({ behind, forgotten, copied }: FolderCheck, { seq }: Fence): Highest {
  return {
    ...(behind !== null && forgotten ? { [behind.era]: behind.seq } : {}),
    ...(copied ? { [COPIED]: seq } : {}),
  };
}

/** Whether nothing is missed but a decision about a copied folder. */
export function isCopyAlone(missed: Highest): boolean {
  return Object.keys(missed).every((name) => name === COPIED);
}

/** The same for onlookers. */
export async function folderProblem(ledger: RealmLedger): Promise<Reason | null> {
  return folderReason(await checkFolder(ledger, await readFence(ledger)));
}

/** Why nothing is sent until a person has decided; null where the folder is whole. */
export function folderReason({ behind, forgotten, copied, last }: FolderCheck): Reason | null {
  const since = last === null ? 'its beginning' : time(last.at);
  if (behind !== null && forgotten)
    return reason(
      'ALM_LEDGER_FOLDER_BEHIND',
      `The data folder was put back to an earlier time. It knows payments until ${since}, and this machine has paid realm ${behind.realm.name} from it until ${time(behind.at)} (move ${behind.seq}). Payments since ${since} may be missing. Nothing is sent.`,
    );
  if (copied)
    return reason(
      'ALM_LEDGER_FOLDER_COPIED',
      `The store was written in another data folder: this one was copied, moved or restored from a backup. It knows payments until ${since}; later payments may be missing. Nothing is sent.`,
    );
  return null;
}

/**
 * The other data folders from which this machine has paid the realm, where this ledger has sent nothing yet and nobody
 * has said that a new ledger is meant. Such a ledger knows no reference and no file that was paid there.
 */
export async function ledgersElsewhere(ledger: RealmLedger): Promise<PaidElsewhere[]> {
  const { realm, keyPrefix } = ledger;
  const { here } = ledger.scripts;
  if (realm.rehearsal || here.stateFolder === null) return [];
  const { seq, meantBeside } = await readFence(ledger);
  if (seq > 0) return [];
  const folders = await foldersThatPaid(here.stateFolder, keyPrefix);
  const own = await here.ownFolder();
  // The journals of a folder that is whole are merged before anything is sent.
  if (own !== null) {
    const { [keyPrefix]: last } = await readPositions(join(own.path, JOURNAL_FOLDER));
    if ((last?.seq ?? 0) >= (folders.get(own.number)?.seq ?? 0)) folders.delete(own.number);
  }
  return [...folders.values()]
    .filter(({ folder }) => meantBeside?.includes(folder) !== true)
    .map(({ folder, at }) => ({ folder, at }))
    .sort((a, b) => b.at - a.at);
}

function reason(code: 'ALM_LEDGER_FOLDER_BEHIND' | 'ALM_LEDGER_FOLDER_COPIED', message: string): Reason {
  return { code, message, next: CATALOGUE[code].next };
}

function time(at: number): string {
  return new Date(at).toISOString();
}
