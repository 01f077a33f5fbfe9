/** Notes that other folders keep beside a ledger: rules and their runs, the desk, notices. */

import { appendDeskAudit, readDeskAudit } from './notes/desk-notes.js';
import { columnNotes, deskMessages, deskNotes, ruleNotes } from './notes/note-store.js';
import {
  forgetDecisions,
  lastRunNumber,
  openFacts,
  putDecisions,
  readDecisions,
  takeReading,
} from './notes/rule-runs.js';
import {
  dismissMissed,
  forgotAt,
  heldTokens,
  missedCounts,
  missedNotes,
  noteLastRun,
  noteMissed,
  pastNotes,
  rulesWithPast,
} from './notes/scheduled-times.js';
import { claimRule, endedBatches, forgetEnded, takeReportTurn, takeTurn } from './notes/turns.js';

export { ExpiringNotes } from './notes/desk-notes.js';
export type { NoteStore } from './notes/note-store.js';
export { OutboxNotes } from './notes/outbox-notes.js';
export type { FactsKept } from './notes/rule-runs.js';
export type { MissedToNote } from './notes/scheduled-times.js';

/** Notes by name, each kind with a schema of its own. */
export const stores = { columns: columnNotes, desk: deskNotes, messages: deskMessages, rules: ruleNotes };

/** One process at a time: a schedule's rule, a round that every process could make, the report of an ended batch. */
export const turns = { claimRule, take: takeTurn, takeReport: takeReportTurn };

/** Ended batches of the workers whose report is still to be written. */
export const ended = { list: endedBatches, forget: forgetEnded };

/** Who did what on the desk and by commands, where it belongs to no batch. */
export const deskAudit = { append: appendDeskAudit, read: readDeskAudit };

/** What a run of a rule read and decided. */
export const ruleRuns = {
  lastNumber: lastRunNumber,
  openFacts,
  takeReading,
  putDecisions,
  readDecisions,
  forgetDecisions,
};

/** Times of schedules: what became of each, and those that were missed. */
export const scheduledTimes = {
  noteLastRun,
  noteMissed,
  dismissMissed,
  missedCounts,
  missedNotes,
  pastNotes,
  rulesWithPast,
  heldTokens,
  forgotAt,
};
