import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Highest, highest } from '../journal/folder.js';
import { type Fence, missed, type Rollback, readFence, storeSeen } from '../read/fence.js';
import { askRealm, askScript, type RealmLedger } from '../realm-ledger.js';
import type { Reason } from '../views.js';

/**
 * What a sender has seen, or a journal knows, and the ledger does not, lowers the fence: `behind` only where the
 * sequence is lower than was seen, `anyway` however far it has come meanwhile. `copied`: nothing was found to be
 * forgotten, but the store was written in another data folder.
 */
export async function disarm(
  ledger: RealmLedger,
  note: Rollback,
  when: 'behind' | 'anyway' | 'copied',
  {
    missed: gap = {},
    sinceMs = Number.POSITIVE_INFINITY,
  }: { readonly missed?: Highest; readonly sinceMs?: number } = {},
): Promise<boolean> {
  const seen = when === 'behind' ? note.seen : '';
  const told = Object.keys(gap).length === 0 ? '' : JSON.stringify(gap);
  const reply = await ledger.scripts.script('disarm', ledger.keyPrefix, [
    seen,
    when === 'copied' ? '' : JSON.stringify(note),
    note.by,
    told,
    Number.isFinite(sinceMs) ? sinceMs : '',
  ]);
  return reply === 'disarmed';
}

/**
 * Every session merges its journals and every data folder is looked at before the ledger opens again. Where it is closed already,
 * it does not open before the session `by` has merged once more.
 */
export async function closeLedger(ledger: RealmLedger, by: string): Promise<void> {
  const { seq } = await readFence(ledger);
  await disarm(ledger, { at: Date.now(), seen: seq, found: seq, by }, 'copied');
}

/**
 * What of the removed journal files this ledger may have forgotten since, as found here or by anybody. What was
 * removed had been settled by then; a ledger that came back from before it has lost that, and no journal tells it.
 */
export async function forgottenRemoved(
  ledger: RealmLedger,
  fence: Fence,
  removed: Highest,
): Promise<Highest> {
  if (Object.keys(removed).length === 0) return fence.missed;
  const armings = (await askRealm(ledger, 'list eras', (redis, T) => redis.lrange(`${T}:eras`, 0, -1))).map(
    (line) => {
      const [era = '', found = '0'] = line.split(' ');
      return { era, found: Number(found) };
    },
  );
  const accepted = await acceptedRemovals(ledger);
  const lost = Object.entries(removed).filter(([era, seq]) => {
    if ((accepted[era] ?? -1) >= seq) return false;
    if ((!fence.armed || era === fence.era) && fence.found < seq) return true;
    const at = armings.findIndex((one) => one.era === era);
    return at === -1
      ? armings.some(({ found }) => found < seq)
      : armings.slice(at + 1).some(({ found }) => found < seq);
  });
  return highest(fence.missed, Object.fromEntries(lost));
}

async function acceptedRemovals(ledger: RealmLedger): Promise<Highest> {
  const note = await askRealm(ledger, 'read accepted', (redis, T) => redis.hget(T, 'acceptedRemoved'));
  return note === null ? {} : missed.parse(JSON.parse(note));
}

/**
 * An operator has made doubts of all that may be missed, in this store: these removals are not asked about again, and the
 * store belongs to the data folder of this process.
 */
export async function acceptRemoved(ledger: RealmLedger, removed: Highest, store: string): Promise<boolean> {
  const { missed: found, seq } = await readFence(ledger);
  const accepted = highest(await acceptedRemovals(ledger), highest(removed, found));
  const folder = (await ledger.scripts.here.ownFolder())?.storeId ?? '';
  const note: Rollback = { at: Date.now(), seen: seq, found: seq, by: 'a person', attempts: 0 };
  const args = [JSON.stringify(accepted), store, folder, JSON.stringify(note)];
  return (await ledger.scripts.script('accept-removed', ledger.keyPrefix, args)) === 'ok';
}

/** An operator has made doubts of all that the unreadable lines of the session's journal may have told. */
export async function acceptDamaged(ledger: RealmLedger, session: string, store: string): Promise<boolean> {
  const { seq } = await readFence(ledger);
  const accepted = highest(await acceptedRemovals(ledger), { [damageOf(session)]: 1 });
  const note: Rollback = { at: Date.now(), seen: seq, found: seq, by: 'a person', attempts: 0 };
  const args = [JSON.stringify(accepted), store, '', JSON.stringify(note)];
  return (await ledger.scripts.script('accept-removed', ledger.keyPrefix, args)) === 'ok';
}

