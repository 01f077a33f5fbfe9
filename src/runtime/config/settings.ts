import { z } from 'zod';
import { parseBaseUrl } from '../../core/base-url.js';
import { OUTCOME_KINDS } from '../../core/classify.js';
import { NOTICE_EVENTS } from '../../core/notice-events.js';
import { CERTAINTIES, parseRate, RATE_EXPECTED } from '../../core/profile.js';
import { readStoreAddress } from '../redis/address.js';
import { block, choice, parsed, path, pattern, printable, said, webUrl, wholeNumber } from './kinds.js';

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** No blanks, nothing that has a meaning in a path, a URL or a Redis hash tag. */
const REALM_ID = /^[^\s/\\?#%{}\p{C}]{1,128}$/u;
const POINT_ID = /^[A-Za-z0-9._:-]{1,128}$/;
/** The characters of an HTTP token; empty means that the key stands alone in the header. */
const AUTH_SCHEME = /^[A-Za-z0-9!#$&'*+.^_`|~-]{0,32}$/;
const BALANCE_PATH = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){0,7}$/;
const STATUS = /^[1-5][0-9][0-9]$/;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** For how long a request may still arrive, where nobody says otherwise. */
export const SETTLE_MS = 20 * MINUTE_MS;
export const DEFAULT_RATE = { requests: 20, windowMs: MINUTE_MS };
export const DEFAULT_BACKOFF = { backoffMs: 1_000, backoffMaxMs: MINUTE_MS };

const tokensCap = (words: string) =>
  wholeNumber(1, Number.MAX_SAFE_INTEGER).nullable().default(null).meta(said(words, 100_000));
const envName = pattern('the name of an environment variable', ENV_NAME);
const timeoutMs = (defaultMs: number, words: string) =>
  wholeNumber(1, 10 * MINUTE_MS)
    .default(defaultMs)
    .meta(said(words, 5_000));

export const DEFAULT_HOLD_MINUTES = 5;

/** A URL that is itself the secret. */
const secretUrl = block({
  urlEnv: envName
    .optional()
    .meta(said('The environment variable that holds the URL, which is itself the secret.', 'HOOK_URL')),
  urlFile: path('a file').optional().meta(said('The file that holds it, instead.', '/run/secrets/hook-url')),
});

const notifications = block({
  webhook: block({
    url: webUrl().meta(said('Where notices are sent by POST.', 'https://ops.example.org/almoner')),
    secretEnv: envName
      .optional()
      .meta(
        said('The environment variable that holds the secret by which notices are signed.', 'HOOK_SECRET'),
      ),
    secretFile: path('a file').optional().meta(said('The file that holds it, instead.', '/run/secrets/hook')),
  })
    .optional()
    .meta(said('A webhook of your own.')),
  discord: secretUrl.optional().meta(said('A webhook of a Discord channel.')),
  events: z
    .array(choice(NOTICE_EVENTS), { error: 'expected a list of events' })
    .optional()
    .meta(said(`Which are told: ${NOTICE_EVENTS.join(', ')}; unset: all of them.`, ['batch.halted'])),
  holdMinutes: wholeNumber(1, 24 * 60)
    .default(DEFAULT_HOLD_MINUTES)
    .meta(said('A realm that asks to wait for longer is told of.', 10)),
});
export type ParsedNotifications = z.output<typeof notifications>;

/** One realm of the file. The key itself has no setting here, on purpose. */
export const realmSchema = block({
  baseUrl: parsed('a URL that starts with https:// or http://', (text) => {
    const result = parseBaseUrl(text);
    return 'fault' in result ? result : { value: result.baseUrl };
  }).meta(
    said('The address of the realm’s interface, with or without `/api/v4`.', 'https://points.example.org'),
  ),
  realmId: pattern('a realm id without blanks or any of / \\ ? # % { }', REALM_ID).meta(
    said('The realm’s id there.', '119837460192837465'),
  ),
  keyEnv: envName
    .optional()
    .meta(
      said(
        'The environment variable that holds the key. The key itself never stands in the file.',
        'TOWN_KEY',
      ),
    ),
  keyFile: path('a file').optional().meta(said('The file that holds it, instead.', '/run/secrets/town-key')),
  authScheme: pattern('an authorization scheme such as Bearer, or an empty text', AUTH_SCHEME)
    .default('Bearer')
    .meta(said('The word before the key in the `Authorization` header; empty: the key alone.', 'Token')),
  realmPointId: pattern('the id of a currency', POINT_ID)
    .nullable()
    .default(null)
    .meta(said('The currency that is paid; null: the realm’s own.', 'gold')),
  balancePath: pattern('a path such as data.balance', BALANCE_PATH)
    .nullable()
    .default(null)
    .meta(said('Where the balance stands in a member’s record; null: the usual places.', 'data.balance')),
  recipientAs: choice(['number', 'string'])
    .default('number')
    .meta(said('How a transfer’s recipient is written in the request.', 'string')),
  certainty: choice(CERTAINTIES)
    .default('manual')
    .meta(
      said(
        'How an unknown outcome is resolved: by sending the same key again, which the realm must honour (`idempotent`); by reading the member before and after, which nothing else may move meanwhile (`readback`); or by a person (`manual`).',
        'idempotent',
      ),
    ),
  rate: parsed(RATE_EXPECTED, (text) => {
    const result = parseRate(text);
    return 'fault' in result ? result : { value: result.rate };
  })
    .default(DEFAULT_RATE)
    .meta(said('Requests allowed, reads and writes together, over all processes.', '24/min')),
  rateReserve: wholeNumber(0, 1_000_000)
    .default(0)
    .meta(said('Requests of each window that are left to others who use the same key.', 2)),
  timeouts: block({
    connectMs: timeoutMs(10_000, 'For the connection.'),
    tlsMs: timeoutMs(10_000, 'For its encryption.'),
    responseMs: timeoutMs(30_000, 'For the answer to begin, once the request is sent.'),
    totalMs: timeoutMs(MINUTE_MS, 'For the whole request.'),
  })
    .prefault({})
    .meta(said('How long a request may take. What took longer after it was sent is unknown.')),
  attempts: block({
    max: wholeNumber(1, 100).default(5).meta(said('Attempts before an order is exhausted.', 3)),
    backoffMs: wholeNumber(1, DAY_MS)
      .default(DEFAULT_BACKOFF.backoffMs)
      .meta(said('The pause before the second attempt; each later one is longer.', 2_000)),
    backoffMaxMs: wholeNumber(1, DAY_MS)
      .default(DEFAULT_BACKOFF.backoffMaxMs)
      .meta(said('The longest pause.', 30_000)),
  })
    .prefault({})
    .meta(said('How often an order is tried that was definitely not applied.')),
  statusOverrides: z
    .record(pattern('an HTTP status such as 409', STATUS), choice(OUTCOME_KINDS), {
      error: (issue) =>
        issue.code === 'invalid_type' ? 'expected a block of HTTP statuses and outcomes' : undefined,
    })
    .default({})
    .meta(
      said(
        `What an HTTP status means at this realm, where it is not the usual: ${OUTCOME_KINDS.join(', ')}. Every report says so.`,
        { 409: 'refused' },
      ),
    ),
  maxTokensPerOrder: tokensCap(
    'The most that one order may move; a file beyond it is refused. Null: no cap.',
  ),
  maxTokensPerBatch: tokensCap(
    'The most that one batch may move; a file beyond it is refused. Null: no cap.',
  ),
  maxTokensPerDay: tokensCap(
    'The most that is sent on one day in UTC; beyond it the batch is halted. Null: no cap.',
  ),
  wallets: block({
    method: choice(['GET', 'POST'])
      .default('GET')
      .meta(said('How the realm takes a list of wallets.', 'POST')),
    chunk: wholeNumber(1, 10_000).default(100).meta(said('Wallets asked about in one request.', 50)),
  })
    .prefault({})
    .meta(said('The question which wallets belong to members.')),
  settleMs: wholeNumber(1, 30 * DAY_MS)
    .default(SETTLE_MS)
    .meta(said('How long a request without an answer may still be applied by the realm.', 600_000)),
  keyLifetimeMs: wholeNumber(1, 365 * DAY_MS)
    .default(DAY_MS)
    .meta(said('How long the realm remembers the key of a request (`idempotent`).', 3_600_000)),
  notifications: notifications
    .optional()
    .meta(
      said('Who is told of what waits for a person in this realm, instead of `notifications` at the top.'),
    ),
});

export type ParsedRealm = z.output<typeof realmSchema>;

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
        'A connection to the store on which a command waits for so long is given up, and a new one is made.',
        5_000,
      ),
    ),
});
export type Limits = Readonly<z.output<typeof limits>>;

/** The whole configuration, whatever it came from. Names are those of almoner.config.yaml. */
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
