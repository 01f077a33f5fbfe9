import { isAbsolute, relative } from 'node:path';
import { counted } from '../../core/counted.js';
import { CATALOGUE } from '../../core/errors/catalogue.js';
import { isAlmonerError } from '../../core/errors/error.js';
import { recovery } from '../../ledger/index.js';
import { allWaiting } from '../../operations/batches/waiting.js';
import { missedNotes } from '../../operations/rules/missed-counts.js';
import { journalsHere } from '../../operations/services/recovery.js';
import { type RealmRecovery, recoveryState } from '../../operations/services/recovery-state.js';
import { isAccepted } from '../../operations/services/store-safety.js';
import type { App } from '../../runtime/app.js';
import { storeFindings } from '../../runtime/redis/safety.js';
import { type Check, type CheckResult, failed, folderWritable, ok, warning } from './machine.js';
import { token } from './people.js';

/** The checks on the store and its ledger. They share the one connection that `open` makes. */
export function storeChecks(open: () => Promise<App>): Check[] {
  const asking = (name: string, look: (app: App) => Promise<CheckResult>): Check => ({
    name,
    async run() {
      try {
        return await look(await open());
      } catch (error) {
        if (isAlmonerError(error)) return failed(error.message, error.next);
        throw error;
      }
    },
  });
  return [
    asking('store', storeSafe),
    asking('witness', witness),
    asking('journals', journals),
    asking('waiting', waiting),
    asking('schedules', schedules),
    asking('token', token),
  ];
}

/**
 * Checks that the store keeps writes that it acknowledged (append-only, fsync on every write, no eviction) and
 * compiles every script.
 */
async function storeSafe(app: App): Promise<CheckResult> {
  const findings = await storeFindings(app.scripts);
  if (findings.length === 0)
    return ok(`${app.store.address} keeps what it acknowledges and compiles every script`);
  const message = findings.map((found) => `${found.message} [${found.code}]`).join('\n');
  const remedy = findings.map(({ next }) => next).join(' ');
  const accepted = findings.every((found) => isAccepted(found, app.config.risks));
  return accepted
    ? warning(`${message}\naccepted by name in the configuration (risks)`, remedy)
    : failed(message, remedy);
}

/**
 * Checks that the data folder is the one this machine paid from. The witness, a record outside the folder, tells
 * whether it was put back or replaced.
 */
async function witness(app: App): Promise<CheckResult> {
  const { dataFolder, stateFolder, profiles } = app.config;
  for (const profile of profiles) {
    const problem = await recovery.folders.problem(app.ledger(profile));
    if (problem !== null) return failed(`${problem.message} [${problem.code}]`, problem.next);
  }
  for (const profile of profiles) {
    const [other] = await recovery.folders.ledgersElsewhere(app.ledger(profile));
    if (other !== undefined)
      return warning(
        `${profile.name}: this ledger has paid nothing yet, and this machine has paid the realm from ${other.folder}`,
        CATALOGUE.ALM_LEDGER_ELSEWHERE.next,
      );
  }
  if (isInside(stateFolder, dataFolder))
    return warning(
      `${stateFolder} lies in the data folder: a backup that is put back brings its witness back too`,
      'Choose a folder outside the data folder with ALMONER_STATE.',
    );
  const writable = await folderWritable('state', stateFolder, 'ALMONER_STATE').run();
  if (writable.state === 'ok')
    return ok(`${stateFolder} remembers how far this machine has paid from ${dataFolder}`);
  return warning(
    `${writable.message}; payments go on, but almoner cannot notice a data folder that is put back to an earlier time`,
    `Make ${stateFolder} writable for this user, or choose another folder with ALMONER_STATE.`,
  );
}

function isInside(folder: string, other: string): boolean {
  const way = relative(other, folder);
  return way === '' || !(way.startsWith('..') || isAbsolute(way));
}

/** A backup may be a week old, so that the journals must reach back as far. */
const KEPT_MS = 7 * 24 * 3_600_000;
const NEARLY_FULL = 0.8;

/** With more data folders than this, a restart is likely to wait for one that no longer exists. */
const FOLDERS_MANY = 20;

