import type { ErrorEntry } from './entry.js';

/** A whole file or batch that is refused before anything is sent. */
export const PLAN_ERRORS = {
  ALM_PLAN_LOOKS_PAID: {
    means: 'The file repeats most of an earlier batch of the last 30 days and carries no references.',
    next: 'Check the named batch; pass --again LABEL to pay on purpose.',
    exit: 3,
  },
} as const satisfies Record<string, ErrorEntry>;
