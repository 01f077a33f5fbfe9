import { dirname } from 'node:path';
import { recovery } from '../../ledger/index.js';
import { counted, isoTime } from '../../words/spelling.js';
import type { RecoveryDecision, RecoveryStory } from '../views/realm.js';
import type { RealmRecovery } from './recovery-state.js';

/** Recovery of one realm as a person reads it: what happened, what it waits for, and what a person decides. */
export function storyOf(realm: RealmRecovery): RecoveryStory {
  const isOpen = realm.armed || realm.untouched;
  return {
    realm: realm.realm,
    state: !isOpen ? 'closed' : realm.waitsSince === null ? 'open' : 'waiting for a person',
    happened: `${happened(realm)}${isOpen ? afterRestart(realm) : ''}`,
    waitsFor: isOpen ? [] : waitsFor(realm),
    decisions: decisions(realm),
  };
}

/** Whether a ledger that the command is about is closed. One under a former address counts only where nothing else is meant. */
export function isAnyClosed(realms: readonly RealmRecovery[], name: string | undefined): boolean {
  const meant = realms.filter(({ realm }) => name === undefined || realm === name);
  const present = meant.filter(({ formerAddress }) => formerAddress === null);
  return (name === undefined || present.length === 0 ? meant : present).some(
    ({ armed, untouched }) => !armed && !untouched,
  );
}

function happened(realm: RealmRecovery): string {
  const { armed, untouched, reason, rollback, last, isPresent } = realm;
  if (untouched) return 'Nothing was sent from this ledger yet.';
  const present = isPresent ? last : null;
  if (!armed) {
    if (present !== null && present.orders > 0)
      return `${recoveryWords(present)} The journals are not all merged yet.`;
    if (reason !== null) return reason.message;
    return present?.forgot === true
      ? `${forgottenWords(present)} Nothing is sent until the journals are merged.`
      : 'The store was restarted. Nothing is sent until the journals were compared with it.';
  }
  if (present !== null) return recoveryWords(present);
  const earlier =
    last === null
      ? rollbackWords(rollback)
      : ` Earlier, at ${isoTime(last.openedMs)}: ${recoveryWords(last)}`;
  return `The store has forgotten nothing that the journals here know of.${earlier}`;
}

/** A person decides cheapest while the ledger is open: nothing becomes a doubt by it. */
function afterRestart({ folders, realm }: RealmRecovery): string {
  const away = folders.filter(({ isAway }) => isAway);
  const [first] = away;
  if (first === undefined) return '';
  const which =
    away.length === 1
      ? `the data folder ${dirname(first.journal)} of ${first.machine}`
      : `${away.length} data folders of other machines`;
  return ` After the next restart of the store the ledger waits for ${which}. ${away.length === 1 ? 'If it does' : 'If some do'} not come back, \`almoner recover --retire-unseen-since ${heardUntil(away)} --realm ${realm}\` makes no doubts now.`;
}

/** What one recovery found and did. */
function recoveryWords(last: NonNullable<RealmRecovery['last']>): string {
  const { forgot, orders, batches } = last;
  if (!forgot) return `The store was restarted.${journalWords(last)}${outcomeWords(last)}`;
  if (orders === 0) return `${forgottenWords(last)} The journals here know of no payment since.`;
  const also = batches === 0 ? '' : ` and recovered ${counted(batches, 'batch', 'batches')}`;
  return `${forgottenWords(last)} The journals restored ${counted(orders, 'order')}${also}.${outcomeWords(last)}`;
}

function forgottenWords({ sinceMs }: NonNullable<RealmRecovery['last']>): string {
  return sinceMs === null
    ? 'The store went back to an earlier state.'
    : `The store had forgotten everything since ${isoTime(sinceMs)}.`;
}

/** The killed process had an answer to these orders, which its journal kept and the store was not told. */
function journalWords({ orders, unknown }: NonNullable<RealmRecovery['last']>): string {
  const known = orders - unknown;
  return known === 0 ? '' : ` The journals settled ${counted(known, 'order')}.`;
}

/** A process died, or its store was replaced, before the answer to these requests was kept. */
function outcomeWords({ forgot, unknown, doubts }: NonNullable<RealmRecovery['last']>): string {
  if (unknown === 0) return '';
  const which = forgot
    ? ` It is not known whether ${unknown} of these orders ${unknown === 1 ? 'was' : 'were'} paid:`
    : ` The killed process was sending ${counted(unknown, 'order')}. It is not known whether ${unknown === 1 ? 'it was' : 'they were'} paid:`;
  return `${which} ${becameWords(unknown, doubts)}.`;
}

function becameWords(unknown: number, doubts: number): string {
  const resolving = unknown - doubts;
  return [
    ...(doubts === 0 ? [] : [`${doubts} ${doubts === 1 ? 'is a doubt' : 'are doubts'} now`]),
    ...(resolving === 0 ? [] : [`almoner is resolving ${resolving}`]),
  ].join(', ');
}

function rollbackWords(rollback: RealmRecovery['rollback']): string {
  return rollback === null ? '' : ` Earlier, at ${isoTime(rollback.at)}, it had forgotten payments.`;
}

