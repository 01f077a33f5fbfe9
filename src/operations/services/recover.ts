import { join } from 'node:path';
import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import {
  acceptMissing,
  acceptMoved,
  allLedgers,
  disarm,
  type Fence,
  JOURNAL_FOLDER,
  journalOf,
  type Loss,
  listSessions,
  localJournals,
  lossOf,
  mergeTidings,
  REMOVED,
  type RealmLedger,
  readFence,
  readSigns,
  recoveredBatches,
  tidingsFor,
} from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { isoTime } from '../../words/spelling.js';
import { configuredProfile } from '../batches/batch-realm.js';
import { contextOf, merging, recoverOne } from './merge.js';

/** What `almoner recover`, `doctor` and the desk say and do about a store that was restarted or rolled back. */
export type RealmRecovery = Awaited<ReturnType<typeof stateOf>>;

export async function recoveryState(app: App): Promise<RealmRecovery[]> {
  return Promise.all((await allLedgers(app.scripts)).map((ledger) => stateOf(app, ledger)));
}

async function stateOf(app: App, ledger: RealmLedger) {
  const [fence, { signs }, batches] = await Promise.all([
    readFence(ledger),
    readSigns(ledger),
    recoveredBatches(ledger),
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
  if (isIncomplete(fence)) missing.push(REMOVED);
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
    /** Batches that the store had forgotten, with the orders of them that journals know. */
    recovered: batches,
  };
}

function told(session: string, { exact, orders, tokens }: Loss) {
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

export type RecoverResult = Awaited<ReturnType<typeof recoverRealms>>;

/** Merges what lies on this machine, gives up what an operator says is lost, and arms where nothing is missing. */
export async function recoverRealms(app: App, lost: string | null, moved = false) {
  const all = await allLedgers(app.scripts);
  const known = (await Promise.all(all.map(listSessions))).flat().map(({ id }) => id);
  if (lost !== null && lost !== REMOVED && !known.includes(lost))
    throw new AlmonerError('ALM_LEDGER_SESSION', `No session ${lost} is registered. Nothing was changed.`);
  let merged = 0;
  const losses: Loss[] = [];
  for (const profile of app.config.profiles)
    await merging(app, profile, async (ledger, session) => {
      merged += (await recoverOne(app, ledger, profile, session)).moved;
      if (moved && (await takeMoved(ledger)))
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
  lost: string,
): Promise<Loss | null> {
  const context = contextOf(ledger, profile);
  const by = { who: app.config.operator, at: Date.now() };
  const folder = join(app.config.dataFolder, JOURNAL_FOLDER);
  if (lost === REMOVED) {
    if (!isIncomplete(await readFence(ledger))) return null;
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
