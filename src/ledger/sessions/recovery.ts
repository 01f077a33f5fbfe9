import { counted } from '../../core/counted.js';
import type { Order } from '../../core/order.js';
import { type Highest, highest, noteMerged, noteRemoved } from '../journal/folder.js';
import { type EndedJournal, journalOf, localJournals, noteLooked } from '../journal/local-journals.js';
import { mergeTidings, tidingsFor } from '../journal/merge.js';
import type { Attempts } from '../moves/attempts.js';
import type { OrderRef } from '../moves/begin-sending.js';
import { keepRequirement } from '../moves/gate.js';
import type { MergeContext } from '../moves/replay.js';
import type { RealmLedger } from '../realm-ledger.js';
import type { Reason } from '../views.js';
import { adoptDead } from './adopt-orphans.js';
import {
  arm,
  disarm,
  type Fence,
  forgottenRemoved,
  isCurrent,
  readFence,
  reportMerged,
  sayDisarmed,
  storeSeen,
} from './fence.js';
import { checkFolder, folderReason, isCopyAlone, isIntact, missedByFolder } from './folder-check.js';
import type { Position } from './positions.js';
import { entryOf, listSessions, registerAgain, type Session, type SessionEntry } from './session.js';

/**
 * The one way of recovery: start-up, the fence, `almoner recover` and the adoption of the dead are this function
 * over the same evidence, so that nothing arms what another refuses.
 *
 *   look     the journals that lie here, of this session, of those proven dead and of those that live and that the
 *            store does not know; what was removed of them
 *   lower    a journal that knows what the ledger does not means that the store has forgotten: nothing is sent
 *            from here on, by anybody, before anything else is done
 *   stop     where the store has forgotten more than the journals here still know, a person has to decide
 *   merge    results roll orders forward, intents without one make them unknown
 *   adopt    what the dead were sending, and left neither result nor intent of, was never sent, if their journal is
 *            whole and its folder was not put back; otherwise it is unknown
 *   arm      once every registered session has merged
 *
 * Nothing is concluded from a file that is missing: a dead session whose journal is not here stays in the
 * registry while the fence is down, and is waited for by name.
 */
export type RecoveryDeps = {
  readonly ledger: RealmLedger;
  readonly context: MergeContext;
  /**
   * The process that recovers, also one that never sends: arming waits for all in the registry, so whoever lowers the
   * fence and merges must stand there until it has.
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
  readonly floorReason: (found: number, removed: number) => Reason;
};

export type Recovered = {
  readonly armed: boolean;
  readonly seen: number;
  /** The store was found to have forgotten something. */
  readonly rolledBack: boolean;
  /** Only a person can decide how it goes on. */
  readonly stopped: Reason | null;
  /** Registered sessions that have not merged. */
  readonly waitingFor: readonly string[];
  readonly moved: number;
  readonly unknown: number;
  /** What dead sessions were sending and is to be worked on again. */
  readonly adopted: readonly OrderRef[];
  readonly dead: readonly SessionEntry[];
};