/** Checks whether the ledger knows every payment that the journals hold, and which journals are missing. */
async function journals(app: App): Promise<CheckResult> {
  const { dataFolder, limits } = app.config;
  const here = await journalsHere(dataFolder);
  const size = `${counted(here.sessions, 'journal')}, ${Math.ceil(here.bytes / 1024)} kB of at most ${limits.journalMegabytes} MB`;
  const realms = await recoveryState(app);
  const shut = realms.filter(({ armed, untouched }) => !armed && !untouched);
  const stuck = shut.filter(
    ({ reason, sessions, folders }) =>
      reason !== null ||
      sessions.some(({ liveness }) => liveness === 'elsewhere') ||
      folders.some(({ waitedFor }) => waitedFor),
  );
  if (stuck.length > 0)
    return failed(
      stuck.map(realmLine).join('\n'),
      'Run `almoner recover` here: it says what is waited for, and what a person may decide where a disk is lost or a folder does not come back.',
    );
  // A private store ends with the last command, so that the next command always finds it restarted. That is no fault.
  const unsettled = shut.filter(({ sessions }) => sessions.length > 0);
  if (unsettled.length > 0)
    return warning(
      [size, ...unsettled.map(realmLine)].join('\n'),
      'Nothing needs to be done: the next `almoner run` or `almoner worker` here does it before anything is sent.',
    );
  const forgotten = realms.flatMap(({ realm, recovered, rollback }) => [
    ...(rollback === null ? [] : [`${realm}: ${forgottenWords(rollback)}`]),
    ...recovered.map(
      ({ batch, orders }) => `${realm}: batch ${batch} is recovered, with ${counted(orders, 'order')}`,
    ),
  ]);
  const waiting = waitingOf(realms);
  if (waiting !== null) return waiting;
  const soonFull = here.bytes > limits.journalMegabytes * 1024 * 1024 * NEARLY_FULL;
  if (soonFull && here.oldestMs !== null && Date.now() - here.oldestMs < KEPT_MS)
    return warning(
      `${size}; the oldest is not seven days old, and almoner deletes it when they are full`,
      'Raise limits.journalMegabytes: a store that is restored to before a journal that is gone cannot be put right by itself.',
    );
  if (forgotten.length > 0)
    return warning(
      [size, ...forgotten].join('\n'),
      'If you restored a backup yourself, ignore this. Otherwise find out why the store lost writes (for example a lagging replica). Run the files of recovered batches again, each with its --batch-id if it had one.',
    );
  return ok(size);
}

/** A warning for realms that wait for a person, or that would after a restart. Null where there are none. */
function waitingOf(realms: readonly RealmRecovery[]): CheckResult | null {
  const held = realms.filter(({ waitsSince }) => waitsSince !== null);
  if (held.length > 0)
    return warning(
      held
        .map(({ realm, waitsSince }) => `${realm}: first sends wait for a person since ${waitsSince}`)
        .join('\n'),
      'Look at the batches, then `almoner resume --after-rollback`.',
    );
  const many = realms.filter(({ folders }) => folders.length > FOLDERS_MANY);
  if (many.length > 0)
    return warning(
      many
        .map(
          ({ realm, folders }) => `${realm}: ${folders.length} data folders are waited for after a restart`,
        )
        .join('\n'),
      'Retire those that do not come back: `almoner recover --retire-unseen-since 30d`. Set ALMONER_EPHEMERAL=1 where a data folder is gone with its container.',
    );
  return null;
}

/** Says how many attempts a rollback of the store lost. Journals have brought them back. */
function forgottenWords({ attempts, found, seen }: NonNullable<RealmRecovery['rollback']>): string {
  if (attempts === 0) return 'a restore or a fault lost payments that no journal here knows';
  const what = attempts === undefined ? `moves ${found + 1} to ${seen}` : counted(attempts, 'attempt');
  return `a restore or a fault lost ${what}; they are back`;
}

/** A closed realm with the sessions and data folders it waits for. */
function realmLine({ realm, sessions, folders, reason }: RealmRecovery): string {
  const listed = [
    ...sessions.map(({ session, liveness, pid }) => ` Session ${session} (pid ${pid}, ${liveness}).`),
    ...folders
      .filter(({ waitedFor }) => waitedFor)
      .map(({ journal, machine, lastSeen }) => ` ${journal} on ${machine}, last heard of ${lastSeen}.`),
  ];
  const message = reason?.message ?? 'the store was restarted; the next run or worker merges the journals.';
  return `${realm}: ${message}${listed.join('')}`;
}

/** Checks for orders that neither end nor move. Orders held by a dead process come first. */
async function waiting(app: App): Promise<CheckResult> {
  const batches = (await allWaiting(app)).filter(({ rehearsal }) => !rehearsal);
  const all = batches.flatMap(({ batch, waiting }) => waiting.map((one) => ({ batch, ...one })));
  // An entry without `next` ends by itself, and is no fault.
  const wants = all.filter(({ next }) => next !== null);
  const [first] = [...wants.filter(({ session }) => session !== null), ...wants];
  const lines = all
    .map((one) => `batch ${one.batch}: ${counted(one.orders, 'order')} (${one.why}). ${one.message}`)
    .join('\n');
  if (all.length === 0) return ok('no order stands still');
  if (first?.next == null) return ok(lines);
  return (first.session === null ? warning : failed)(lines, `Run \`${first.next}\`.`);
}

/** Checks for scheduled times that passed without a run. */
async function schedules(app: App): Promise<CheckResult> {
  const missed = await missedNotes(app);
  if (missed.length === 0) return ok('the list of missed times is empty');
  return warning(
    missed.join('\n'),
    'Make each time up with `almoner rules run RULE --missed TIME`, or dismiss it with `almoner rules dismiss`. Keep `almoner serve` running.',
  );
}