function waitsFor({ realm, sessions, folders, reason, formerAddress }: RealmRecovery): string[] {
  if (formerAddress !== null)
    return [
      `No profile has the address ${formerAddress.baseUrl} with realm id ${formerAddress.realmId} any more, so that no command opens this ledger. Give a profile of realm ${realm} this address, and run \`almoner recover --realm\` with its name. Nothing is sent from it until then; other ledgers are not held up.`,
    ];
  const unmerged = sessions.filter(({ merged }) => !merged);
  const away = unmerged.map(({ session, kind, pid, machine, lastSeen, liveness }) => {
    const seen = `last seen ${lastSeen ?? 'never'}`;
    const stuck =
      liveness === 'alive'
        ? ` If it does not, it is frozen (kill -CONT ${pid}) or works on another store (kill ${pid}).`
        : '';
    return `Session ${session} (${kind}, pid ${pid}, machine ${machine}, ${seen}): ${SAID[liveness]}.${stuck}`;
  });
  const unseen = folders.filter(({ waitedFor }) => waitedFor).map(folderWords);
  const incomplete = reason !== null && reason.code !== 'ALM_LEDGER_DISARMED' ? [reason.message] : [];
  return [...incomplete, ...away, ...unseen];
}

function folderWords({
  journal,
  machine,
  lastSeen,
  wasHere,
  fault,
}: RealmRecovery['folders'][number]): string {
  const folder = dirname(journal);
  if (fault?.what === 'damaged')
    return `Line ${fault.line} of ${fault.path} on machine ${machine} cannot be read, so that payments may be missing; all other lines count. Put the file back from a copy and run \`almoner recover\`, or give up the journal of session ${fault.session} below.`;
  if (fault !== null)
    return `The data folder ${folder} on machine ${machine} was put back to an earlier time: orders were sent from it until ${isoTime(fault.until)}, which its journals do not know. Put the newer folder back, or choose one of the decisions below.`;
  return wasHere
    ? `The data folder that was in ${folder} before is missing, last heard of ${lastSeen}. If it is lost, choose one of the decisions below.`
    : `The data folder ${folder} on machine ${machine}, last heard of ${lastSeen}: run \`almoner recover\` there.`;
}

const SAID = {
  alive: 'it lives here and merges by itself within a minute',
  dead: 'it is dead, and its journal is not merged yet',
  elsewhere: 'run `almoner recover` where its data folder is',
} as const;

function decisions(realm: RealmRecovery): RecoveryDecision[] {
  const isClosed = !realm.armed && !realm.untouched;
  // An open ledger waits for nobody: a process that is at work elsewhere is not offered to be given up.
  const working = new Set(
    realm.sessions
      .filter(({ presence }) => !isClosed && presence === 'at-work')
      .map(({ session }) => session),
  );
  const damaged = new Set(
    realm.folders.flatMap(({ fault }) => (fault?.what === 'damaged' ? [fault.session] : [])),
  );
  const lost = realm.losses.filter(({ session }) => !working.has(session));
  const given = lost.map(({ session, exact, orders, tokens }): RecoveryDecision => {
    const many = `${counted(orders, 'order')} (${counted(tokens, 'token')})`;
    return {
      kind: 'accept-missing',
      of: session,
      command: `almoner recover --accept-missing ${session} --realm ${realm.realm}`,
      does:
        session === recovery.losses.REMOVED
          ? `${realm.armed ? 'Only where orders were sent after the copy from a machine that does not come back' : 'The newer journals or the newer data folder are gone for good'}: every order of this realm that is not settled becomes a doubt, up to ${many}.`
          : damaged.has(session)
            ? `The unreadable lines of the journal of session ${session} are gone for good: every order of this realm that is not settled becomes a doubt, up to ${many}.`
            : exact
              ? `Session ${session} is lost with its disk: what it was sending, ${many}, becomes unknown, and nothing else changes.`
              : `Session ${session} is lost with its disk: every order of this realm that is not settled becomes a doubt, up to ${many}.`,
    };
  });
  const moved: RecoveryDecision[] =
    isClosed && realm.reason?.code === 'ALM_LEDGER_FOLDER_COPIED'
      ? [
          {
            kind: 'accept-moved',
            of: '',
            command: `almoner recover --accept-moved --realm ${realm.realm}`,
            does: 'Only where you stopped almoner, copied or moved the whole data folder, and nothing was paid from the old one since: nothing is missing. Never after a restore: where it is false, members are paid twice.',
          },
        ]
      : [];
  return [...resuming(realm), ...given, ...moved, ...retiring(realm)];
}

/** A moment later than the last of them was heard of, so that a command names them all and no other. */
function heardUntil(folders: RealmRecovery['folders']): string {
  return isoTime(Math.max(...folders.map(({ lastSeen }) => Date.parse(lastSeen))) + 1_000);
}

function retiring({ retiring: loss, folders, realm }: RealmRecovery): RecoveryDecision[] {
  const away = folders.filter(
    ({ waitedFor, isInUse, fault }) => waitedFor && !isInUse && fault?.what !== 'damaged',
  );
  if (loss === null || away.length === 0) return [];
  const until = heardUntil(away);
  const becomes = loss.exact
    ? 'the ledger is open, so no order changes'
    : `every order of this realm that is not settled becomes a doubt, up to ${counted(loss.orders, 'order')} (${counted(loss.tokens, 'token')})`;
  return [
    {
      kind: 'retire',
      of: until,
      command: `almoner recover --retire-unseen-since ${until} --realm ${realm}`,
      does: `${counted(away.length, 'data folder does', 'data folders do')} not come back: ${becomes}.`,
    },
  ];
}

function resuming({ armed, waitsSince, waitingBatches, realm }: RealmRecovery): RecoveryDecision[] {
  if (waitsSince === null || !armed) return [];
  return [
    {
      kind: 'resume',
      of: '',
      command: `almoner resume --after-rollback --realm ${realm}`,
      does: `Since ${waitsSince} nothing new is sent: it waits for your decision. First cancel any batch you no longer want. This decision then starts ${counted(waitingBatches, 'batch', 'batches')} and all schedules.`,
    },
  ];
}
