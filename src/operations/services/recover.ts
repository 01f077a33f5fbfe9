import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { AlmonerError } from '../../core/errors/error.js';
import { presenceOf } from '../../core/presence.js';
import type { RealmProfile } from '../../core/profile.js';
import {
  acceptMoved,
  afterRollback,
  allLedgers,
  closeIfForgotten,
  closeLedger,
  type Fence,
  folders,
  JOURNAL_FOLDER,
  journalOf,
  listSessions,
  localJournals,
  losses,
  mergedSessions,
  mergeTidings,
  type RealmLedger,
  readFence,
  readRecovery,
  readSigns,
  recoveredBatches,
  tidingsFor,
} from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { isoTime } from '../../words/spelling.js';
import { configuredProfile } from '../batches/batch-realm.js';
import { contextOf, recovering } from './recovery.js';

/** What `almoner recover`, `doctor` and the desk say and do about a store that was restarted or rolled back. */
export type RealmRecovery = Awaited<ReturnType<typeof stateOf>>;

export async function recoveryState(app: App, before?: LastOpened): Promise<RealmRecovery[]> {
  return Promise.all((await allLedgers(app.scripts)).map((ledger) => stateOf(app, ledger, before)));
}

/** When the last recovery of each ledger ended, by key prefix, as it was before a command; null where it had not. */
type LastOpened = ReadonlyMap<string, number | null>;

async function lastOpened(app: App): Promise<LastOpened> {
  const all = await allLedgers(app.scripts);
  const times = all.map(async (ledger) => [ledger.keyPrefix, (await readRecovery(ledger))?.openedMs ?? null]);
  return new Map((await Promise.all(times)) as [string, number | null][]);
}

/** A sentence for each realm, or the one that is named, whose payments wait for journals or for a person. */
export async function recoveryNotes(app: App, realm: string | undefined): Promise<string[]> {
  const all = await allLedgers(app.scripts);
  const meant = all.filter((ledger) => realm === undefined || ledger.realm.name === realm);
  return (await Promise.all(meant.map(noteOf))).flat();
}

async function noteOf(ledger: RealmLedger): Promise<string[]> {
  const [fence, waits, sessions] = await Promise.all([
    readFence(ledger),
    afterRollback.readWaitAfterRollback(ledger),
    listSessions(ledger),
  ]);
  const { name } = ledger.realm;
  // An embedded store starts anew with the command that asks: it is closed, and no process waits for it.
  if (!fence.armed && !fence.untouched && (fence.lowered || fence.reason !== null || sessions.length > 0))
    return [
      `${name}: THE LEDGER IS CLOSED, and nothing is sent. ${fence.reason?.message ?? 'Journals are not compared with it yet.'} Run \`almoner recover\`.`,
    ];
  if (waits === null) return [];
  return [
    `${name}: FIRST SENDS WAIT FOR A PERSON since ${isoTime(waits.sinceMs)}, because the store forgot payments. Run \`almoner recover\` to see what happened.`,
  ];
}

