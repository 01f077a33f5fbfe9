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
        'The lock of a BullMQ delivery. After it a delivery may come again; no payment depends on it.',
        60_000,
      ),
    ),
  stalledMs: wholeNumber(1_000, 60 * MINUTE_MS)
    .default(MINUTE_MS)
    .meta(said('A worker that takes none of the waiting work for this long ends itself.', 120_000)),
  mergePatienceMs: wholeNumber(100, 60 * MINUTE_MS)
    .default(15_000)
    .meta(
      said(
        'Time for other processes to merge their journals. After it almoner shows their batches as halted.',
        30_000,
      ),
    ),
  breakerHaltMs: wholeNumber(1_000, 24 * 60 * MINUTE_MS)
    .default(15 * MINUTE_MS)
    .meta(said('almoner halts a realm that gives no definite answer for this long.', 600_000)),
  refusedMs: wholeNumber(100, 60 * MINUTE_MS)
    .default(MINUTE_MS)
    .meta(
      said(
        'A result that the store refuses for this long leaves the worker’s slot. almoner offers it again until the store accepts it.',
        30_000,
      ),
    ),
  stopMs: wholeNumber(1_000, 60 * MINUTE_MS)
    .nullable()
    .default(null)
    .meta(
      said(
        'How long a stop waits for open requests. Null: the longest time-out of the realms plus 10 s.',
        90_000,
      ),
    ),
  journalMegabytes: wholeNumber(1, 100_000)
    .default(64)
    .meta(said('Size of a data folder’s journals at which almoner removes the oldest.', 256)),
  storeAnswerMs: wholeNumber(500, 10 * MINUTE_MS)
    .default(10_000)
    .meta(
      said(
        'almoner replaces a store connection on which a command waits for this long. Below 5 s it also bounds the first connection.',
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
      said(
        'The address of Redis. Null: almoner starts a private Redis in the data folder.',
        'rediss://books.example.org:6379/0',
      ),
    ),
  dataFolder: path('a folder')
    .optional()
    .meta(
      said(
        'The folder for journals, archives and the private Redis. Unset: one folder per user.',
        '/srv/almoner',
      ),
    ),
  ephemeral: z
    .boolean({ error: 'expected true or false' })
    .default(false)
    .meta(
      said(
        'The data folder ends with its process, as in a container without a volume. Recovery does not wait for it once it handed over everything.',
        true,
      ),
    ),
  stateFolder: path('a folder')
    .optional()
    .meta(
      said(
        'The folder that detects a rolled-back data folder; it lies outside of it. Unset: `almoner` in the user’s state folder (`XDG_STATE_HOME`, `~/.local/state`).',
        '/var/lib/almoner-state',
      ),
    ),
  reportsFolder: path('a folder')
    .optional()
    .meta(said('The folder for reports. Unset: `reports` in the working folder.', '/srv/reports')),
  jobsFolder: path('a folder')
    .optional()
    .meta(said('The folder of the rules. Unset: `jobs` in the working folder.', '/srv/rules')),
  logLevel: choice(LOG_LEVELS).default('warn').meta(said('The level of the log on standard error.', 'info')),
  operator: printable('a name', 64)
    .optional()
    .meta(said('The name that the audit records. Unset: the system’s user name.', 'olga')),
  risks: z
    .array(pattern('a risk by its name, such as no-append-only', RISK), {
      error: 'expected a list of risks by their names',
    })
    .default([])
    .meta(said('Risks of the store that you accept. Every report names them.', ['no-append-only'])),
  retentionDays: wholeNumber(0, 3_650)
    .default(30)
    .meta(said('After this time almoner moves a finished batch from Redis to an archive file.', 90)),
  notifications: notifications
    .optional()
    .meta(said('The places for notices of realms without their own, and of things that belong to no realm.')),
  deadMan: secretUrl
    .optional()
    .meta(
      said(
        'A URL that almoner calls after each good round. A service that watches it raises the alarm when the calls end.',
      ),
    ),
  limits: limits.prefault({}).meta(said('Time-outs of a sending process, and the size of its journals.')),
  realms: z
    .record(pattern('a realm name without blanks or any of / \\ ? # % { }', REALM_ID), realmSchema, {
      error: (issue) =>
        issue.code === 'invalid_type' ? 'expected a block of realms by their names' : undefined,
    })
    .default({})
    .meta(said('The realms, each under the name that `--realm` takes.')),
});
