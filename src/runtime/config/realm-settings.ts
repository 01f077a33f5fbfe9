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
    .meta(said('The environment variable with the URL, which is the secret itself.', 'HOOK_URL')),
  urlFile: path('a file').optional().meta(said('The file that holds it, instead.', '/run/secrets/hook-url')),
});

export const notifications = block({
  webhook: block({
    url: webUrl().meta(
      said('The address to which almoner posts notices.', 'https://ops.example.org/almoner'),
    ),
    secretEnv: envName
      .optional()
      .meta(said('The environment variable with the secret that signs notices.', 'HOOK_SECRET')),
    secretFile: path('a file').optional().meta(said('The file that holds it, instead.', '/run/secrets/hook')),
  })
    .optional()
    .meta(said('A webhook of your own.')),
  discord: secretUrl.optional().meta(said('A webhook of a Discord channel.')),
  events: z
    .array(choice(NOTICE_EVENTS), { error: 'expected a list of events' })
    .optional()
    .meta(said(`The events to send, of ${NOTICE_EVENTS.join(', ')}. Unset: all.`, ['batch.halted'])),
  holdMinutes: wholeNumber(1, 24 * 60)
    .default(DEFAULT_HOLD_MINUTES)
    .meta(said('almoner sends a notice when a realm asks to wait longer than this.', 10)),
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
    .meta(said('The environment variable with the key. The file never holds the key itself.', 'TOWN_KEY')),
  keyFile: path('a file').optional().meta(said('The file that holds it, instead.', '/run/secrets/town-key')),
  authScheme: pattern('an authorization scheme such as Bearer, or an empty text', AUTH_SCHEME)
    .default('Bearer')
    .meta(said('The word before the key in the `Authorization` header. Empty: the key alone.', 'Token')),
  realmPointId: pattern('the id of a currency', CURRENCY_ID)
    .nullable()
    .default(null)
    .meta(said('The currency of batches that choose none. Null: the realm’s own.', 'gold')),
  currencies: z
    .array(pattern('the id of a currency', CURRENCY_ID), { error: 'expected a list of ids of currencies' })
    .max(50)
    .default([])
    .meta(
      said(
        'Further currencies of the realm. A batch chooses one by `--currency`, by `currency` of its rule, or on the desk.',
        ['gold', 'gems'],
      ),
    ),
  balancePath: pattern('a path such as data.balance', BALANCE_PATH)
    .nullable()
    .default(null)
    .meta(said('The path of the balance in a member’s record. Null: the usual places.', 'data.balance')),
  recipientAs: choice(['number', 'string'])
    .default('number')
    .meta(said('The JSON type of a transfer’s recipient.', 'string')),
  certainty: choice(CERTAINTIES)
    .default('manual')
    .meta(
      said(
        'How almoner resolves an unknown outcome. `idempotent`: it sends the same key again, and the realm honours keys. `readback`: it reads the balance before and after, and nothing else changes these balances. `manual`: a person decides.',
        'idempotent',
      ),
    ),
  rate: parsed(RATE_EXPECTED, (text) => {
    const result = parseRate(text);
    return 'fault' in result ? result : { value: result.rate };
  })
    .default(DEFAULT_RATE)
    .meta(said('Requests that the realm allows: reads and writes, of all processes together.', '24/min')),
  rateReserve: wholeNumber(0, 1_000_000)
    .default(0)
    .meta(said('Requests of each window that almoner leaves to other users of the key.', 2)),
  timeouts: block({
    connectMs: timeoutMs(10_000, 'Time to connect.'),
    tlsMs: timeoutMs(10_000, 'Time for the TLS handshake.'),
    responseMs: timeoutMs(30_000, 'Time from the sent request to the first byte of the answer.'),
    totalMs: timeoutMs(MINUTE_MS, 'Time for the whole request.'),
  })
    .prefault({})
    .meta(said('Time-outs of a request. A request that times out after it was sent is unknown.')),
  attempts: block({
    max: wholeNumber(1, 100).default(5).meta(said('Attempts before an order is exhausted.', 3)),
    backoffMs: wholeNumber(1, DAY_MS)
      .default(DEFAULT_BACKOFF.backoffMs)
      .meta(said('The pause before the second attempt. Later pauses are longer.', 2_000)),
    backoffMaxMs: wholeNumber(1, DAY_MS)
      .default(DEFAULT_BACKOFF.backoffMaxMs)
      .meta(said('The longest pause.', 30_000)),
  })
    .prefault({})
    .meta(said('Retries of orders that were definitely not applied.')),
  statusOverrides: z
    .record(pattern('an HTTP status such as 409', STATUS), choice(OUTCOME_KINDS), {
      error: (issue) =>
        issue.code === 'invalid_type' ? 'expected a block of HTTP statuses and outcomes' : undefined,
    })
    .default({})
    .meta(
      said(
        `The meaning of an HTTP status at this realm, one of ${OUTCOME_KINDS.join(', ')}. Every report names it.`,
        { 409: 'refused' },
      ),
    ),
  maxTokensPerOrder: tokensCap(
    'The largest amount of one order. almoner refuses a file above it. Null: no cap.',
  ),
  maxTokensPerBatch: tokensCap(
    'The largest sum of one batch. almoner refuses a file above it. Null: no cap.',
  ),
  maxTokensPerDay: tokensCap('The largest sum of one UTC day. almoner halts a batch at it. Null: no cap.'),
  approval: block({
    overTokens: wholeNumber(0, Number.MAX_SAFE_INTEGER)
      .nullable()
      .default(null)
      .meta(said('Tokens that one person may pay within 24 hours without an approval. 0: none.', 50_000)),
    overRows: wholeNumber(0, Number.MAX_SAFE_INTEGER)
      .nullable()
      .default(null)
      .meta(said('Orders that one person may pay within 24 hours without an approval. 0: none.', 200)),
  })
    .optional()
    .meta(
      said(
        'A second person approves each payment above these limits, or every payment if neither is set. The profile of the process that prepares, sends or retries counts.',
      ),
    ),
  columns: z
    .partialRecord(choice(COLUMNS), printable('the name of a column', 200), {
      error: 'expected meanings with names of columns',
    })
    .default({})
    .meta(
      said('The column names of this realm’s files. `--map` overrides them.', {
        tokens: 'Punkte',
      }),
    ),
  timezone: z
    .string({ error: ZONE_EXPECTED })
    .refine(isZone, { error: ZONE_EXPECTED })
    .default('UTC')
    .meta(said('The time zone of quiet hours and of `--at`.', 'Europe/Berlin')),
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
      said('Hours without first sends. almoner still resolves orders that it sent before.', [
        '22:00-07:00',
        'fri 18:00-mon 08:00',
      ]),
    ),
  wallets: block({
    method: choice(['GET', 'POST']).default('GET').meta(said('The HTTP method of the wallet check.', 'POST')),
    chunk: wholeNumber(1, 10_000).default(100).meta(said('Wallets per request.', 50)),
  })
    .prefault({})
    .meta(said('The wallet check.')),
  settleMs: wholeNumber(1, 30 * DAY_MS)
    .default(SETTLE_MS)
    .meta(said('How long the realm may still apply a request that got no answer.', 600_000)),
  afterRollback: choice(AFTER_ROLLBACK)
    .default('wait')
    .meta(
      said(
        'First sends after a rollback of the store: `wait` for `almoner resume --after-rollback`, or `continue` by themselves.',
        'continue',
      ),
    ),
  keyLifetimeMs: wholeNumber(1, 365 * DAY_MS)
    .default(DAY_MS)
    .meta(said('How long the realm remembers an idempotency key (`idempotent`).', 3_600_000)),
  notifications: notifications
    .optional()
    .meta(said('The places for this realm’s notices, instead of the common `notifications`.')),
});

export type ParsedRealm = z.output<typeof realmSchema>;
