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
        'BullMQ’s lock on a delivery. Nothing safe rests on it; it only makes deliveries come again.',
        60_000,
      ),
    ),
  stalledMs: wholeNumber(1_000, 60 * MINUTE_MS)
    .default(MINUTE_MS)
    .meta(said('Work that waits and is not taken for so long ends a worker.', 120_000)),
  mergePatienceMs: wholeNumber(100, 60 * MINUTE_MS)
    .default(15_000)
    .meta(
      said('How long others may take to merge their journals before batches are shown as halted.', 30_000),
    ),
  breakerHaltMs: wholeNumber(1_000, 24 * 60 * MINUTE_MS)
    .default(15 * MINUTE_MS)
    .meta(said('A realm that gives no definite answer for so long is halted.', 600_000)),
  refusedMs: wholeNumber(100, 60 * MINUTE_MS)
    .default(MINUTE_MS)
    .meta(
      said(
        'A result that an answering store refuses for so long leaves the worker’s slot; almoner offers it again until the store takes it.',
        30_000,
      ),
    ),
  stopMs: wholeNumber(1_000, 60 * MINUTE_MS)
    .nullable()
    .default(null)
    .meta(
      said(
        'How long a stop waits for what is being sent; null: the longest time-out of the realms and 10 s.',
        90_000,
      ),
    ),
  journalMegabytes: wholeNumber(1, 100_000)
    .default(64)
    .meta(said('How large the journals of a data folder may become before the oldest go.', 256)),
  storeAnswerMs: wholeNumber(500, 10 * MINUTE_MS)
    .default(10_000)
    .meta(
      said(
        'A connection to the store on which a command waits for so long is given up, and a new one is made. Below 5 s it also bounds the first connection.',
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
        'The data folder is gone with its process, as in a container without a volume: once everything is taken, it is not waited for.',
        true,
      ),
    ),
  stateFolder: path('a folder')
    .optional()
    .meta(
      said(
        'The witness of the data folders, outside of them; unset: `almoner` in the user’s state folder (`XDG_STATE_HOME`, `~/.local/state`).',
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
    .meta(said('Who did it, in the audit; unset: the system’s user name.', 'olga')),
  risks: z
    .array(pattern('a risk by its name, such as no-append-only', RISK), {
      error: 'expected a list of risks by their names',
    })
    .default([])
    .meta(said('Risks of the store that are taken knowingly; every report says so.', ['no-append-only'])),
  retentionDays: wholeNumber(0, 3_650)
    .default(30)
    .meta(said('After so long a finished batch leaves Redis for a file of the archive.', 90)),
  notifications: notifications
    .optional()
    .meta(
      said(
        'Who is told of what waits for a person: for realms without their own, and for what belongs to no realm.',
      ),
    ),
  deadMan: secretUrl
    .optional()
    .meta(
      said(
        'A URL that is called after each good round: who watches it learns when nothing of this lives any more.',
      ),
    ),
  limits: limits
    .prefault({})
    .meta(said('How long a sending process waits for what, and how large its journals may become.')),
  realms: z
    .record(pattern('a realm name without blanks or any of / \\ ? # % { }', REALM_ID), realmSchema, {
      error: (issue) =>
        issue.code === 'invalid_type' ? 'expected a block of realms by their names' : undefined,
    })
    .default({})
    .meta(said('The realms, each under a name that `--realm` takes.')),
});
