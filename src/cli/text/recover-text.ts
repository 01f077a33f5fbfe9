import { counted } from '../../core/counted.js';
import type { Waiting } from '../../core/waiting.js';
import { REMOVED } from '../../ledger/index.js';
import type { RealmRecovery, RecoverResult } from '../../operations/services/recover.js';
import { isShortId } from '../../planning/identity.js';
import { absoluteWords } from '../../words/amounts.js';

/** What `recover` and `restore` say of each realm. */

/** Books that nothing was ever sent from arm themselves at the first order. */
export function isFine(realm: RealmRecovery): boolean {
  return realm.armed || realm.untouched;
}

export function recoverLines({ realms, merged, accepted }: RecoverResult): string[] {
  return [
    ...realms.flatMap(realmLines),
    ...(accepted === null ? [] : [acceptedLine(accepted)]),
    `${counted(merged, 'order was', 'orders were')} put right from journals. Nothing was sent.`,
  ];
}

function acceptedLine({ exact, orders, tokens }: NonNullable<RecoverResult['accepted']>): string {
  return exact
    ? `Given up: of what it was sending, ${counted(orders, 'order is', 'orders are')} (${absoluteWords(tokens)}) unknown now, or in doubt where nothing can be asked.`
    : `Given up: ${counted(orders, 'order is', 'orders are')} (${absoluteWords(tokens)}) in doubt now, because the store may have forgotten that they were sent. It may have forgotten whole batches as well: for 30 days a new file is refused until you have looked upstream and say --again LABEL.`;
}

function realmLines(realm: RealmRecovery): string[] {
  const { rollback, reason } = realm;
  return [
    `Realm ${realm.realm}: ${isFine(realm) ? 'safe to send' : 'nothing is sent'}`,
    ...(isFine(realm) || reason === null ? [] : [`  ${reason.message}`]),
    ...(rollback === null ? [] : [`  ${rollbackText(rollback)}`]),
    ...realm.sessions
      .filter(({ liveness }) => !isFine(realm) || liveness !== 'alive')
      .map(
        ({ session, kind, pid, machine, liveness, lastSeen }) =>
          `  session ${session} (${kind}, pid ${pid}, machine ${machine}, last seen ${lastSeen ?? 'never'}): ${SAID[liveness]}`,
      ),
    ...realm.losses.map(lossLine),
    ...realm.recovered.map(
      ({ batch, orders, incomplete }) =>
        `  batch ${batch} is recovered: it holds ${counted(orders, 'order')} that journals know${incomplete ? ', and more of it may have been paid' : '; its file, run again, pays the rest'}`,
    ),
  ];
}

function rollbackText({ at, found, seen, attempts }: NonNullable<RealmRecovery['rollback']>): string {
  const when = new Date(at).toISOString();
  if (attempts === 0) return `payments that no journal here knows were found to be missing on ${when}`;
  return attempts === undefined
    ? `the store had forgotten moves ${found + 1} to ${seen} on ${when}`
    : `the store had forgotten what journals still knew on ${when} (${counted(attempts, 'attempt')})`;
}

/** What only a person may decide, in one sentence: what it does, to how many orders and tokens. */
function lossLine({ session, exact, orders, tokens }: RealmRecovery['losses'][number]): string {
  const becomes = exact
    ? `what it was sending, ${counted(orders, 'order')} (${absoluteWords(tokens)}), becomes unknown, and nothing else changes`
    : `every order of this realm that is not settled becomes a doubt: up to ${counted(orders, 'order')} (${absoluteWords(tokens)})`;
  return `  almoner recover --accept-missing ${session}: ${becomes}; nothing is sent by it`;
}

const SAID = {
  alive: 'alive here: it merges by itself unless it is frozen',
  dead: 'dead, and its journal is not here',
  elsewhere: 'elsewhere: run `almoner recover` where its data folder is',
} as const;

/** Safe to send, and yet not all is well: what a silent process was sending is in nobody's hands. */
export function lostLine({ orders, tokens, message }: Waiting): string {
  return `${counted(orders, 'order stands', 'orders stand')} still (${absoluteWords(tokens)}). ${message}`;
}

export function recoverNext({ realms }: RecoverResult, lost: readonly Waiting[]): string | null {
  const stopped = realms.find(
    (realm) => !isFine(realm) && realm.losses.some(({ session }) => session === REMOVED),
  );
  if (stopped?.reason != null) return stopped.reason.next;
  const missing = realms.flatMap(({ sessions }) => sessions).filter(({ liveness }) => liveness !== 'alive');
  if (missing.length > 0)
    return 'almoner recover on the machine of each session; where its disk is lost, almoner recover --accept-missing SESSION';
  if (!realms.every(isFine)) return 'let the frozen process go on (kill -CONT), or end it';
  const ends = lost.find(({ next }) => next !== null);
  if (ends !== undefined) return ends.next;
  const forgotten = realms.flatMap(({ recovered }) => recovered.map(({ batch }) => batch));
  return forgotten.length === 0 ? null : runAgain(forgotten);
}

/** Journals know a batch by its id: one that was given a name is found under that name only. */
export function runAgain(forgotten: readonly string[]): string {
  const named = forgotten.filter((batch) => !isShortId(batch)).map((batch) => `--batch-id ${batch}`);
  const names =
    named.length === 0
      ? 'with the --batch-id that it was given, if any'
      : `those that were named under their names (${named.join(', ')}), the others without one`;
  return `run the file of each forgotten batch again, ${names}: what the journals know as paid stays paid`;
}
