import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { presenceOf } from '../../core/presence.js';
import { allLedgers, ledgerId, planning, type RealmLedger, recovery } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { isoTime } from '../../words/spelling.js';
import { configuredProfile } from '../batches/batch-realm.js';
import { contextOf } from './recovery.js';

/** What `almoner recover`, `doctor` and the desk say about a store that was restarted or rolled back. */
export type RealmRecovery = Awaited<ReturnType<typeof stateOf>>;

export async function recoveryState(app: App, before?: LastOpened): Promise<RealmRecovery[]> {
  return Promise.all((await allLedgers(app.scripts)).map((ledger) => stateOf(app, ledger, before)));
}

/** When the last recovery of each ledger ended, by its id, as it was before a command; null where it had not. */
type LastOpened = ReadonlyMap<string, number | null>;

export async function lastOpened(app: App): Promise<LastOpened> {
  const all = await allLedgers(app.scripts);
  const times = all.map(async (ledger) => [
    ledgerId(ledger.realm),
    (await recovery.fence.lastRecovery(ledger))?.openedMs ?? null,
  ]);
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
    recovery.fence.read(ledger),
    recovery.afterRollback.readWaitAfterRollback(ledger),
    recovery.sessions.list(ledger),
  ]);
  const { name } = ledger.realm;
  // An embedded store starts anew with the command that asks: it is closed, and no process waits for it.
  if (!fence.armed && !fence.untouched && (fence.lowered || fence.reason !== null || sessions.length > 0))
    return [
      `${name}: THE LEDGER IS CLOSED, and nothing is sent. ${fence.reason?.message ?? 'Journals are not compared with it yet.'} Run \`almoner recover\`.`,
    ];
  const problem = await recovery.folders.problem(ledger);
  if (problem !== null) return [`${name}: ${problem.message} Run \`almoner recover\`.`];
  if (waits === null) return [];
  return [
    `${name}: FIRST SENDS WAIT FOR A PERSON since ${isoTime(waits.sinceMs)}, because the store was rolled back. Run \`almoner recover\` to see what happened.`,
  ];
}

async function stateOf(app: App, ledger: RealmLedger, before?: LastOpened) {
  const [fence, { signs, nowMs }, batches, known, last, waits] = await Promise.all([
    recovery.fence.read(ledger),
    recovery.sessions.signs(ledger),
    planning.recovered.batches(ledger),
    recovery.folders.foldersOf(ledger),
    recovery.fence.lastRecovery(ledger),
    recovery.afterRollback.readWaitAfterRollback(ledger),
  ]);
  const merged = await recovery.fence.merged(ledger, fence.run);
  const sessions = signs.map((sign) => sessionOf(sign, nowMs, merged));
  const profile = configuredProfile(app.config, ledger.realm);
  const isClosed = !fence.armed && !fence.untouched;
  const { baseUrl, realmId, rehearsal } = ledger.realm;
  const missing = sessions
    .filter(({ liveness, merged: has }) => liveness !== 'alive' && !(isClosed && has))
    .map(({ session }) => session);
  if (isIncomplete(fence) || waits !== null) missing.push(recovery.losses.REMOVED);
  for (const { fault } of isClosed ? known : [])
    if (fault?.what === 'damaged' && !missing.includes(fault.session)) missing.push(fault.session);
  return {
    realm: ledger.realm.name,
    /** No profile of the configuration has this address, so that nothing here works the ledger; null where one has. */
    formerAddress: profile === undefined && !rehearsal ? { baseUrl, realmId } : null,
    armed: fence.armed,
    /** Nothing was ever sent from these books. */
    untouched: fence.untouched,
    reason: fence.reason,
    rollback: fence.rollback,
    /** What the last recovery put back; null where there was nothing. */
    last,
    /** That recovery is the one that is under way, that first sends wait for, or that this command ended. */
    isPresent:
      last !== null &&
      isPresent(last.openedMs, isClosed, waits?.sinceMs, before?.get(ledgerId(ledger.realm))),
    /** First sends wait for a person since then; null where they do not. */
    waitsSince: waits === null ? null : isoTime(waits.sinceMs),
    waitingBatches: waits?.batches ?? 0,
    /** Sending processes that are registered, and whether they are proven dead. */
    sessions,
    /** Data folders that orders were sent from, and whether the ledger waits for them. */
    folders: known.map((folder) => folderOf(folder, isClosed, resolve(app.config.dataFolder))),
    /** What giving up a session, or journals that were removed, would make unknown or a doubt. */
    losses: profile === undefined ? [] : await lossesOf(contextOf(ledger, profile), missing),
    /** What not waiting for data folders any more would make a doubt; null where none is waited for. */
    retiring:
      profile === undefined || !isClosed || known.every(({ isAway, isInUse }) => !isAway || isInUse)
        ? null
        : told('folders', await recovery.losses.lossOfRetiring(contextOf(ledger, profile))),
    /** Batches that the store had forgotten, with the orders of them that journals know. */
    recovered: batches,
  };
}

type Sign = Awaited<ReturnType<typeof recovery.sessions.signs>>['signs'][number];

function sessionOf(
  { session, kind, pid, machine, life, seenMs, beats }: Sign,
  nowMs: number,
  merged: ReadonlySet<string>,
) {
  return {
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
  };
}

type KnownFolder = Awaited<ReturnType<typeof recovery.folders.foldersOf>>[number];

function folderOf(
  { id, journal, machine, at, fault, isAway, isInUse }: KnownFolder,
  isClosed: boolean,
  dataFolder: string,
) {
  return {
    id,
    journal,
    machine,
    lastSeen: isoTime(at),
    waitedFor: isClosed && isAway,
    /** The next restart waits for it. */
    isAway: isAway && !isInUse,
    fault,
    /** A registered session has it, so that it cannot be retired. */
    isInUse,
    /** It was in the place where the data folder of this process is now. */
    wasHere: machine === hostname() && dirname(journal) === dataFolder,
  };
}

function lossesOf(context: recovery.MergeContext, missing: readonly string[]) {
  const losses = missing.map(async (session) =>
    told(session, await recovery.losses.lossOf(context, session)),
  );
  return Promise.all(losses);
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

function told(
  session: string,
  { exact, orders, tokens }: Awaited<ReturnType<typeof recovery.losses.lossOf>>,
) {
  return { session, exact, orders, tokens: String(tokens) };
}

/** The journals here do not tell all that the ledger may have forgotten: a person has to decide. */
export function isIncomplete({
  reason,
}: Pick<Awaited<ReturnType<typeof recovery.fence.read>>, 'reason'>): boolean {
  return reason !== null && INCOMPLETE.has(reason.code);
}

const INCOMPLETE: ReadonlySet<string> = new Set([
  'ALM_LEDGER_ROLLED_BACK',
  'ALM_LEDGER_FOLDER_BEHIND',
  'ALM_LEDGER_FOLDER_COPIED',
]);
