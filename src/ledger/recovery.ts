/** Sessions of processes, their journals and data folders, and what is known after a death or a rollback. */

export { listJournals } from './journal/folder.js';
export type { JournalLimits } from './journal/journal.js';
export { journalOf, localJournals } from './journal/local-journals.js';
export { closeIfForgotten, mergeTidings, tidingsFor } from './journal/merge.js';
export type { MergeContext } from './moves/replay.js';
export * as losses from './sessions/accept-missing.js';
export * as afterRollback from './sessions/after-rollback.js';
export { sessionsAtWork } from './sessions/at-work.js';
export {
  acceptMoved,
  acceptNewLedger,
  closeLedger,
  type Fence,
  mergedSessions,
  readFence,
} from './sessions/fence.js';
export { folderProblem, ledgersElsewhere } from './sessions/folder-check.js';
export * as folders from './sessions/folders.js';
export { Here } from './sessions/liveness.js';
export { Opening } from './sessions/opening.js';
export { ensurePlace, readPlace } from './sessions/place.js';
export type { PaidElsewhere } from './sessions/positions.js';
export type { Recovered } from './sessions/recovery.js';
export { JOURNAL_FOLDER, listSessions, Session } from './sessions/session.js';
export { readPresence, readSigns, workersAtWork } from './sessions/signs.js';
export { readRecovery } from './sessions/story.js';
export { settleOverdue } from './sessions/strays.js';
export { RecoveryWatch } from './sessions/watch.js';
