import type { ErrorEntry } from './entry.js';

/** Faults and warnings of single CSV rows and cells. */
export const ROW_ERRORS = {
  ALM_ROW_TOKENS_INVALID: {
    means: 'The amount is not a whole number of points.',
    next: 'Write plain digits, with a leading minus to subtract.',
    exit: 3,
  },
} as const satisfies Record<string, ErrorEntry>;
