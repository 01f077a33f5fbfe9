/** Sessions of processes, their journals and data folders, and what is known after a death or a rollback. */

export { Here } from './here/liveness.js';
export { ensurePlace, readPlace } from './here/place.js';
export { listJournals } from './journal/folder.js';
export type { JournalLimits } from './journal/journal.js';
export type { PaidElsewhere } from './journal/positions.js';
export type { MergeContext } from './moves/replay.js';
export { type Fence, readFence } from './read/fence.js';
export { JOURNAL_FOLDER, listSessions } from './read/session-list.js';
export { readPresence, readSigns, workersAtWork } from './read/signs.js';
export * as losses from './sessions/accept-missing.js';
export * as afterRollback from './sessions/after-rollback.js';
export { sessionsAtWork } from './sessions/at-work.js';
export { acceptMoved, acceptNewLedger, closeLedger, mergedSessions } from './sessions/fence.js';
export { folderProblem, ledgersElsewhere } from './sessions/folder-check.js';
export * as folders from './sessions/folders.js';
export { journalOf, localJournals } from './sessions/local-journals.js';
export { closeIfForgotten, mergeTidings, tidingsFor } from './sessions/merge.js';
export { Opening } from './sessions/opening.js';
export type { Recovered } from './sessions/recovery.js';
export { Session } from './sessions/session.js';
export { readRecovery } from './sessions/story.js';
export { settleOverdue } from './sessions/strays.js';
export { RecoveryWatch } from './sessions/watch.js';
