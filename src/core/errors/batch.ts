import type { ErrorEntry } from './entry.js';

/** Batches and orders that a command names or steers. */
export const BATCH_ERRORS = {
  ALM_BATCH_NOT_FOUND: {
    means: 'No batch has that id or prefix.',
    next: 'List the batches with `almoner status`.',
    exit: 2,
  },
} as const satisfies Record<string, ErrorEntry>;
