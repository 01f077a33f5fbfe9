import { z } from 'zod';
import { parseBaseUrl } from '../../core/base-url.js';
import { OUTCOME_KINDS } from '../../core/classify.js';
import { NOTICE_EVENTS } from '../../core/notice-events.js';
import { CERTAINTIES, parseRate, RATE_EXPECTED } from '../../core/profile.js';
import { readStoreAddress } from '../redis/address.js';

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** No blanks, nothing that has a meaning in a path, a URL or a Redis hash tag. */
const REALM_ID = /^[^\s/\\?#%{}\p{C}]{1,128}$/u;
const POINT_ID = /^[A-Za-z0-9._:-]{1,128}$/;
/** The characters of an HTTP token; empty means that the key stands alone in the header. */
const AUTH_SCHEME = /^[A-Za-z0-9!#$&'*+.^_`|~-]{0,32}$/;
const WEB_URL = 'expected a URL that starts with https:// or http://, without user name and password';
const BALANCE_PATH = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){0,7}$/;
const STATUS = /^[1-5][0-9][0-9]$/;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** For how long a request may still arrive, where nobody says otherwise. */
export const SETTLE_MS = 20 * MINUTE_MS;
export const DEFAULT_RATE = { requests: 20, windowMs: MINUTE_MS };
export const DEFAULT_BACKOFF = { backoffMs: 1_000, backoffMaxMs: MINUTE_MS };

const tokensCap = wholeNumber(1, Number.MAX_SAFE_INTEGER).nullable().default(null);
const envName = pattern('the name of an environment variable', ENV_NAME);
const timeoutMs = (defaultMs: number) => wholeNumber(1, 10 * MINUTE_MS).default(defaultMs);

export const DEFAULT_HOLD_MINUTES = 5;

/** A URL that is itself the secret. */
const secretUrl = block({ urlEnv: envName.optional(), urlFile: path('a file').optional() });

const notifications = block({
  webhook: block({
    url: z.string({ error: WEB_URL }).refine(isPlainWebUrl, { error: WEB_URL }),
    secretEnv: envName.optional(),
    secretFile: path('a file').optional(),
  }).optional(),
  discord: secretUrl.optional(),
  /** Unset: all of them. */
  events: z.array(choice(NOTICE_EVENTS), { error: 'expected a list of events' }).optional(),
  /** A realm that asks to wait for longer is told of. */
  holdMinutes: wholeNumber(1, 24 * 60).default(DEFAULT_HOLD_MINUTES),
});
export type ParsedNotifications = z.output<typeof notifications>;

/** One realm of the file. The key itself has no setting here, on purpose. */
export const realmSchema = block({
  baseUrl: parsed('a URL that starts with https:// or http://', (text) => {
    const result = parseBaseUrl(text);
    return 'fault' in result ? result : { value: result.baseUrl };
  }),
  realmId: pattern('a realm id without blanks or any of / \\ ? # % { }', REALM_ID),
  keyEnv: envName.optional(),
  keyFile: path('a file').optional(),
  authScheme: pattern('an authorization scheme such as Bearer, or an empty text', AUTH_SCHEME).default(
    'Bearer',
  ),
  realmPointId: pattern('the id of a currency', POINT_ID).nullable().default(null),
  balancePath: pattern('a path such as data.balance', BALANCE_PATH).nullable().default(null),
  recipientAs: choice(['number', 'string']).default('number'),
  certainty: choice(CERTAINTIES).default('manual'),
  rate: parsed(RATE_EXPECTED, (text) => {
    const result = parseRate(text);
    return 'fault' in result ? result : { value: result.rate };
  }).default(DEFAULT_RATE),
  rateReserve: wholeNumber(0, 1_000_000).default(0),
  timeouts: block({
    connectMs: timeoutMs(10_000),
    tlsMs: timeoutMs(10_000),
    responseMs: timeoutMs(30_000),
    totalMs: timeoutMs(MINUTE_MS),
  }).prefault({}),
  attempts: block({
    max: wholeNumber(1, 100).default(5),
    backoffMs: wholeNumber(1, DAY_MS).default(DEFAULT_BACKOFF.backoffMs),
    backoffMaxMs: wholeNumber(1, DAY_MS).default(DEFAULT_BACKOFF.backoffMaxMs),
  }).prefault({}),
  statusOverrides: z
    .record(pattern('an HTTP status such as 409', STATUS), choice(OUTCOME_KINDS), {
      error: (issue) =>
        issue.code === 'invalid_type' ? 'expected a block of HTTP statuses and outcomes' : undefined,
    })
    .default({}),
  maxTokensPerOrder: tokensCap,
  maxTokensPerBatch: tokensCap,
  maxTokensPerDay: tokensCap,
  wallets: block({
    method: choice(['GET', 'POST']).default('GET'),
    chunk: wholeNumber(1, 10_000).default(100),
  }).prefault({}),
  settleMs: wholeNumber(1, 30 * DAY_MS).default(SETTLE_MS),
  keyLifetimeMs: wholeNumber(1, 365 * DAY_MS).default(DAY_MS),
  notifications: notifications.optional(),
});

export type ParsedRealm = z.output<typeof realmSchema>;

function isPlainWebUrl(text: string): boolean {
  if (!/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

/** The kinds of setting. Each one's message starts with `expected`; what was got is added with the place. */

function wholeNumber(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

function choice<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `expected one of ${values.join(', ')}` });
}

function pattern(what: string, shape: RegExp) {
  const error = `expected ${what}`;
  return z.string({ error }).regex(shape, { error });
}

/** Text that is printed in logs, CSV files and pages: no line ends, no control characters. */
function printable(what: string, lengthMax: number) {
  const error = `expected ${what} of 1 to ${lengthMax} printable characters`;
  return z
    .string({ error })
    .refine((text) => text.trim() !== '' && text.length <= lengthMax && !/\p{C}/u.test(text), { error });
}

function path(what: string) {
  const error = `expected the path of ${what}`;
  // `~name` is another user's home in a shell and would be a folder of that very name here.
  return z.string({ error }).refine((text) => text.trim() !== '' && !/\0|^~[^/]/.test(text), { error });
}

/** Text that a parser turns into a value, with the parser's own fault as the message. */
function parsed<T>(what: string, parse: (text: string) => { value: T } | { fault: string }) {
  return z.string({ error: `expected ${what}` }).transform((text, context): T => {
    const result = parse(text);
    if ('value' in result) return result.value;
    context.addIssue({ code: 'custom', message: result.fault });
    return z.NEVER;
  });
}

/** A block that refuses names it does not know. */
function block<const T extends z.core.$ZodShape>(shape: T) {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'invalid_type' ? 'expected a block of settings' : undefined),
  });
}

