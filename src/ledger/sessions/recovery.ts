import { counted } from '../../core/counted.js';
import type { BatchId } from '../../core/ids.js';
import type { Order } from '../../core/order.js';
import { type Highest, highest, noteMerged, noteRemoved } from '../journal/folder.js';
import { lastEra, type Position } from '../journal/positions.js';
import type { MergeContext } from '../moves/replay.js';
import { isCurrent, readFence, storeSeen } from '../read/fence.js';
import { entryOf, listSessions, type SessionEntry } from '../read/session-list.js';
import type { OrderRef, RealmLedger } from '../realm-ledger.js';
import type { Reason } from '../views.js';
import { adoptDead } from './adopt-orphans.js';
import type { Attempts } from './attempts.js';
import {
  arm,
  disarm,
  forgottenRemoved,
  type PutBack,
  reportMerged,
  sayDisarmed,
  type WaitedFor,
} from './fence.js';
import {
  checkFolder,
  faultsOf,
  folderReason,
  isCopyAlone,
  isIntact,
  missedByFolder,
} from './folder-check.js';
import { lookedFolders } from './folders.js';
import { journalOf, localJournals, noteLooked, type Scope } from './local-journals.js';
import { mergeTidings, tidingsFor } from './merge.js';
import { floorReason } from './reasons.js';
import { registerAgain, type Session } from './session.js';

/**
 * Recovery, the one procedure: a process that starts, a ledger that is closed, `almoner recover` and the adoption of the
 * dead all call it, over the same evidence, so that nothing opens what another keeps closed (watch.ts says when).
 *
 *   look     the journals that lie here, of this session, of those proven dead and of those that live and that the
 *            store does not know; what was removed of them
 *   close    a journal that knows what the ledger does not means that the store has forgotten: nothing is sent
 *            from here on, by anybody, before anything else is done
 *   stop     where the store has forgotten more than the journals here still know, a person has to decide
 *   merge    results settle orders, intents without one make them unknown
 *   adopt    what the dead were sending, and left neither result nor intent of, was never sent, if their journal is
 *            whole and its folder was not put back; otherwise it is unknown
 *   open     once every registered session has merged and the journals of every data folder were looked at
 *
 * Nothing is concluded from a file that is missing: a dead session whose journal is not here stays in the registry while
 * the ledger is closed, and is waited for by name.
 */
export type RecoveryDeps = {
  readonly ledger: RealmLedger;
  readonly context: MergeContext;
  /**
   * The process that recovers, also one that never sends: opening waits for all in the registry, so one that closes the
   * ledger and merges must stand there until it has.
   */
  readonly self: {
    readonly session: Session;
    readonly attempts: Pick<Attempts, 'merging' | 'sending' | 'has'>;
  };
  /** The store may have another past by now: what was read from it before is void. */
  readonly forget: () => void;
  /** Before anything of the dead is adopted: a run takes its own batch back, should the ledger have forgotten. */
  readonly retakeRun: () => Promise<void>;
  /** Reads the members of an order that became a doubt, so that a person can judge. */
  readonly onDoubt: (ref: OrderRef, order: Order, currency: string | null) => Promise<void>;
  readonly say: (message: string) => void;
};

export type Recovered = {
  /**
   * Open: orders may be sent. Waiting: for others. Stopped: only a person can decide how it goes on. Changed: another
   * server answers by now, or the same one went back, and what was merged is forgotten again.
   */
  readonly outcome: 'open' | 'waiting' | 'stopped' | 'changed';
  readonly waitingFor: WaitedFor;
  readonly stopped: Reason | null;
  readonly seen: number;
  /** The store was found to have forgotten something. */
  readonly rolledBack: boolean;
  /** Orders of which the ledger had forgotten something, and those among them that nobody can answer for. */
  readonly moved: number;
  readonly unknown: number;
  /** Of the unknown orders, those that became doubts at once. */
  readonly doubts: number;
  readonly recovered: readonly BatchId[];
  /** What dead sessions were sending and is to be worked on again. */
  readonly adopted: readonly OrderRef[];
  readonly dead: readonly SessionEntry[];
};

export const NO_ONE: WaitedFor = { sessions: [], folders: [] };

export const NOTHING_RECOVERED: Recovered = {
  outcome: 'open',
  waitingFor: NO_ONE,
  stopped: null,
  seen: 0,
  rolledBack: false,
  moved: 0,
  unknown: 0,
  doubts: 0,
  recovered: [],
  adopted: [],
  dead: [],
};