/** `all`: every journal that lies here is looked at, also of sessions that the registry does not know. */
export async function recover(
  parts: RecoveryDeps,
  all = true,
  /** This very recovery has lowered the fence before. */
  lowered = false,
): Promise<Recovered> {
  const { ledger, self, context } = parts;
  const { mark } = ledger;
  const before = { ...mark };
  const fence = await readFence(ledger);
  const current = isCurrent(fence, before);
  // Arming waits for everybody in the registry: one that the store has forgotten stands in it before it goes on.
  if (fence.begun === null) await self.session.register(ledger);
  if (!current) parts.forget();
  // With the payments a store forgets what is required of the next ones; nothing is fed before (see feed.lua).
  if (!current) await keepRequirement(ledger);
  if (!current) await self.attempts.merging();

  const own = current ? undefined : await journalOf(ledger, self.session.entry);
  const known = { era: fence.armed ? fence.era : null, seq: fence.seq };
  const { ended, missing, forgotten, removed, folders } = await localJournals(
    ledger,
    self.session.entry,
    known,
    all || !current,
  );
  // Arming waits for everybody in the registry, so whoever lives here must stand in it.
  for (const { entry } of forgotten) await registerAgain(ledger, entry);
  const journals = [...(own === undefined ? [] : [own]), ...ended];
  const folder = current ? null : await checkFolder(ledger, fence);
  const lost = folder?.behind ?? null;
  // Sessions that live and that the store knows look for themselves, and have noted beside their journals how far it came.
  const noted = Math.max(folder?.last?.seq ?? 0, lost?.seq ?? 0);
  const seen = Math.max(before.seen, noted, ...journals.map(({ seqSeen }) => seqSeen));
  const tidings = await tidingsFor(
    ledger,
    journals.flatMap(({ attempts }) => attempts),
  );
  // Whoever lives merges its own journal, perhaps after a long sleep; nobody may send before.
  const besides = await tidingsFor(
    ledger,
    forgotten.flatMap(({ journal }) => journal.attempts),
  );
  const unknownHere = [...tidings, ...besides].filter(({ standing }) => standing === 'forgotten').length;
  const missed = highest(
    await forgottenRemoved(ledger, fence, highest(removed, own?.removed ?? {})),
    folder === null ? {} : missedByFolder(folder, fence),
  );
  const rolledBack =
    lowered || (await lower(parts, fence, { seen, begun: before.begun, attempts: unknownHere, missed }));
  // What was found in the ledger in this era may be gone again: every journal is looked at anew, with the fence down.
  if (rolledBack && fence.armed && !lowered) return recover(parts, true, true);
  const result = {
    armed: false,
    seen,
    rolledBack,
    waitingFor: [],
    moved: 0,
    unknown: 0,
    adopted: [],
    dead: [],
  };
  if (Object.keys(missed).length > 0) {
    const stopped =
      (folder && folderReason(folder)) ?? parts.floorReason(fence.seq, Math.max(...Object.values(missed)));
    parts.say(stopped.message);
    await sayDisarmed(ledger, stopped);
    return { ...result, stopped };
  }

  const underWay = self.attempts.sending();
  const merged = await mergeTidings({ ...context, underWay }, tidings);
  if (merged.moved > 0)
    parts.say(
      `merged the journals here: ${counted(merged.moved, 'order')} put right, ${merged.unknown} of them unknown${merged.recovered.length === 0 ? '' : `; ${counted(merged.recovered.length, 'batch', 'batches')} recovered: ${merged.recovered.join(', ')}`}`,
    );
  for (const order of merged.second)
    parts.say(
      `order ${order} may have been paid twice: a journal knows an attempt beside the one that counts`,
    );
  if (!current) await parts.retakeRun();

  const isArmed = fence.armed && !rolledBack;
  // While the fence is down, whoever left no journal here is missing and waited for.
  const gone = new Set([
    ...ended.map(({ head }) => head.session),
    ...(isArmed ? missing.map(({ id }) => id) : []),
  ]);
  const dead = (await listSessions(ledger)).filter(({ id }) => gone.has(id));
  const byId = new Map(ended.map((journal) => [journal.head.session, journal]));
  const tellsAll = async (session: string) => {
    const journal = byId.get(session);
    return journal?.whole === true && isIntact(ledger, entryOf(journal.head, journal.folder));
  };
  const adopted = await adoptDead(parts, dead, tellsAll, storeSeen({ ...fence, armed: isArmed }));
  const done = { ...result, stopped: null, moved: merged.moved, unknown: merged.unknown, adopted, dead };
  const armed = isArmed
    ? { answer: 'armed' as const, era: fence.era }
    : await armAgain(parts, fence.run, seen);
  if (armed.answer !== 'armed')
    return { ...done, waitingFor: armed.answer === 'waiting' ? armed.sessions : [] };
  // The store knows what the folder lost. From now on the lost journals count as removed.
  if (lost !== null) await noteLost(parts, lost);
  mark.era = armed.era;
  mark.seen = Math.max(mark.seen, seen, fence.seq);
  if (journals.length + folders.length > 0) await noteAllMerged(parts, ended, folders);
  self.session.positions.saw(ledger, mark.seen);
  return { ...done, armed: true };
}

async function noteLost({ ledger, self: { session } }: RecoveryDeps, { era, seq }: Position): Promise<void> {
  const lost = { [ledger.keyPrefix]: { [era]: seq } };
  await noteRemoved(session.entry.journal, session.id, lost, () => Promise.resolve(false));
}

/** What was merged is known by the sequence that stands there now, if the store is still the one that was armed. */
async function noteAllMerged(
  { ledger: { mark, keyPrefix }, ledger }: RecoveryDeps,
  ended: readonly EndedJournal[],
  folders: readonly string[],
): Promise<void> {
  const fence = await readFence(ledger);
  const { armed, era, seq } = fence;
  if (!armed || era !== mark.era) return;
  mark.seen = Math.max(mark.seen, seq);
  for (const { head, folder, works } of ended)
    if (works) await noteMerged(folder, head.session, keyPrefix, { era, seq });
  await noteLooked(ledger, folders, storeSeen(fence));
}

/** Before anything is merged: whoever sends by what the store says now would send what others have sent. */
async function lower(
  { ledger, self, say }: RecoveryDeps,
  fence: Fence,
  { seen, begun, attempts, missed }: { seen: number; begun: number; attempts: number; missed: Highest },
): Promise<boolean> {
  const behind = fence.seq < seen;
  const gap = Object.entries(missed).some(([era, seq]) => fence.armed || fence.missed[era] !== seq);
  // Others may have moved the sequence on meanwhile.
  const forgets = (fence.begun ?? 0) < begun;
  if (!behind && !forgets && attempts === 0 && !gap) return false;
  const note = { at: Date.now(), seen, found: fence.seq, by: self.session.id };
  // What a journal knows, or nobody any more, lowers it however far the sequence has come meanwhile.
  const anyway = forgets || attempts > 0 || gap;
  const isCopy = !behind && !forgets && attempts === 0 && isCopyAlone(missed);
  const lowered = anyway
    ? disarm(ledger, { ...note, attempts }, isCopy ? 'copied' : 'anyway', missed)
    : disarm(ledger, note, 'behind', missed);
  if (!(await lowered)) return false;
  if (Object.keys(missed).length > 0) return true;
  if (behind) say(`the store has forgotten moves ${fence.seq + 1} to ${seen}; the journals put them back`);
  else if (attempts > 0)
    say(`the store has forgotten ${counted(attempts, 'attempt')}; the journals put them back`);
  return true;
}

/** This process says that it has merged, and arms if all others have. */
async function armAgain({ ledger, self }: RecoveryDeps, run: string, seen: number) {
  // A session that a rolled-back registry has forgotten registers again, or nobody would wait for it.
  await self.session.register(ledger);
  if (!(await reportMerged(ledger, run, self.session.id, seen))) return { answer: 'changed' } as const;
  return arm(ledger, run, seen);
}
