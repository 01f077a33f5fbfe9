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
} as const satisfies Record<string, ErrorEntry>;
