/** Notes that other folders keep beside a ledger: rules and their runs, the desk, notices. */

export { claimRule, takeTurn } from './notes/claims.js';
export { appendDeskAudit, ExpiringNotes, readDeskAudit } from './notes/desk-notes.js';
export { endedBatches, forgetEnded, takeReportTurn } from './notes/ended.js';
export { columnNotes, deskMessages, deskNotes, type NoteStore, ruleNotes } from './notes/note-store.js';
export { OutboxNotes } from './notes/outbox-notes.js';
export {
  type FactsKept,
  forgetDecisions,
  lastRunNumber,
  openFacts,
  putDecisions,
  readDecisions,
  takeReading,
} from './notes/rule-runs.js';
export * as scheduledTimes from './notes/scheduled-times.js';
