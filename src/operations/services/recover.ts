import { join } from 'node:path';
import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { allLedgers, type RealmLedger, recovery } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { isoTime } from '../../words/spelling.js';
import { record } from '../people/audit.js';
import { putReferencesBack } from './added-references.js';
import { contextOf, recovering } from './recovery.js';
import { isIncomplete, lastOpened, recoveryState } from './recovery-state.js';

/** What `almoner recover` and the desk do about a store that was restarted or rolled back. */

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
  readonly why?: string | null;
  /** Only of this realm; all that are configured where none is named. */
  readonly realm?: string | undefined;
  /** Asked once the journals here are merged: whether the decision still is the one that the person saw. */
  readonly isStillMeant?: () => Promise<boolean>;
};

export type RecoverResult = Awaited<ReturnType<typeof recoverRealms>>;

/** Merges what lies on this machine, gives up what an operator says is lost, and opens where nothing is missing. */
export async function recoverRealms(app: App, decision: Decision = {}) {
  const { acceptMissing = null, retireUnseenSinceMs: unseenSince = null, realm, why = null } = decision;
  await needKnown(app, acceptMissing);
  const before = await lastOpened(app);
  let isAsked = false;
  let [merged, unknown, doubts] = [0, 0, 0];
  const given: Loss[] = [];
  let retired = 0;
  if (decision.restored === true) {
    await closeRestored(app, realm);
    const where = realm === undefined ? '' : ` of realm ${realm}`;
    await record(app, { what: `said that the store${where} was put back from a copy`, why });
    await putReferencesBack(app);
  }
  for (const profile of app.config.profiles)
    await recovering(app, profile, async ({ ledger, now, session }) => {
      const merge = async () => {
        const found = await now();
        merged += found.moved;
        unknown += found.unknown;
        doubts += found.doubts;
      };
      await merge();
      if (realm !== undefined && profile.name !== realm) return;
      if ((await decision.isStillMeant?.()) === false) return;
      isAsked = true;
      if (decision.acceptMoved === true && (await takeMoved(ledger))) {
        await record(app, {
          what: `said that the data folder of realm ${profile.name} was moved whole`,
          why,
        });
        await merge();
      }
      const lost =
        acceptMissing === null
          ? null
          : await giveUp(app, ledger, profile, { lost: acceptMissing, session, realm });
      if (lost !== null) await record(app, { what: lostWords(acceptMissing, profile), why, ...sumsOf(lost) });
      const away = await retire(app, ledger, profile, unseenSince);
      if (away !== null)
        await record(app, { what: retiredWords(unseenSince, profile), why, ...sumsOf(away) });
      retired += away?.folders ?? 0;
      if (lost === null && away === null) return;
      given.push(...[lost, away].filter((loss) => loss !== null));
      await merge();
    });
  if (isAsked && acceptMissing === recovery.losses.REMOVED && given.length === 0) throw nothingMissed();
  return {
    realms: await recoveryState(app, before),
    /** Orders that the store had forgotten something of, of how many the outcome is not known, and how many are doubts now. */
    merged,
    unknown,
    doubts,
    /** Data folders that are not waited for any more. */
    retired,
    /** What was given up by this command; null where nothing was. */
    accepted: given.length === 0 ? null : sumOfGiven(given),
  };
}

type Loss = Awaited<ReturnType<typeof recovery.losses.lossOf>>;

function sumOfGiven(given: readonly Loss[]) {
  return {
    exact: given.every(({ exact }) => exact),
    orders: given.reduce((sum, { orders }) => sum + orders, 0),
    tokens: String(given.reduce((sum, { tokens }) => sum + tokens, 0n)),
  };
}

/**
 * A restored store may have forgotten that a batch was paused or cancelled, and no journal knows that. The note comes first:
 * whichever process opens the ledger after it, first sends wait.
 */
async function closeRestored(app: App, realm: string | undefined): Promise<void> {
  for (const ledger of await allLedgers(app.scripts)) {
    if (realm !== undefined && ledger.realm.name !== realm) continue;
    await recovery.afterRollback.noteRestored(ledger, null);
    await recovery.fence.close(ledger, '');
  }
}

