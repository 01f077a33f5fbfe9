import type { ErrorEntry } from './entry.js';

/** Reads and other calls of the realm interface. */
export const REALM_ERRORS = {
  ALM_REALM_KEY_REFUSED: {
    means: 'The realm answered 401: the API key is wrong or does not exist.',
    next: 'Put the right key where the profile looks for it, then run the command again.',
    exit: 5,
  },
  ALM_REALM_KEY_OTHER_REALM: {
    means: 'The realm answered 403: the API key belongs to a different realm.',
    next: 'Use the key of this realm, or the realm of this key.',
    exit: 5,
  },
} as const satisfies Record<string, ErrorEntry>;
