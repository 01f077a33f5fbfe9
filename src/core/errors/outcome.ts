import type { ErrorEntry } from './entry.js';

/** Classes of a write attempt that was not plainly paid; they appear as class and error_code. */
export const OUTCOME_ERRORS = {
  ALM_SEND_NOT_SENT: {
    means: 'The connection was never completed: nothing was sent.',
    next: 'Nothing was applied. Check the base URL and the network; `almoner dead retry` sends it again.',
    exit: 4,
  },
} as const satisfies Record<string, ErrorEntry>;
