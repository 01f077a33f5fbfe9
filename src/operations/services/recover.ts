import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { isAtWork } from '../../core/what-waits.js';
import {
  acceptMissing,
  allLedgers,
  disarm,
  JOURNAL_FOLDER,
  journalOf,
  type Loss,
  listJournals,
  listSessions,
  localJournals,
  lossOf,
  type MergeContext,
  mergeTidings,
  PlanReader,
  parkedAttempts,
  REMOVED,
  type RealmLedger,
  type Recovered,
  readFence,
  readSigns,
  recover,
  registerRealm,
  Session,
  tidingsFor,
} from '../../ledger/index.js';
import { KnownBatches } from '../../queue/batches.js';
import { floorReason } from '../../queue/reasons.js';
import type { App } from '../../runtime/app.js';
import { isoTime } from '../../words/spelling.js';
import { configuredProfile } from '../batches/batch-realm.js';

/** What `almoner recover`, `doctor` and the desk say and do about a store that was restarted or rolled back. */
export type RealmRecovery = Awaited<ReturnType<typeof stateOf>>;

export async function recoveryState(app: App): Promise<RealmRecovery[]> {
  return Promise.all((await allLedgers(app.scripts)).map((ledger) => stateOf(app, ledger)));
}

async function stateOf(app: App, ledger: RealmLedger) {
  const [fence, { signs }, parked] = await Promise.all([
    readFence(ledger),
    readSigns(ledger),
    parkedAttempts(ledger),
  ]);
  const sessions = signs.map(({ session, kind, pid, machine, life, seenMs, beats }) => ({
    session,
    kind,
    pid,
    machine,
    liveness: life,
    /** The time of its last sign of life; null where it never gave one. */
    lastSeen: beats ? isoTime(seenMs) : null,
  }));
  const profile = configuredProfile(app.config, ledger.realm);
  const missing = sessions.filter(({ liveness }) => liveness !== 'alive').map(({ session }) => session);
  if (fence.reason?.code === 'ALM_LEDGER_ROLLED_BACK') missing.push(REMOVED);
  return {
    realm: ledger.realm.name,
    armed: fence.armed,
    /** Nothing was ever sent from these books. */
    untouched: fence.untouched,
    reason: fence.reason,
    rollback: fence.rollback,
    /** Sending processes that are registered, and whether they are proven dead. */
    sessions,
    /** What giving up a session, or journals that were removed, would make unknown or a doubt. */
    losses:
      profile === undefined
        ? []
        : await Promise.all(
            missing.map(async (session) => told(session, await lossOf(contextOf(ledger, profile), session))),
          ),
    /** Orders that journals know to have been sent, of batches that the store has forgotten. */
    parked: parked.map(({ batch, attempts, incomplete }) => ({
      batch,
      orders: new Set(attempts.map(({ intent }) => intent.index)).size,
      /** More may have been sent of it than the journals know: the rest becomes a doubt when it is imported again. */
      incomplete,
    })),
  };
}

function told(session: string, { exact, orders, tokens }: Loss) {
  return { session, exact, orders, tokens: String(tokens) };
}

export async function journalsHere(dataFolder: string) {
  const folder = join(dataFolder, JOURNAL_FOLDER);
  const found = await listJournals(folder);
  return { folder, sessions: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) };
}

export type RecoverResult = Awaited<ReturnType<typeof recoverRealms>>;

/** Merges what lies on this machine, gives up what an operator says is lost, and arms where nothing is missing. */
export async function recoverRealms(app: App, lost: string | null) {
  const all = await allLedgers(app.scripts);
  const known = (await Promise.all(all.map(listSessions))).flat().map(({ id }) => id);
  if (lost !== null && lost !== REMOVED && !known.includes(lost))
    throw new AlmonerError('ALM_LEDGER_SESSION', `No session ${lost} is registered. Nothing was changed.`);
  let merged = 0;
  const losses: Loss[] = [];
  for (const profile of app.config.profiles)
    await merging(app, profile, async (ledger, session) => {
      merged += (await recoverOne(app, ledger, profile, session)).moved;
      const loss = lost === null ? null : await giveUp(app, ledger, profile, lost);
      if (loss === null) return;
      losses.push(loss);
      merged += (await recoverOne(app, ledger, profile, session)).moved;
    });
  return {
    realms: await recoveryState(app),
    /** Orders that the store had forgotten something of. */
    merged,
    /** What was given up by this command; null where nothing was. */
    accepted:
      losses.length === 0
        ? null
        : {
            exact: losses.every(({ exact }) => exact),
            orders: losses.reduce((sum, { orders }) => sum + orders, 0),
            tokens: String(losses.reduce((sum, { tokens }) => sum + tokens, 0n)),
          },
  };
}

/**
 * Before anything is judged by the ledger that may be paid then: a store that was restored has forgotten payments which
 * the journals here know, and a file with their rows would pass. Where others have to merge as well, the seal refuses.
 */
function mergeJournals(app: App, profile: RealmProfile, isNeeded?: () => Promise<boolean>) {
  return merging(app, profile, (ledger, session) => recoverOne(app, ledger, profile, session), isNeeded);
}

const MERGED = new WeakMap<App, Set<string>>();

/** The same, once for each realm; a process that goes on looks again only where the store is not the one of then. */
export async function mergeOnce(app: App, profile: RealmProfile): Promise<void> {
  const merged = MERGED.get(app) ?? new Set();
  MERGED.set(app, merged);
  const { id } = app.ledger(profile);
  if (!merged.has(id)) await mergeJournals(app, profile);
  merged.add(id);
  await mergeIfRestored(app, profile);
}

