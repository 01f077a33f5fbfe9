import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { presenceOf } from '../../core/presence.js';
import type { RealmProfile } from '../../core/profile.js';
import {
  arm,
  type Fence,
  JOURNAL_FOLDER,
  listBatches,
  listJournals,
  type MergeContext,
  PlanReader,
  type RealmLedger,
  type Recovered,
  readFence,
  readSigns,
  recover,
  registerRealm,
  Session,
  settleOverdue,
} from '../../ledger/index.js';
import { KnownBatches } from '../../queue/batches.js';
import { floorReason } from '../../queue/reasons.js';
import type { App } from '../../runtime/app.js';

/** What the journals of this machine know is put back before anything is judged by a store that may have forgotten it. */

/** The store for which this process has merged its journals, by its opening and the realm. */
const MERGED = new WeakMap<App['scripts']['here'], Map<string, Pick<Fence, 'run' | 'era' | 'seq'>>>();
/** The merges under way, by the opening, the realm and how long they wait for the store. */
const MERGES = new WeakMap<App['scripts']['here'], Map<string, Merge>>();
/** Whoever shares it enters the registry of every store that is found, or it would be waited for. */
type Merge = { readonly enters: Set<() => Promise<void>>; readonly armed: Promise<boolean> };

function ofOpening<T>(
  all: WeakMap<App['scripts']['here'], Map<string, T>>,
  { scripts: { here } }: RealmLedger,
): Map<string, T> {
  const known = all.get(here) ?? new Map<string, T>();
  all.set(here, known);
  return known;
}

/**
 * Before anything is judged by the ledger that may be paid then: a store that was restored has forgotten payments which
 * the journals here know, and a file with their rows would pass. The first look of a process merges whatever lies here;
 * later ones where the store, or its era, is not the one of then: another machine may have armed it without us.
 * Answers whether orders may be sent. `enter`: the caller stands in the registry, at every look, because each may find
 * another store.
 */
export async function mergeIfRestored(
  app: App,
  profile: RealmProfile,
  enter: () => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const ledger = app.ledger(profile);
  await enter();
  if (await isMerged(ledger)) return true;
  const merges = ofOpening(MERGES, ledger);
  const key = `${ledger.id} ${app.scripts.patienceMs}`;
  // Calls that overlap share one merge: their sessions would keep each other from arming.
  const merge = merges.get(key) ?? startMerge(app, profile);
  merges.set(key, merge);
  merge.enters.add(enter);
  try {
    const [armed] = await Promise.all([merge.armed, enter()]);
    if (armed) return true;
  } finally {
    merge.enters.delete(enter);
    if (merges.get(key) === merge) merges.delete(key);
  }
  return isMerged(ledger);
}

function startMerge(app: App, profile: RealmProfile): Merge {
  const enters: Merge['enters'] = new Set();
  return { enters, armed: mergeAndArm(app, profile, enters) };
}

async function isMerged(ledger: RealmLedger): Promise<boolean> {
  const { armed, run, era, seq } = await readFence(ledger);
  const then = ofOpening(MERGED, ledger).get(ledger.id);
  return armed && then !== undefined && then.run === run && then.era === era && then.seq <= seq;
}

/**
 * Merges once for every store that it finds, and waits in the same session for others that live and are merging; what
 * only a person can bring back is not waited for.
 */
async function mergeAndArm(app: App, profile: RealmProfile, enters: Merge['enters']): Promise<boolean> {
  const armed = await merging(app, profile, async (ledger, session) => {
    for (let [run, until] = ['', 0]; ; ) {
      const fence = await readFence(ledger);
      if (run !== fence.run)
        [run, until] = [fence.run, performance.now() + app.config.limits.mergePatienceMs];
      for (const enter of enters) await enter();
      const found = await recoverOne(app, ledger, profile, session);
      if (found.armed) return true;
      if (
        found.stopped !== null ||
        (await waitForArming(ledger, { run, until, seen: found.seen, self: session.id })) === 'no'
      )
        return false;
    }
  });
  return armed ?? true;
}

