import type { ErrorEntry } from './entry.js';

/** Redis: the embedded one and outside ones. */
export const STORE_ERRORS = {
  ALM_STORE_UNREACHABLE: {
    means: 'Redis does not answer.',
    next: 'Check REDIS_URL and that the server runs; `almoner doctor` tells more.',
    exit: 5,
  },
} as const satisfies Record<string, ErrorEntry>;
