import type { ErrorEntry } from './entry.js';

/** What the command line itself refuses. */
export const CLI_ERRORS = {
  ALM_CLI_USAGE: {
    means: 'The command line could not be understood.',
    next: 'Run the command with --help.',
    exit: 2,
  },
  ALM_CLI_NOT_CONFIRMED: {
    means: 'Sending needs a confirmation, and none was given.',
    next: 'Type the total when asked, or pass --yes in a script.',
    exit: 2,
  },
  ALM_CLI_INTERNAL: {
    means: 'A bug: something failed that should not have.',
    next: 'Run the command again with ALMONER_LOG_LEVEL=debug and report what it prints.',
    exit: 1,
  },
  ALM_CLI_FILES_EXIST: {
    means: 'A file that would be written exists already.',
    next: 'Move it away, or work in another folder.',
    exit: 2,
  },
} as const satisfies Record<string, ErrorEntry>;
