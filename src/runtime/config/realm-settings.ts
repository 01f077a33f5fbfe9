import { z } from 'zod';
import { parseBaseUrl } from '../../core/base-url.js';
import { OUTCOME_KINDS } from '../../core/classify.js';
import { COLUMNS } from '../../core/columns.js';
import { CURRENCY_ID } from '../../core/currencies.js';
import { NOTICE_EVENTS } from '../../core/notice-events.js';
import { AFTER_ROLLBACK, CERTAINTIES, parseRate, RATE_EXPECTED } from '../../core/profile.js';
import { leavesNothing, parseQuietSpan, QUIET_EXPECTED } from '../../core/quiet-hours.js';
import { isZone } from '../../core/zones.js';
import { block, choice, parsed, path, pattern, printable, said, webUrl, wholeNumber } from './kinds.js';

/** The settings of one realm, and who is notified about it. */

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** No blanks, and no character with a meaning in a path, a URL or a Redis hash tag. */
export const REALM_ID = /^[^\s/\\?#%{}\p{C}]{1,128}$/u;
/** The characters of an HTTP token. Empty means that the header holds only the key. */
const AUTH_SCHEME = /^[A-Za-z0-9!#$&'*+.^_`|~-]{0,32}$/;
const BALANCE_PATH = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){0,7}$/;
const STATUS = /^[1-5][0-9][0-9]$/;

const ZONE_EXPECTED = 'expected a time zone such as Europe/Berlin';

export const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** How long a request may still arrive, unless the profile says otherwise. */
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
export const secretUrl = block({
  urlEnv: envName
    .optional()
    .meta(said('The environment variable that holds the URL, which is itself the secret.', 'HOOK_URL')),
  urlFile: path('a file').optional().meta(said('The file that holds it, instead.', '/run/secrets/hook-url')),
});

export const notifications = block({
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

/** The schema of one realm in the file. It deliberately has no setting for the key itself. */
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
  realmPointId: pattern('the id of a currency', CURRENCY_ID)
    .nullable()
    .default(null)
    .meta(said('The currency that is paid where none is chosen; null: the realm’s own.', 'gold')),
  currencies: z
    .array(pattern('the id of a currency', CURRENCY_ID), { error: 'expected a list of ids of currencies' })
    .max(50)
    .default([])
    .meta(
      said(
        'Further currencies of the realm, of which one may be chosen for a batch: `--currency`, `currency` of a rule, the desk.',
        ['gold', 'gems'],
      ),
    ),
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
  approval: block({
    overTokens: wholeNumber(0, Number.MAX_SAFE_INTEGER)
      .nullable()
      .default(null)
      .meta(
        said(
          'What one person pays within 24 hours may move so many tokens without an approval; 0: nothing.',
          50_000,
        ),
      ),
    overRows: wholeNumber(0, Number.MAX_SAFE_INTEGER)
      .nullable()
      .default(null)
      .meta(said('… and so many orders.', 200)),
  })
    .optional()
    .meta(
      said(
        'A second person has to approve, always (neither is set) or above these. The profile of whoever prepares, sends or retries counts.',
      ),
    ),
  columns: z
    .partialRecord(choice(COLUMNS), printable('the name of a column', 200), {
      error: 'expected meanings with names of columns',
    })
    .default({})
    .meta(
      said('What the columns of its files are called, where nobody says it with the file.', {
        tokens: 'Punkte',
      }),
    ),
  timezone: z
    .string({ error: ZONE_EXPECTED })
    .refine(isZone, { error: ZONE_EXPECTED })
    .default('UTC')
    .meta(
      said(
        'By whose wall its quiet hours, and the times given with `--at`, are meant and shown.',
        'Europe/Berlin',
      ),
    ),
  quietHours: z
    .array(
      parsed(QUIET_EXPECTED, (text) => {
        const span = parseQuietSpan(text);
        return 'fault' in span ? span : { value: { text: text.trim(), spans: span.spans } };
      }),
      { error: `expected a list of ${QUIET_EXPECTED}` },
    )
    .refine((list) => !leavesNothing({ spans: list.flatMap(({ spans }) => spans) }), {
      error: 'expected quiet hours that leave some of the week',
    })
    .default([])
    .meta(
      said('When nothing is sent for the first time; what was sent before is still seen to.', [
        '22:00-07:00',
        'fri 18:00-mon 08:00',
      ]),
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
  afterRollback: choice(AFTER_ROLLBACK)
    .default('wait')
    .meta(
      said(
        'Whether first sends wait for `almoner resume --after-rollback` once the store was found to have forgotten something (`wait`), or go on by themselves (`continue`).',
        'continue',
      ),
    ),
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
