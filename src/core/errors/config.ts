import type { ErrorEntry } from './entry.js';

/** Configuration: file, environment and flags. */
export const CONFIG_ERRORS = {
  ALM_CONFIG_INVALID: {
    means: 'The configuration has faults; all of them are listed.',
    next: 'Mend the listed settings; `almoner doctor` prints the configuration in use.',
    exit: 2,
  },
  ALM_CONFIG_REALM_AMBIGUOUS: {
    means: 'More than one realm is configured and none was chosen.',
    next: 'Choose one of the listed realms with --realm NAME.',
    exit: 2,
  },
  ALM_CONFIG_REALM_UNKNOWN: {
    means: 'No configured realm has that name or id.',
    next: 'Pass one of the listed names to --realm, or add the realm to almoner.config.yaml.',
    exit: 2,
  },
  ALM_CONFIG_KEY_MISSING: {
    means: "The realm's API key is not where the profile looks for it, or cannot be used as it stands.",
    next: 'Put the key into the named environment variable or file, then run the command again.',
    exit: 2,
  },
} as const satisfies Record<string, ErrorEntry>;
