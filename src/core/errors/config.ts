import type { ErrorEntry } from './entry.js';

/** Configuration: file, environment and flags. */
export const CONFIG_ERRORS = {
  ALM_CONFIG_INVALID: {
    means: 'The configuration has faults; all of them are listed.',
    next: 'Mend the listed settings; `almoner doctor` prints the configuration in use.',
    exit: 2,
  },
} as const satisfies Record<string, ErrorEntry>;