export async function isDamageAccepted(ledger: RealmLedger, session: string): Promise<boolean> {
  return (await acceptedRemovals(ledger))[damageOf(session)] !== undefined;
}

/** Stands among the accepted removals. No epoch has this name. */
function damageOf(session: string): string {
  return `damaged ${session}`;
}

/** An operator has said that the data folder was moved whole: the store belongs to it, and nothing is missing. */
export async function acceptMoved(ledger: RealmLedger): Promise<boolean> {
  const store = storeSeen(await readFence(ledger));
  const folder = (await ledger.scripts.here.ownFolder())?.storeId ?? '';
  const args = [JSON.stringify(await acceptedRemovals(ledger)), store, folder, ''];
  return (await ledger.scripts.script('accept-removed', ledger.keyPrefix, args)) === 'ok';
}

/** A person has said that this ledger is meant, although this machine has paid the realm from others. */
export async function acceptNewLedger(
  ledger: RealmLedger,
  others: readonly string[],
  by: { readonly who: string; readonly at: number },
): Promise<void> {
  const meant = JSON.stringify({ ...by, others });
  await askRealm(ledger, 'accept new ledger', (redis, T) => redis.hset(T, 'meant', meant));
}

/** Why the journals of a data folder do not tell all that was sent from it. */
export const folderFault = z.discriminatedUnion('what', [
  /** It was put back to an earlier time: a witness outside knows of a payment until then, ms. */
  z.object({ what: z.literal('behind'), until: z.number() }),
  /** The line of a session's journal cannot be read. */
  z.object({ what: z.literal('damaged'), session: z.string(), path: z.string(), line: z.number() }),
]);
export type FolderFault = Readonly<z.infer<typeof folderFault>>;

/** A data folder on this machine whose journals were all looked at. */
export type LookedFolder = {
  readonly id: string;
  readonly journal: string;
  readonly machine: string;
  /** One of its journals tells of an order that was sent. */
  readonly sent: boolean;
  /** With one, the folder is waited for although its journals were merged. */
  readonly fault: FolderFault | null;
};

export type PutBack = readonly [orders: number, unknown: number, batches: number, doubts: number];

/** What a session says that has merged its journal. */
type MergedReport = {
  readonly session: string;
  readonly seen: number;
  /** The last epoch that it, or its data folder, knows of; empty for none. */
  readonly era: string;
  /** The data folders whose journals it has all looked at. */
  readonly looked: readonly LookedFolder[];
  readonly putBack: PutBack;
};

export async function reportMerged(
  ledger: RealmLedger,
  run: string,
  { session, seen, era, looked, putBack }: MergedReport,
): Promise<boolean> {
  const { begun } = ledger.mark;
  const args = [
    run,
    session,
    seen,
    era,
    begun,
    JSON.stringify(looked),
    ...putBack,
    ledger.asked.afterRollback,
  ];
  return (await ledger.scripts.script('merged', ledger.keyPrefix, args)) === 'ok';
}

/** The sessions that have merged since the ledger was closed on this server. */
export async function mergedSessions(ledger: RealmLedger, run: string): Promise<ReadonlySet<string>> {
  const merged = await askRealm(ledger, 'read merged', (redis, T) => redis.hgetall(`${T}:merged`));
  return new Set(Object.keys(merged).filter((session) => merged[session] === run));
}

/** Sessions that have not merged, and data folders whose journals were not looked at. */
export type WaitedFor = { readonly sessions: readonly string[]; readonly folders: readonly string[] };

type Armed =
  | { readonly answer: 'armed'; readonly era: string }
  | { readonly answer: 'waiting'; readonly for: WaitedFor }
  | { readonly answer: 'changed' };

export async function arm(ledger: RealmLedger, run: string, seen: number): Promise<Armed> {
  const era = randomBytes(6).toString('hex');
  const [answer, ...rest] = await askScript(ledger, 'arm', [run, era, seen, ledger.asked.afterRollback]);
  if (answer === 'armed') {
    const [known = ''] = rest;
    return { answer, era: known };
  }
  if (answer !== 'waiting') return { answer: 'changed' };
  const [sessions = [], folders = []] = rest.map((ids) => ids.split(' ').filter((id) => id !== ''));
  return { answer, for: { sessions, folders } };
}

/** Keeps the reason that `status`, `doctor` and the desk tell; arming takes it away. */
export async function sayDisarmed(ledger: RealmLedger, reason: Reason): Promise<void> {
  await ledger.scripts.script('note-closed', ledger.keyPrefix, [JSON.stringify(reason)]);
}
