import { z } from 'zod';
import { parseBaseUrl } from '../../core/base-url.js';
import { OUTCOME_KINDS } from '../../core/outcome.js';
import { CERTAINTIES } from '../../core/profile.js';
import { parseRate, RATE_EXPECTED } from '../../core/rate.js';
import { block, choice, parsed, path, pattern, url, wholeNumber } from './settings.js';

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
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

const tokensCap = wholeNumber(1, Number.MAX_SAFE_INTEGER).nullable().default(null);
const envName = pattern('the name of an environment variable', ENV_NAME);
const timeoutMs = (defaultMs: number) => wholeNumber(1, 10 * MINUTE_MS).default(defaultMs);

const notifications = block({
  webhook: block({
    url: url('a URL that starts with https:// or http://, without user name and password', isPlainWebUrl),
    secretEnv: envName.optional(),
    secretFile: path('a file').optional(),
  }).optional(),
  discord: block({ urlEnv: envName.optional(), urlFile: path('a file').optional() }).optional(),
});

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
  }).default({ requests: 20, windowMs: MINUTE_MS }),
  rateReserve: wholeNumber(0, 1_000_000).default(0),
  timeouts: block({
    connectMs: timeoutMs(10_000),
    tlsMs: timeoutMs(10_000),
    responseMs: timeoutMs(30_000),
    totalMs: timeoutMs(MINUTE_MS),
  }).prefault({}),
  attempts: block({
    max: wholeNumber(1, 100).default(5),
    backoffMs: wholeNumber(1, DAY_MS).default(1_000),
    backoffMaxMs: wholeNumber(1, DAY_MS).default(MINUTE_MS),
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
