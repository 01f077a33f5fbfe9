import { dirname } from 'node:path';
import { counted } from '../../core/counted.js';
import type { RecoveryDecisionKind, RecoveryState } from '../../core/recovery-decisions.js';
import { losses } from '../../ledger/index.js';
import { absoluteWords } from '../../words/amounts.js';
import { isoTime } from '../../words/spelling.js';
import type { RealmRecovery } from './recover.js';

/** Recovery of one realm as a person reads it: what happened, what it waits for, and what a person decides. */
export type RecoveryStory = {
  readonly realm: string;
  readonly state: RecoveryState;
  readonly happened: string;
  readonly waitsFor: readonly string[];
  readonly decisions: readonly RecoveryDecision[];
};

type RecoveryDecision = {
  readonly kind: RecoveryDecisionKind;
  /** The session that is given up, or `removed`; until when unseen folders are retired; else empty. */
  readonly of: string;
  readonly command: string;
  /** What it does, to how many orders and tokens. */
  readonly does: string;
};

export function storyOf(realm: RealmRecovery): RecoveryStory {
  const isOpen = realm.armed || realm.untouched;
  return {
    realm: realm.realm,
    state: !isOpen ? 'closed' : realm.waitsSince === null ? 'open' : 'waiting for a person',
    happened: happened(realm),
    waitsFor: isOpen ? [] : waitsFor(realm),
    decisions: decisions(realm),
  };
}

function happened({
  armed,
  untouched,
  reason,
  rollback,
  last,
  recovered,
  waitsSince,
}: RealmRecovery): string {
  if (untouched) return 'Nothing was sent from this ledger yet.';
  const isClosed = !armed;
  if (isClosed && reason !== null && rollback === null) return reason.message;
  if (rollback === null && last === null)
    return isClosed
      ? 'The store was restarted. Nothing is sent until the journals were compared with it.'
      : waitsSince === null
        ? 'The store has forgotten nothing that the journals here know of.'
        : 'A backup of the store was put back, and the journals know of nothing that it had forgotten.';
  if (last !== null && !last.forgot)
    return `The store was restarted, and ${counted(last.orders, 'order was', 'orders were')} put right from journals: it had not been told yet what became of them.`;
  const since = last?.sinceMs ?? null;
  const when = since === null ? 'forgot payments' : `was put back to before ${isoTime(since)}`;
  const batches = Math.max(last?.batches ?? 0, recovered.length);
  const counts = [
    `${counted(last?.orders ?? 0, 'order')} put back`,
    `${last?.unknown ?? 0} unknown or in doubt`,
    ...(batches === 0 ? [] : [`${counted(batches, 'batch', 'batches')} recovered`]),
  ];
  if (isClosed && (last?.orders ?? 0) === 0) return `The store ${when}. Nothing was put back so far.`;
  return `The store ${when}: ${counts.join(', ')}${isClosed ? ' so far' : ''}.`;
}

function waitsFor({ sessions, folders, reason }: RealmRecovery): string[] {
  const unmerged = sessions.filter(({ merged }) => !merged);
  const away = unmerged.map(({ session, kind, pid, machine, lastSeen, liveness }) => {
    const seen = `last seen ${lastSeen ?? 'never'}`;
    const frozen = liveness === 'alive' ? ` (kill -CONT ${pid} there)` : '';
    return `Session ${session} (${kind}, pid ${pid}, machine ${machine}, ${seen}): ${SAID[liveness]}${frozen}.`;
  });
  const unseen = folders
    .filter(({ waitedFor }) => waitedFor)
    .map(
      ({ journal, machine, lastSeen }) =>
        `The data folder ${dirname(journal)} on machine ${machine}, last heard of ${lastSeen}: run \`almoner recover\` there.`,
    );
  const incomplete = reason !== null && reason.code !== 'ALM_LEDGER_DISARMED' ? [reason.message] : [];
  return [...incomplete, ...away, ...unseen];
}

const SAID = {
  alive: 'it lives here and merges by itself, unless it is frozen',
  dead: 'it is dead, and its journal is not here',
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
  const lost = realm.losses.filter(({ session }) => !working.has(session));
  const given = lost.map(({ session, exact, orders, tokens }): RecoveryDecision => {
    const many = `${counted(orders, 'order')} (${absoluteWords(tokens)})`;
    return {
      kind: 'accept-missing',
      of: session,
      command: `almoner recover --accept-missing ${session}`,
      does:
        session === losses.REMOVED
          ? `The newer journals or the newer data folder are gone for good: every order of this realm that is not settled becomes a doubt, up to ${many}.`
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
            command: 'almoner recover --accept-moved',
            does: 'The data folder was moved whole, and nothing was paid from the old one since: nothing is missing.',
          },
        ]
      : [];
  return [...resuming(realm), ...moved, ...given, ...retiring(realm)];
}

function retiring({ retiring: loss, folders }: RealmRecovery): RecoveryDecision[] {
  const away = folders.filter(({ waitedFor }) => waitedFor);
  if (loss === null || away.length === 0) return [];
  // A moment later than the last of them was heard of, so that the command names them all and no other.
  const until = isoTime(Math.max(...away.map(({ lastSeen }) => Date.parse(lastSeen))) + 1_000);
  const becomes = loss.exact
    ? 'the ledger is open, so no order changes'
    : `every order of this realm that is not settled becomes a doubt, up to ${counted(loss.orders, 'order')} (${absoluteWords(loss.tokens)})`;
  return [
    {
      kind: 'retire',
      of: until,
      command: `almoner recover --retire-unseen-since ${until}`,
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
      does: `First sends wait for a person since ${waitsSince}: ${counted(waitingBatches, 'batch', 'batches')} and the schedules go on. Cancel first what is not meant any more.`,
    },
  ];
}