/**
 * A process that may have looked at its journals long ago looks again only where the store is not the one of then. Those
 * who live and are merging as well are waited for; what only a person can bring back is not. Answers whether orders may
 * be sent. `enter`: the caller stands in the registry, at every look, because each may find another store.
 */
export async function mergeIfRestored(
  app: App,
  profile: RealmProfile,
  enter: () => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const ledger = app.ledger(profile);
  const until = performance.now() + app.config.limits.mergePatienceMs;
  for (let merged = false; ; merged = true) {
    await enter();
    const { armed, missed } = await readFence(ledger);
    if (armed) return true;
    if (merged && (performance.now() > until || Object.keys(missed).length > 0)) return false;
    // Who waited for its turn finds, as a rule, that another call has armed meanwhile.
    const found = await mergeJournals(app, profile, async () => !(await readFence(ledger)).armed);
    if (found === null || found.armed) return true;
    if (found.stopped !== null || !(await areAtWork(ledger, found.waitingFor))) return false;
    await sleep(LOOK_AGAIN_MS);
  }
}

const LOOK_AGAIN_MS = 100;

async function areAtWork(ledger: RealmLedger, sessions: readonly string[]): Promise<boolean> {
  const { nowMs, signs } = await readSigns(ledger);
  return signs.every((sign) => !sessions.includes(sign.session) || isAtWork(sign, nowMs));
}

/** The last to merge in this process, by the opening and the realm. */
const MERGES = new WeakMap<App['scripts']['here'], Map<string, Promise<unknown>>>();

/** Calls of one process that overlap would otherwise wait for each other's sessions, each a new one, without end. */
function oneAtATime<T>({ id, scripts: { here } }: RealmLedger, work: () => Promise<T>): Promise<T> {
  const merges = MERGES.get(here) ?? new Map<string, Promise<unknown>>();
  MERGES.set(here, merges);
  const next = (merges.get(id) ?? Promise.resolve()).then(work, work);
  merges.set(id, next);
  return next;
}

/**
 * In a session of its own, for which arming waits. Null where there was nothing to do, as on a machine that never sent
 * anything and a new ledger.
 */
function merging<T>(
  app: App,
  profile: RealmProfile,
  merge: (ledger: RealmLedger, session: Session) => Promise<T>,
  isNeeded = () => Promise.resolve(true),
): Promise<T | null> {
  const ledger = app.ledger(profile);
  return oneAtATime(ledger, async () => {
    if (!(await isNeeded())) return null;
    const { sessions } = await journalsHere(app.config.dataFolder);
    if (sessions === 0 && (await readFence(ledger)).untouched) return null;
    const session = await Session.open('recover', app.config.dataFolder, { here: app.scripts.here });
    try {
      await session.register(ledger, profile.settleMs);
      const merged = await merge(ledger, session);
      await session.deregister(ledger);
      // A store that has forgotten everything has forgotten the realm as well; what is known of it is to be seen.
      if ((await parkedAttempts(ledger)).length > 0) await registerRealm(ledger);
      return merged;
    } finally {
      await session.close();
    }
  });
}

function contextOf(ledger: RealmLedger, profile: RealmProfile): MergeContext {
  const batches = new KnownBatches(ledger, profile);
  return { ledger, plans: new PlanReader(ledger), termsOf: (no) => batches.termsOf(no) };
}

function recoverOne(
  app: App,
  ledger: RealmLedger,
  profile: RealmProfile,
  session: Session,
): Promise<Recovered> {
  return recover({
    ledger,
    context: contextOf(ledger, profile),
    self: { session, attempts: NOTHING_SENT },
    forget: () => {},
    retakeRun: () => Promise.resolve(),
    onDoubt: () => Promise.resolve(),
    say: (message) => app.logger.warn({ message }, 'recovery'),
    floorReason,
  });
}

const NOTHING_SENT = { merging: () => Promise.resolve(), sending: () => new Set<string>() };

/** An operator says it is lost. Where its journal lies here after all, what it tells is merged first. */
async function giveUp(
  app: App,
  ledger: RealmLedger,
  profile: RealmProfile,
  lost: string,
): Promise<Loss | null> {
  const context = contextOf(ledger, profile);
  const by = { who: app.config.operator, at: Date.now() };
  const folder = join(app.config.dataFolder, JOURNAL_FOLDER);
  if (lost === REMOVED) {
    if ((await readFence(ledger)).reason?.code !== 'ALM_LEDGER_ROLLED_BACK') return null;
    const { removed } = await localJournals(ledger, { id: '', journal: folder }, { era: null, seq: 0 }, true);
    return acceptMissing(context, lost, by, removed);
  }
  const entry = (await listSessions(ledger)).find(({ id }) => id === lost);
  if (entry === undefined) return null;
  if ((await app.scripts.here.liveness(entry)) === 'alive')
    throw new AlmonerError(
      'ALM_LEDGER_SESSION',
      `Session ${lost} lives (pid ${entry.pid} on this machine), so its journal is not lost. Nothing was changed.`,
      { next: `Let it go on, or end it (kill ${entry.pid}), then run \`almoner recover\`.` },
    );
  const journal = await journalOf(ledger, { id: lost, journal: folder });
  const tidings = journal === undefined ? [] : await tidingsFor(ledger, journal.attempts);
  if (tidings.some(({ standing }) => standing === 'forgotten')) {
    const { seq } = await readFence(ledger);
    const note = { at: by.at, seen: journal?.seqSeen ?? seq, found: seq, by: 'recover' };
    await disarm(ledger, { ...note, attempts: tidings.length }, 'anyway');
  }
  await mergeTidings({ ...context, underWay: new Set() }, tidings);
  return acceptMissing(context, lost, by);
}