async function stateOf(app: App, ledger: RealmLedger, before?: LastOpened) {
  const [fence, { signs, nowMs }, batches, known, last, waits] = await Promise.all([
    readFence(ledger),
    readSigns(ledger),
    recoveredBatches(ledger),
    folders.foldersOf(ledger),
    readRecovery(ledger),
    afterRollback.readWaitAfterRollback(ledger),
  ]);
  const merged = await mergedSessions(ledger, fence.run);
  const sessions = signs.map(({ session, kind, pid, machine, life, seenMs, beats }) => ({
    session,
    kind,
    pid,
    machine,
    liveness: life,
    presence: presenceOf({ life, seenMs, beats }, nowMs),
    /** It has merged its journal since the ledger was closed. */
    merged: merged.has(session),
    /** The time of its last sign of life; null where it never gave one. */
    lastSeen: beats ? isoTime(seenMs) : null,
  }));
  const profile = configuredProfile(app.config, ledger.realm);
  const isClosed = !fence.armed && !fence.untouched;
  const missing = sessions
    .filter(({ liveness, merged: has }) => liveness !== 'alive' && !(isClosed && has))
    .map(({ session }) => session);
  if (isIncomplete(fence)) missing.push(losses.REMOVED);
  return {
    realm: ledger.realm.name,
    armed: fence.armed,
    /** Nothing was ever sent from these books. */
    untouched: fence.untouched,
    reason: fence.reason,
    rollback: fence.rollback,
    /** What the last recovery put back; null where there was nothing. */
    last,
    /** That recovery is the one that is under way, that first sends wait for, or that this command ended. */
    isPresent:
      last !== null && isPresent(last.openedMs, isClosed, waits?.sinceMs, before?.get(ledger.keyPrefix)),
    /** First sends wait for a person since then; null where they do not. */
    waitsSince: waits === null ? null : isoTime(waits.sinceMs),
    waitingBatches: waits?.batches ?? 0,
    /** Sending processes that are registered, and whether they are proven dead. */
    sessions,
    /** Data folders that orders were sent from, and whether the ledger waits for them. */
    folders: known.map(({ id, journal, machine, at, isAway }) => ({
      id,
      journal,
      machine,
      lastSeen: isoTime(at),
      waitedFor: isClosed && isAway,
      /** It was in the place where the data folder of this process is now. */
      wasHere: machine === hostname() && dirname(journal) === resolve(app.config.dataFolder),
    })),
    /** What giving up a session, or journals that were removed, would make unknown or a doubt. */
    losses:
      profile === undefined
        ? []
        : await Promise.all(
            missing.map(async (session) =>
              told(session, await losses.lossOf(contextOf(ledger, profile), session)),
            ),
          ),
    /** What not waiting for data folders any more would make a doubt; null where none is waited for. */
    retiring:
      profile === undefined || !isClosed || known.every(({ isAway }) => !isAway)
        ? null
        : told('folders', await losses.lossOfRetiring(contextOf(ledger, profile))),
    /** Batches that the store had forgotten, with the orders of them that journals know. */
    recovered: batches,
  };
}

function isPresent(
  openedMs: number | null,
  isClosed: boolean,
  waitsSinceMs: number | undefined,
  before: number | null | undefined,
): boolean {
  if (isClosed || openedMs === null) return openedMs === null;
  if (waitsSinceMs !== undefined) return openedMs >= waitsSinceMs;
  return before !== undefined && before !== openedMs;
}

function told(session: string, { exact, orders, tokens }: losses.Loss) {
  return { session, exact, orders, tokens: String(tokens) };
}

/** The journals here do not tell all that the ledger may have forgotten: a person has to decide. */
function isIncomplete({ reason }: Pick<Fence, 'reason'>): boolean {
  return reason !== null && INCOMPLETE.has(reason.code);
}

const INCOMPLETE: ReadonlySet<string> = new Set([
  'ALM_LEDGER_ROLLED_BACK',
  'ALM_LEDGER_FOLDER_BEHIND',
  'ALM_LEDGER_FOLDER_COPIED',
]);

/** What a person decides about what is missing; nothing, where they only want it recovered. */
export type Decision = {
  /** A session that is lost with its journal, or journals that were removed (REMOVED). */
  readonly acceptMissing?: string | null;
  /** The data folder was moved whole. */
  readonly acceptMoved?: boolean;
  /** The store was put back by its own means: first sends wait, whatever the journals know. */
  readonly restored?: boolean;
  /** Data folders that were not heard of since then do not come back. */
  readonly retireUnseenSinceMs?: number | null;
  /** Only of this realm; all that are configured where none is named. */
  readonly realm?: string | undefined;
  /** Asked once the journals here are merged: whether the decision still is the one that the person saw. */
  readonly isStillMeant?: () => Promise<boolean>;
};

export type RecoverResult = Awaited<ReturnType<typeof recoverRealms>>;

