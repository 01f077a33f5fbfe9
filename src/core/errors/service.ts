import type { ErrorEntry } from './entry.js';

/** The realm service that almoner itself serves. */
export const SERVICE_ERRORS = {
  ALM_SERVICE_KEY_INVALID: {
    means: 'The API key for the realm service cannot be carried by an Authorization header.',
    next: 'Set ALMONER_API_KEY to 1 to 512 visible ASCII characters, or leave it unset to have a key made.',
    exit: 2,
  },
  ALM_SERVICE_KEY_OTHER_REALM: {
    means: 'The API key is linked to another realm of the same store.',
    next: 'Serve that realm, or use another key for this one.',
    exit: 2,
  },
  ALM_SERVICE_FAULT_INVALID: {
    means: 'A --fault switch could not be understood.',
    next: 'Write name:probability or name:probability:value, for example --fault error-after:0.1; `almoner realm serve --help` lists the names.',
    exit: 2,
  },
  ALM_SERVICE_MEMBERS_INVALID: {
    means: 'The members file has faults; all of them are listed and no member was loaded.',
    next: 'Mend the listed lines and start the service again.',
    exit: 3,
  },
  ALM_SERVICE_REALM_ID_INVALID: {
    means: 'The realm id cannot name a realm.',
    next: 'Use 1 to 128 visible characters without blanks.',
    exit: 2,
  },
  ALM_SERVICE_PORT_TAKEN: {
    means: 'The port is in use by another program.',
    next: 'Choose another one with --port, or end the other program.',
    exit: 2,
  },
} as const satisfies Record<string, ErrorEntry>;
