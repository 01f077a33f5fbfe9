/** Sessions of processes, their journals and data folders, and what is known after a death or a rollback. */

import { ensurePlace, readPlace } from './here/place.js';
import { listJournals } from './journal/folder.js';
import { readFence } from './read/fence.js';
import { JOURNAL_FOLDER, listSessions } from './read/session-list.js';
import { readPresence, readSigns, workersAtWork } from './read/signs.js';
import {
  acceptJournal,
  acceptMissing,
  isDamaged,
  lossOf,
  lossOfRetiring,
  REMOVED,
  retireUnseen,
} from './sessions/accept-missing.js';
import {
  mustWait,
  needResumed,
  noteRestored,
  readWaitAfterRollback,
  resumeAfterRollback,
} from './sessions/after-rollback.js';
import { acceptMoved, acceptNewLedger, closeLedger, mergedSessions } from './sessions/fence.js';
import { folderProblem, ledgersElsewhere } from './sessions/folder-check.js';
import { foldersOf } from './sessions/folders.js';
import { journalOf, localJournals, sessionsAtWork } from './sessions/local-journals.js';
import { closeIfForgotten, mergeTidings, tidingsFor } from './sessions/merge.js';
import { readRecovery } from './sessions/story.js';

export { Here } from './here/liveness.js';
export type { JournalLimits } from './journal/journal.js';
export type { PaidElsewhere } from './journal/positions.js';
export type { MergeContext } from './moves/replay.js';
export { Opening } from './sessions/opening.js';
export type { Recovered } from './sessions/recovery.js';
export { Session } from './sessions/session.js';
export { settleOverdue } from './sessions/strays.js';
export { RecoveryWatch } from './sessions/watch.js';

/** Whether the ledger is open, and what a person may accept so that it opens. */
export const fence = {
  read: readFence,
  close: closeLedger,
  acceptMoved,
  acceptNewLedger,
  merged: mergedSessions,
  lastRecovery: readRecovery,
};

/** Registered sessions, and their signs of life. */
export const sessions = {
  list: listSessions,
  signs: readSigns,
  presence: readPresence,
  workersAtWork,
  atWork: sessionsAtWork,
};

/** Data folders: who they are, which the ledger knows, and what is wrong with this one. */
export const folders = {
  ensurePlace,
  readPlace,
  foldersOf,
  problem: folderProblem,
  ledgersElsewhere,
};

/** Journals on this machine, and attempts in them that the ledger does not know. */
export const journals = {
  folder: JOURNAL_FOLDER,
  list: listJournals,
  of: journalOf,
  local: localJournals,
  missingAttempts: tidingsFor,
  closeIfForgotten,
  merge: mergeTidings,
};

/** What a person accepts as lost. */
export const losses = {
  REMOVED,
  lossOf,
  lossOfRetiring,
  retireUnseen,
  acceptMissing,
  isDamaged,
  acceptJournal,
};

/** First sends that wait for a person after a rollback. */
export const afterRollback = {
  readWaitAfterRollback,
  needResumed,
  mustWait,
  resumeAfterRollback,
  noteRestored,
};