async function needKnown(app: App, lost: string | null): Promise<void> {
  if (lost === null || lost === recovery.losses.REMOVED) return;
  const all = await allLedgers(app.scripts);
  const known = (await Promise.all(all.map(recovery.sessions.list))).flat().map(({ id }) => id);
  if (
    !known.includes(lost) &&
    !(await Promise.all(all.map((one) => recovery.losses.isDamaged(one, lost)))).includes(true)
  )
    throw new AlmonerError('ALM_LEDGER_SESSION', `No session ${lost} is registered. Nothing was changed.`);
}

function lostWords(lost: string | null, { name }: RealmProfile): string {
  return lost === recovery.losses.REMOVED
    ? `gave up the lost journals of realm ${name}`
    : `gave up session ${lost} of realm ${name} as lost`;
}

function retiredWords(sinceMs: number | null, { name }: RealmProfile): string {
  return `retired the data folders of realm ${name} that were last heard of before ${isoTime(sinceMs)}`;
}

function sumsOf({ orders, tokens }: Loss) {
  return { orders, tokens };
}

function nothingMissed(): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_SESSION',
    'No ledger here is closed because journals are missed, and none that is meant waits for a person after a rollback. Nothing was given up.',
    {
      next: 'Where the store was put back from a copy, say so first: `almoner recover --restored`. Of several realms name the one with --realm.',
    },
  );
}

function retire(app: App, ledger: RealmLedger, profile: RealmProfile, sinceMs: number | null) {
  if (sinceMs === null) return Promise.resolve(null);
  const by = { who: app.config.operator, at: Date.now() };
  return recovery.losses.retireUnseen(contextOf(ledger, profile), sinceMs, by);
}

/** An operator says that the folder was moved whole. The witness overrules that. */
async function takeMoved(ledger: RealmLedger): Promise<boolean> {
  const { reason } = await recovery.fence.read(ledger);
  if (reason?.code === 'ALM_LEDGER_FOLDER_BEHIND')
    throw new AlmonerError(reason.code, `${reason.message} --accept-moved does not apply.`);
  return reason?.code === 'ALM_LEDGER_FOLDER_COPIED' && recovery.fence.acceptMoved(ledger);
}

/** An operator says it is lost. Where its journal lies here after all, what it tells is merged first. */
async function giveUp(
  app: App,
  ledger: RealmLedger,
  profile: RealmProfile,
  {
    lost,
    session,
    realm,
  }: { readonly lost: string; readonly session: string; readonly realm: string | undefined },
): Promise<Loss | null> {
  const context = contextOf(ledger, profile);
  const by = { who: app.config.operator, at: Date.now() };
  const folder = join(app.config.dataFolder, recovery.journals.folder);
  if (lost === recovery.losses.REMOVED) {
    if (!isIncomplete(await recovery.fence.read(ledger))) {
      // A realm that merely waits is given up only where it is meant.
      const isMeant = app.config.profiles.length === 1 || realm === profile.name;
      if (!isMeant || (await recovery.afterRollback.readWaitAfterRollback(ledger)) === null) return null;
      // No process sends or resolves anything while orders become doubts.
      await recovery.fence.close(ledger, session);
    }
    const { removed } = await recovery.journals.local(
      ledger,
      { id: '', journal: folder },
      null,
      'every journal',
    );
    return recovery.losses.acceptMissing(context, lost, by, removed);
  }
  const entry = (await recovery.sessions.list(ledger)).find(({ id }) => id === lost);
  if (entry === undefined)
    return (await recovery.losses.isDamaged(ledger, lost))
      ? recovery.losses.acceptJournal(context, lost, by)
      : null;
  if ((await app.scripts.here.liveness(entry)) === 'alive')
    throw new AlmonerError(
      'ALM_LEDGER_SESSION',
      `Session ${lost} lives (pid ${entry.pid} on this machine), so its journal is not lost. Nothing was changed.`,
      { next: `Let it go on, or end it (kill ${entry.pid}), then run \`almoner recover\`.` },
    );
  const journal = await recovery.journals.of(ledger, { id: lost, journal: folder });
  const tidings =
    journal === undefined ? [] : await recovery.journals.missingAttempts(ledger, journal.attempts);
  await recovery.journals.closeIfForgotten(ledger, tidings, { by: session, seen: journal?.seqSeen ?? 0 });
  await recovery.journals.merge({ ...context, underWay: new Set() }, tidings);
  return recovery.losses.acceptMissing(context, lost, by);
}
