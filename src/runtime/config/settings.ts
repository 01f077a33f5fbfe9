import { z } from 'zod';
import { readStoreAddress } from '../redis/address.js';
import { block, choice, path, pattern, printable, said, wholeNumber } from './kinds.js';
import { MINUTE_MS, notifications, REALM_ID, realmSchema, secretUrl } from './realm-settings.js';

const RISK = /^[a-z][a-z0-9-]{1,63}$/;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const limits = block({
  lockMs: wholeNumber(500, 10 * MINUTE_MS)
    .default(30_000)
    .meta(
      said(
        'How long BullMQ locks a delivery. No guarantee depends on it; when it expires, BullMQ delivers again.',
        60_000,
      ),
    ),
  stalledMs: wholeNumber(1_000, 60 * MINUTE_MS)
    .default(MINUTE_MS)
    .meta(said('A worker ends if it takes no work for this long although work is waiting.', 120_000)),
  mergePatienceMs: wholeNumber(100, 60 * MINUTE_MS)
    .default(15_000)
    .meta(
      said('How long other processes may take to merge their journals before batches are shown as halted.', 30_000),
    ),
  breakerHaltMs: wholeNumber(1_000, 24 * 60 * MINUTE_MS)
    .default(15 * MINUTE_MS)
    .meta(said('A realm without a definite answer for this long is halted.', 600_000)),
  refusedMs: wholeNumber(100, 60 * MINUTE_MS)
    .default(MINUTE_MS)
    .meta(
      said(
        'If the store answers but refuses a result for this long, the result frees the worker’s slot; almoner offers it again until the store accepts it.',
        30_000,
      ),
    ),
  stopMs: wholeNumber(1_000, 60 * MINUTE_MS)
    .nullable()
    .default(null)
    .meta(
      said(
        'How long a stop waits for requests in progress; null: the longest time-out of the realms plus 10 s.',
        90_000,
      ),
    ),
  journalMegabytes: wholeNumber(1, 100_000)
    .default(64)
    .meta(said('How large the journals of a data folder may become before the oldest are deleted.', 256)),
  storeAnswerMs: wholeNumber(500, 10 * MINUTE_MS)
    .default(10_000)
    .meta(
      said(
        'If a command waits this long on a connection to the store, almoner gives that connection up and opens a new one. Below 5 s this also limits the first connection.',
        5_000,
      ),
    ),
});
export type Limits = Readonly<z.output<typeof limits>>;

/** The schema of the whole configuration, whatever its source. The names are those of almoner.config.yaml. */
export const configSchema = block({
  redisUrl: z
    .string({ error: 'expected a URL that starts with redis:// or rediss://' })
    .superRefine((text, context) => {
      const read = readStoreAddress(text);
      if ('faults' in read) for (const message of read.faults) context.addIssue({ code: 'custom', message });
    })
    .nullable()
    .default(null)
    .meta(
      said('The store; null: a private Redis under the data folder.', 'rediss://books.example.org:6379/0'),
    ),
  dataFolder: path('a folder')
    .optional()
    .meta(said('Journals, archives and the private Redis; unset: one folder for each user.', '/srv/almoner')),
  ephemeral: z
    .boolean({ error: 'expected true or false' })
    .default(false)
    .meta(
      said(
        'The data folder disappears with its process, as in a container without a volume. Once its journals are merged, no other process waits for it.',
        true,
      ),
    ),
  stateFolder: path('a folder')
    .optional()
    .meta(
      said(
        'The folder for the witness of the data folders, outside of them; unset: `almoner` in the user’s state folder (`XDG_STATE_HOME`, `~/.local/state`).',
        '/var/lib/almoner-state',
      ),
    ),
  reportsFolder: path('a folder')
    .optional()
    .meta(
      said('Where reports are written; unset: `reports`, where the command was started.', '/srv/reports'),
    ),
  jobsFolder: path('a folder')
    .optional()
    .meta(said('Where rules are; unset: `jobs`, where the command was started.', '/srv/rules')),
  logLevel: choice(LOG_LEVELS).default('warn').meta(said('What is written to standard error.', 'info')),
  operator: printable('a name', 64)
    .optional()
    .meta(said('The acting person’s name in the audit; unset: the system’s user name.', 'olga')),
  risks: z
    .array(pattern('a risk by its name, such as no-append-only', RISK), {
      error: 'expected a list of risks by their names',
    })
    .default([])
    .meta(said('Risks of the store that you accept knowingly; every report lists them.', ['no-append-only'])),
  retentionDays: wholeNumber(0, 3_650)
    .default(30)
    .meta(said('After this many days a finished batch moves from Redis to an archive file.', 90)),
  notifications: notifications
    .optional()
    .meta(
      said(
        'Who is notified about what needs a person: for realms without notifications of their own, and for events of no realm.',
      ),
    ),
  deadMan: secretUrl
    .optional()
    .meta(
      said(
        'A URL that almoner calls after each good round. A service that watches it notices when almoner no longer runs.',
      ),
    ),
  limits: limits
    .prefault({})
    .meta(said('Time limits of sending processes, and the size of their journals.')),
  realms: z
    .record(pattern('a realm name without blanks or any of / \\ ? # % { }', REALM_ID), realmSchema, {
      error: (issue) =>
        issue.code === 'invalid_type' ? 'expected a block of realms by their names' : undefined,
    })
    .default({})
    .meta(said('The realms, each under a name that `--realm` takes.')),
});