export async function recover(parts: RecoveryDeps, scope: Scope): Promise<Recovered> {
  const first = await look(parts, scope);
  const rolledBack = await close(parts, first);
  // What was found in the ledger in this era may be gone again: every journal is looked at anew, now that it is closed.
  const evidence = rolledBack && first.fence.armed ? await look(parts, 'every journal') : first;
  const { fence, seen, missed, folder } = evidence;
  if (Object.keys(missed).length > 0) {
    const stopped =
      (folder && folderReason(folder)) ?? floorReason(fence.seq, Math.max(...Object.values(missed)));
    parts.say(stopped.message);
    await sayDisarmed(parts.ledger, stopped);
    return { ...NOTHING_RECOVERED, outcome: 'stopped', stopped, seen, rolledBack };
  }
  const merged = await merge(parts, evidence);
  const isOpen = fence.armed && !rolledBack;
  const { dead, adopted } = await adoptFrom(parts, evidence, isOpen ? 'open' : 'closed');
  const { moved, unknown, doubts, recovered } = merged;
  const done = { ...NOTHING_RECOVERED, seen, rolledBack, moved, unknown, doubts, recovered, adopted, dead };
  const opened = isOpen
    ? { answer: 'armed' as const, era: fence.era }
    : await open(parts, evidence, [moved, unknown, recovered.length, doubts]);
  if (opened.answer === 'changed') return { ...done, outcome: 'changed' };
  if (opened.answer === 'waiting') return { ...done, outcome: 'waiting', waitingFor: opened.for };
  await noteOpened(parts, evidence, opened.era);
  return done;
}

type Evidence = Awaited<ReturnType<typeof look>>;

async function look({ ledger, self, forget }: RecoveryDeps, scope: Scope) {
  const before = { ...ledger.mark };
  const fence = await readFence(ledger);
  const current = isCurrent(fence, before);
  // Opening waits for everybody in the registry: one that the store has forgotten stands in it before it goes on.
  if (fence.begun === null) await self.session.register(ledger);
  if (!current) {
    forget();
    await self.attempts.merging();
  }
  const own = current ? undefined : await journalOf(ledger, self.session.entry);
  const { ended, missing, forgotten, livingSeq, removed, folders, damaged, sentFrom } = await localJournals(
    ledger,
    self.session.entry,
    fence.armed ? fence.era : null,
    current ? scope : 'every journal',
  );
  // Opening waits for everybody in the registry, so who lives here must stand in it.
  for (const { entry } of forgotten) await registerAgain(ledger, entry);
  const journals = [...(own === undefined ? [] : [own]), ...ended];
  const folder = current ? null : await checkFolder(ledger, fence);
  // Sessions that live and that the store knows look for themselves: of theirs, it is asked only how far the store came.
  const noted = Math.max(livingSeq, folder?.last?.seq ?? 0, folder?.behind?.seq ?? 0);
  const seen = Math.max(before.seen, noted, ...journals.map(({ seqSeen }) => seqSeen));
  const tidings = await tidingsFor(
    ledger,
    journals.flatMap(({ attempts }) => attempts),
  );
  // One that lives merges its own journal, perhaps after a long sleep; nothing may be sent before.
  const besides = await tidingsFor(
    ledger,
    forgotten.flatMap(({ journal }) => journal.attempts),
  );
  const unknownHere = [...tidings, ...besides].filter(({ standing }) => standing === 'forgotten');
  const missed = highest(
    await forgottenRemoved(ledger, fence, highest(removed, own?.removed ?? {})),
    folder === null ? {} : missedByFolder(folder, fence),
  );
  const faults = fence.armed ? new Map() : await faultsOf(ledger, fence, folders, damaged);
  const sent = new Set([
    ...sentFrom,
    ...(own !== undefined && own.attempts.length > 0 ? [self.session.entry.journal] : []),
  ]);
  const read = { own, ended, missing, folders, faults, sent };
  return { before, fence, current, ...read, folder, seen, tidings, unknownHere, missed };
}

/** Before anything is merged: a process that sends by what the store says now would send what others have sent. */
async function close(
  { ledger, self, say }: RecoveryDeps,
  { fence, seen, before, unknownHere, missed }: Evidence,
): Promise<boolean> {
  const attempts = unknownHere.length;
  const behind = fence.seq < seen;
  const gap = Object.entries(missed).some(([era, seq]) => fence.armed || fence.missed[era] !== seq);
  // Others may have moved the sequence on meanwhile.
  const forgets = (fence.begun ?? 0) < before.begun;
  if (!behind && !forgets && attempts === 0 && !gap) return false;
  const note = { at: Date.now(), seen, found: fence.seq, by: self.session.id };
  // What a journal knows, or nobody any more, closes it however far the sequence has come meanwhile.
  const anyway = forgets || attempts > 0 || gap;
  const isCopy = !behind && !forgets && attempts === 0 && isCopyAlone(missed);
  const sinceMs = Math.min(...unknownHere.map(({ attempt }) => attempt.intent.sentAt));
  const closed = anyway
    ? disarm(ledger, { ...note, attempts }, isCopy ? 'copied' : 'anyway', { missed, sinceMs })
    : disarm(ledger, note, 'behind', { missed, sinceMs });
  if (!(await closed)) return false;
  if (Object.keys(missed).length > 0) return true;
  if (behind) say(`the store has forgotten moves ${fence.seq + 1} to ${seen}; the journals put them back`);
  else if (attempts > 0)
    say(`the store has forgotten ${counted(attempts, 'attempt')}; the journals put them back`);
  return true;
}