const RISK = /^[a-z][a-z0-9-]{1,63}$/;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How long a sending process waits for what, and how large its journals may become. */
const limits = block({
  /** BullMQ's lock on a delivery. Nothing safe rests on it; it only makes deliveries come again. */
  lockMs: wholeNumber(500, 10 * MINUTE_MS).default(30_000),
  /** Work waiting and none taken for so long ends a worker. */
  stalledMs: wholeNumber(1_000, 60 * MINUTE_MS).default(MINUTE_MS),
  /** How long others may take to merge their journals before batches are shown as halted. */
  mergePatienceMs: wholeNumber(100, 60 * MINUTE_MS).default(15_000),
  /** A realm that gives no definite answer for so long is halted. */
  breakerHaltMs: wholeNumber(1_000, 24 * 60 * MINUTE_MS).default(15 * MINUTE_MS),
  /** How long a stop waits for what is being sent; null: the longest time-out of the realms and 10 s. */
  stopMs: wholeNumber(1_000, 60 * MINUTE_MS)
    .nullable()
    .default(null),
  journalMegabytes: wholeNumber(1, 100_000).default(64),
  /** A connection to the store on which a command waits for so long is given up, and a new one is made. */
  storeAnswerMs: wholeNumber(500, 10 * MINUTE_MS).default(10_000),
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
    .default(null),
  dataFolder: path('a folder').optional(),
  reportsFolder: path('a folder').optional(),
  jobsFolder: path('a folder').optional(),
  logLevel: choice(LOG_LEVELS).default('warn'),
  operator: printable('a name', 64).optional(),
  risks: z
    .array(pattern('a risk by its name, such as no-append-only', RISK), {
      error: 'expected a list of risks by their names',
    })
    .default([]),
  retentionDays: wholeNumber(0, 3_650).default(30),
  /** For realms without their own, and for what belongs to no realm. */
  notifications: notifications.optional(),
  deadMan: secretUrl.optional(),
  limits: limits.prefault({}),
  realms: z
    .record(pattern('a realm name without blanks or any of / \\ ? # % { }', REALM_ID), realmSchema, {
      error: (issue) =>
        issue.code === 'invalid_type' ? 'expected a block of realms by their names' : undefined,
    })
    .default({}),
});
