import type { RecoveryState } from '../core/recovery-decisions.js';

/** The state of a realm's ledger in words, for the command line and the desk. */
export const RECOVERY_STATE_WORDS: Readonly<Record<RecoveryState, string>> = {
  open: 'open, orders may be sent',
  'waiting for a person': 'open, and first sends wait for a person',
  closed: 'closed, nothing is sent',
};