/** Merges what lies on this machine, gives up what an operator says is lost, and opens where nothing is missing. */
export async function recoverRealms(app: App, decision: Decision = {}) {
  const { acceptMissing = null, realm } = decision;
  await needKnown(app, acceptMissing);
  const before = await lastOpened(app);
  let [merged, unknown, doubts] = [0, 0, 0];
  const given: losses.Loss[] = [];
  let retired = 0;
  if (decision.restored === true) await closeRestored(app, realm);
  for (const profile of app.config.profiles)
    await recovering(
      app,
      profile,
      async ({ ledger, now, session }) => {
        const merge = async () => {
          const found = await now();
          merged += found.moved;
          unknown += found.unknown;
          doubts += found.doubts;
        };
        await merge();
        if (realm !== undefined && profile.name !== realm) return;
        if ((await decision.isStillMeant?.()) === false) return;
        if (decision.acceptMoved === true && (await takeMoved(ledger))) await merge();
        const lost =
          acceptMissing === null
            ? null
            : await giveUp(app, ledger, profile, { lost: acceptMissing, session });
        const away = await retire(app, ledger, profile, decision.retireUnseenSinceMs ?? null);
        retired += away?.folders ?? 0;
        if (lost === null && away === null) return;
        given.push(...[lost, away].filter((loss) => loss !== null));
        await merge();
      },
      decision.restored,
    );
  return {
    realms: await recoveryState(app, before),
    /** Orders that the store had forgotten something of, of how many the outcome is not known, and how many are doubts now. */
    merged,
    unknown,
    doubts,
    /** Data folders that are not waited for any more. */
    retired,
    /** What was given up by this command; null where nothing was. */
    accepted:
      given.length === 0
        ? null
        : {
            exact: given.every(({ exact }) => exact),
            orders: given.reduce((sum, { orders }) => sum + orders, 0),
            tokens: String(given.reduce((sum, { tokens }) => sum + tokens, 0n)),
          },
  };
}

/**
 * A restored store may have forgotten that a batch was paused or cancelled, and no journal knows that. The note comes first:
 * whichever process opens the ledger after it, first sends wait.
 */
async function closeRestored(app: App, realm: string | undefined): Promise<void> {
  for (const ledger of await allLedgers(app.scripts)) {
    if (realm !== undefined && ledger.realm.name !== realm) continue;
    await afterRollback.noteRestored(ledger);
    await closeLedger(ledger);
  }
}

async function needKnown(app: App, lost: string | null): Promise<void> {
  if (lost === null || lost === losses.REMOVED) return;
  const all = await allLedgers(app.scripts);
  const known = (await Promise.all(all.map(listSessions))).flat().map(({ id }) => id);
  if (!known.includes(lost))
    throw new AlmonerError('ALM_LEDGER_SESSION', `No session ${lost} is registered. Nothing was changed.`);
}

function retire(app: App, ledger: RealmLedger, profile: RealmProfile, sinceMs: number | null) {
  if (sinceMs === null) return Promise.resolve(null);
  const by = { who: app.config.operator, at: Date.now() };
  return losses.retireUnseen(contextOf(ledger, profile), sinceMs, by);
}

/** An operator says that the folder was moved whole. The witness overrules that. */
async function takeMoved(ledger: RealmLedger): Promise<boolean> {
  const { reason } = await readFence(ledger);
  if (reason?.code === 'ALM_LEDGER_FOLDER_BEHIND')
    throw new AlmonerError(reason.code, `${reason.message} --accept-moved does not apply.`);
  return reason?.code === 'ALM_LEDGER_FOLDER_COPIED' && acceptMoved(ledger);
}

/** An operator says it is lost. Where its journal lies here after all, what it tells is merged first. */
async function giveUp(
  app: App,
  ledger: RealmLedger,
  profile: RealmProfile,
  { lost, session }: { readonly lost: string; readonly session: string },
): Promise<losses.Loss | null> {
  const context = contextOf(ledger, profile);
  const by = { who: app.config.operator, at: Date.now() };
  const folder = join(app.config.dataFolder, JOURNAL_FOLDER);
  if (lost === losses.REMOVED) {
    if (!isIncomplete(await readFence(ledger))) return null;
    const { removed } = await localJournals(ledger, { id: '', journal: folder }, null, 'every journal');
    return losses.acceptMissing(context, lost, by, removed);
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
  await closeIfForgotten(ledger, tidings, { by: session, seen: journal?.seqSeen ?? 0 });
  await mergeTidings({ ...context, underWay: new Set() }, tidings);
  return losses.acceptMissing(context, lost, by);
}