const LOOK_AGAIN_MS = 100;

/** Until somebody has armed this store, or it is another one: then there is something to merge again. */
async function waitForArming(
  ledger: RealmLedger,
  asked: { readonly run: string; readonly until: number; readonly seen: number; readonly self: string },
): Promise<'look' | 'no'> {
  for (let looks = 0; ; looks++) {
    const answer = await arm(ledger, asked.run, asked.seen);
    if (answer.answer !== 'waiting') return 'look';
    // Somebody has found that the store forgot an arming: everybody merges once more (see merged.lua).
    if (answer.sessions.includes(asked.self)) return 'look';
    if (performance.now() > asked.until || answer.sessions.length === 0) return 'no';
    // Who died since is adopted by another look; who was gone before could not be.
    const { nowMs, signs } = await readSigns(ledger);
    const waitedFor = signs.filter(({ session }) => answer.sessions.includes(session));
    if (waitedFor.some((sign) => presenceOf(sign, nowMs) !== 'at-work')) return looks === 0 ? 'no' : 'look';
    await sleep(LOOK_AGAIN_MS);
  }
}

/**
 * In a session of its own, for which arming waits. Null where there was nothing to do, as on a machine that never sent
 * anything and a new ledger.
 */
export async function merging<T>(
  app: App,
  profile: RealmProfile,
  merge: (ledger: RealmLedger, session: Session) => Promise<T>,
): Promise<T | null> {
  const ledger = app.ledger(profile);
  const { sessions } = await journalsHere(app.config.dataFolder);
  if (sessions === 0 && (await readFence(ledger)).untouched) return null;
  const session = await Session.open('recover', app.config.dataFolder, { here: app.scripts.here });
  try {
    const merged = await merge(ledger, session);
    await session.deregister(ledger);
    // A store that has forgotten everything has forgotten the realm as well; what was recovered of it is to be seen.
    if ((await listBatches(ledger)).length > 0) await registerRealm(ledger);
    return merged;
  } finally {
    await session.close();
  }
}

export function contextOf(ledger: RealmLedger, profile: RealmProfile): MergeContext {
  const batches = new KnownBatches(ledger, profile);
  return { ledger, plans: new PlanReader(ledger), termsOf: (no) => batches.termsOf(no) };
}

export async function recoverOne(
  app: App,
  ledger: RealmLedger,
  profile: RealmProfile,
  session: Session,
): Promise<Recovered> {
  const found = await recover({
    ledger,
    context: contextOf(ledger, profile),
    self: { session, attempts: NOTHING_SENT },
    forget: () => {},
    retakeRun: () => Promise.resolve(),
    onDoubt: () => Promise.resolve(),
    say: (message) => app.logger.warn({ message }, 'recovery'),
    floorReason,
  });
  const fence = await readFence(ledger);
  if (!found.armed || fence.era !== ledger.mark.era) return found;
  ofOpening(MERGED, ledger).set(ledger.id, fence);
  // A process that lives may have an answer in its journal that the store did not take from it.
  const settled = await settleOverdue({ ledger, context: contextOf(ledger, profile) }, session.id);
  return { ...found, moved: found.moved + settled };
}

const NOTHING_SENT = {
  merging: () => Promise.resolve(),
  sending: () => new Set<string>(),
  has: () => false,
};

export async function journalsHere(dataFolder: string) {
  const folder = join(dataFolder, JOURNAL_FOLDER);
  const found = await listJournals(folder);
  const written = found.flatMap(({ files }) => files.map(({ writtenMs }) => writtenMs));
  return {
    folder,
    sessions: found.length,
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    /** When the oldest file was written last; null where there is none. */
    oldestMs: written.length === 0 ? null : Math.min(...written),
  };
}