async function merge({ context, self, say, retakeRun }: RecoveryDeps, { tidings, current }: Evidence) {
  const merged = await mergeTidings({ ...context, underWay: self.attempts.sending() }, tidings);
  const { moved, unknown, recovered, second } = merged;
  if (moved > 0)
    say(
      `merged the journals here: ${counted(moved, 'order')} put right, ${unknown} of them unknown${recovered.length === 0 ? '' : `; ${counted(recovered.length, 'batch', 'batches')} recovered: ${recovered.join(', ')}`}`,
    );
  for (const order of second)
    say(`order ${order} may have been paid twice: a journal knows an attempt beside the one that counts`);
  if (!current) await retakeRun();
  return merged;
}

async function adoptFrom(parts: RecoveryDeps, { fence, ended, missing }: Evidence, state: 'open' | 'closed') {
  const { ledger } = parts;
  // While the ledger is closed, a session that left no journal here is missing and waited for.
  const gone = new Set([
    ...ended.map(({ head }) => head.session),
    ...(state === 'open' ? missing.map(({ id }) => id) : []),
  ]);
  const dead = (await listSessions(ledger)).filter(({ id }) => gone.has(id));
  const byId = new Map(ended.map((journal) => [journal.head.session, journal]));
  const tellsAll = async (session: string) => {
    const journal = byId.get(session);
    return journal?.whole === true && isIntact(ledger, entryOf(journal.head, journal.folder));
  };
  const adopted = await adoptDead(parts, dead, tellsAll, storeSeen({ ...fence, armed: state === 'open' }));
  return { dead, adopted };
}

/** This process says that it has merged, and opens the ledger if all others have. */
async function open(
  { ledger, self: { session } }: RecoveryDeps,
  { before, fence: { run }, seen, folders, faults, sent }: Evidence,
  putBack: PutBack,
) {
  // A session that a rolled-back registry has forgotten registers again, or nobody would wait for it.
  await session.register(ledger);
  const looked = await lookedFolders(ledger, folders, session.entry.machine, { sent, faults });
  // A process that has just started knows no era; its folder may know one that the store has forgotten.
  const isFresh = before.era === '' || before.era === 'none';
  const era = isFresh ? await lastEra(session.entry.journal, ledger.keyPrefix) : before.era;
  const merged = { session: session.id, seen, era, looked, putBack };
  if (!(await reportMerged(ledger, run, merged))) return { answer: 'changed' } as const;
  return arm(ledger, run, seen);
}

async function noteOpened(parts: RecoveryDeps, evidence: Evidence, era: string): Promise<void> {
  const { ledger, self } = parts;
  const { fence, seen, folder, own, ended, folders } = evidence;
  const { mark } = ledger;
  // The store knows what the folder lost. From now on the lost journals count as removed.
  const lost = folder?.behind ?? null;
  if (lost !== null) await noteLost(parts, lost);
  mark.era = era;
  mark.seen = Math.max(mark.seen, seen, fence.seq);
  if (own !== undefined || ended.length + folders.length > 0) await noteAllMerged(parts, evidence);
  self.session.positions.saw(ledger, mark.seen);
}

async function noteLost({ ledger, self: { session } }: RecoveryDeps, { era, seq }: Position): Promise<void> {
  const lost: Record<string, Highest> = { [ledger.keyPrefix]: { [era]: seq } };
  await noteRemoved(session.entry.journal, session.id, lost, () => Promise.resolve(false));
}

/** What was merged is known by the sequence that stands there now, if the store is still the one that was opened. */
async function noteAllMerged(
  { ledger, self: { session } }: RecoveryDeps,
  { ended, folders: all, faults, sent }: Evidence,
): Promise<void> {
  const { mark, keyPrefix } = ledger;
  const fence = await readFence(ledger);
  const { armed, era, seq } = fence;
  if (!armed || era !== mark.era) return;
  mark.seen = Math.max(mark.seen, seq);
  for (const { head, folder, works, attempts } of ended)
    if (works) await noteMerged(folder, head.session, keyPrefix, { era, seq, sent: attempts.length > 0 });
  const folders = all.filter((folder) => !faults.has(folder));
  const looked = await lookedFolders(ledger, folders, session.entry.machine, { sent });
  const sentFrom = looked.filter((one) => one.sent);
  await noteLooked(ledger, folders, sentFrom, storeSeen(fence));
}
