import type { ErrorEntry } from './entry.js';

/** The realm service that almoner itself serves. */
export const SERVICE_ERRORS = {
  ALM_SERVICE_PORT_TAKEN: {
    means: 'The port is in use by another program.',
    next: 'Choose another one with --port, or end the other program.',
    exit: 2,
  },
} as const satisfies Record<string, ErrorEntry>;
