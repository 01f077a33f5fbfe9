import type { ErrorEntry } from './entry.js';

/** The ledger: broken invariants and safety stops. */
export const LEDGER_ERRORS = {
  ALM_LEDGER_DOES_NOT_TIE: {
    means: 'Counts or sums do not add up to the manifest; nothing is printed from such books.',
    next: 'Keep the data folder as it is and report this with the output of `almoner doctor`.',
    exit: 1,
  },
  ALM_LEDGER_PLAN_MISSING: {
    means: 'A part of a batch’s plan is not in the store.',
    next: 'Restore the store from its backup; keep the data folder as it is.',
    exit: 5,
  },
  ALM_LEDGER_JOURNAL_FAILED: {
    means:
      'The journal of what is about to be sent could not be written or fsynced, so the process sends nothing more and ends.',
    next: 'Free some space or mend the data folder, then start the same command again; it finds what was left.',
    exit: 1,
  },
  ALM_LEDGER_DISARMED: {
    means:
      'The store was restarted, failed over or restored, and the journal of at least one sending process is not merged yet.',
    next: 'Run `almoner recover` on the machine of each session named; where its disk is lost, `almoner recover --accept-missing SESSION`.',
    exit: 5,
  },
  ALM_LEDGER_ROLLED_BACK: {
    means:
      'The store has forgotten moves that a sending process had seen acknowledged, from further back than the journals here still know.',
    next: 'Restore a newer copy of the store. Where there is none, `almoner recover` says what `almoner recover --accept-missing removed` would make a doubt.',
    exit: 5,
  },
  ALM_LEDGER_GIVEN_UP: {
    means: 'An operator gave this sending process up as lost while it lived, so it ended.',
    next: 'Start it again: it comes back as a new session. Look at what it was sending with `almoner doubt list` and `almoner status`.',
    exit: 1,
  },
  ALM_LEDGER_FLOOR_DAMAGED: {
    means:
      'The note of which journals were removed is damaged, so that a store that forgot too much could not be told.',
    next: 'Restore the file from a backup of the data folder. Where the store was never restored from a backup nor failed over, remove the file instead.',
    exit: 5,
  },
  ALM_LEDGER_SESSION: {
    means: 'No unmerged session has that id.',
    next: 'List them with `almoner recover`.',
    exit: 2,
  },
  ALM_LEDGER_ARCHIVE_MISSING: {
    means: 'The rows of an archived batch are in a file that cannot be read here.',
    next: 'Run the command on the machine whose data folder holds the archive, or copy the file to the same place here.',
    exit: 5,
  },
  ALM_LEDGER_ARCHIVE_DAMAGED: {
    means: 'The file of an archived batch is not what was written.',
    next: 'Restore it from the backup of the data folder’s archive.',
    exit: 5,
  },
  ALM_LEDGER_STALLED: {
    means:
      'Work was waiting, the store answered, and the process took none: it ended so that it is started afresh.',
    next: 'A supervisor starts it again; should it happen again and again, report it with the log.',
    exit: 1,
  },
} as const satisfies Record<string, ErrorEntry>;
