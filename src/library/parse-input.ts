import { resolve } from 'node:path';
import { z } from 'zod';
import { AlmonerError, messageOf } from '../core/errors/error.js';
import { FIND_BY, FIND_TEXT_MAX } from '../core/find-meanings.js';
import {
  type BatchId,
  isBatchId,
  isRecordedMemberId,
  MEMBER_ID_EXPECTED,
  type MemberId,
} from '../core/ids.js';
import { oneLine } from '../core/one-line.js';
import { BATCH_STATES } from '../core/states.js';
import { show } from '../core/visible.js';
import { kindOf, takeRows } from '../csv/take-rows.js';
import type { PlanRequest } from '../operations/pay/plan-file.js';
import { LOG_LEVELS } from '../runtime/config/settings.js';
import type { Almoner, Because } from './almoner.js';
import type {
  CheckOptions,
  EnqueueOptions,
  Input,
  OpenOptions,
  PayOptions,
  PlanOptions,
} from './input-types.js';

/**
 * What a program gave, read once and within the call. Types say most of it already; a program without types is told by
 * name what it got wrong, before anything is done: what the books took in once they must be able to read for good.
 */
function misuse(message: string): AlmonerError {
  return new AlmonerError('ALM_LIBRARY_USAGE', `${message}. Nothing was done.`);
}

const text = z.string('expected text').optional();
const flag = z.boolean('expected true or false').optional();
const textOf = (expected: string, fits: (text: string) => boolean) =>
  z.custom<string>((value) => typeof value === 'string' && fits(value), `expected ${expected}`);
const whole = (least: number) =>
  z.custom<number>(
    (value) => Number.isSafeInteger(value) && Number(value) >= least,
    `expected a whole number of at least ${least}`,
  );
const call = <F>() => z.custom<F>((value) => typeof value === 'function', 'expected a function').optional();

const object = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape, 'expected an object');

/** Every option has its reader, and none has one that the types do not know. */
type Readers<T> = { readonly [K in keyof T]-?: z.ZodType<T[K]> };

const LABEL_MAX = 100;
const PLAN = {
  currency: text,
  again: textOf(
    `a label of 1 to ${LABEL_MAX} characters on one line`,
    (label) => label !== '' && label.length <= LABEL_MAX && oneLine(label) === label,
  ).optional(),
  newRowsOnly: flag,
  skipInvalid: flag,
  newAddress: flag,
  newLedger: flag,
  expectRows: whole(0).optional(),
  expectTokens: z
    .custom<NonNullable<PlanOptions['expectTokens']>>(
      isExpected,
      'expected a sum in whole tokens, or { given, taken, moved } with such sums',
    )
    .optional(),
} satisfies Readers<PlanOptions>;

const ENQUEUE = {
  ...PLAN,
  batchId: z
    .custom<BatchId>(
      (id) => typeof id === 'string' && isBatchId(id),
      'expected 3 to 64 lower-case letters, digits, dots, dashes or underscores',
    )
    .optional(),
  inOrder: flag,
} satisfies Readers<EnqueueOptions>;

const PAY = {
  ...ENQUEUE,
  onProgress: call<NonNullable<PayOptions['onProgress']>>(),
  signal: z.custom<AbortSignal>(isSignal, 'expected an AbortSignal').optional(),
  first: whole(1).optional(),
  report: flag,
} satisfies Readers<PayOptions>;

const REASON = textOf('a sentence; it is kept with the orders', (reason) => reason.trim() !== '');

/** The options of each call. */
export const OPTIONS = {
  open: object({
    config: text,
    env: z.custom<NonNullable<OpenOptions['env']>>(isEnvironment, 'expected an object of texts').optional(),
    cwd: text,
    realm: text,
    operator: text,
    patienceMs: z
      .number('expected milliseconds')
      .positive('expected milliseconds, more than none')
      .optional(),
    logLevel: z.enum(LOG_LEVELS, 'expected a level').optional(),
    log: call<NonNullable<OpenOptions['log']>>(),
  } satisfies Readers<OpenOptions>),
  plan: object({ ...PLAN, check: flag } satisfies Readers<CheckOptions>),
  enqueue: object(ENQUEUE),
  pay: object(PAY),
  report: object({ out: text, public: flag }),
  steer: object({ reason: text } satisfies Readers<Because>),
  resume: object({ reason: text, now: flag } satisfies Readers<
    NonNullable<Parameters<Almoner['resume']>[1]>
  >),
  letters: object({ batch: text }),
  find: object({
    text: textOf(
      `a text of 1 to ${FIND_TEXT_MAX} characters`,
      (given) => given.trim() !== '' && given.length <= FIND_TEXT_MAX,
    ),
    by: z.enum(FIND_BY, `expected one of ${FIND_BY.join(', ')}`).optional(),
  }),
  batches: object({
    state: z.enum(BATCH_STATES, `expected one of ${BATCH_STATES.join(', ')}`).optional(),
    since: z.date('expected a Date').optional(),
  }),
  history: object({ since: z.date('expected a Date').optional() }),
  verdict: object({
    paid: z.boolean('expected true or false'),
    reason: REASON,
    evenIfItMayArrive: flag,
  } satisfies Readers<Parameters<Almoner['resolveDoubts']>[1]>),
};

export function readOptions<T>(schema: z.ZodType<T>, given: unknown): T {
  return read('options', schema, given);
}

const NAME_MAX = 200;
const INPUT = z.strictObject(
  {
    file: text,
    map: z.record(z.string(), z.string('expected the name of a column'), 'expected an object').optional(),
    forgetMap: flag,
    headerLine: z.int('expected the number of a line').min(1, 'expected the number of a line').optional(),
    members: text,
    rows: z.custom<readonly unknown[]>(Array.isArray, 'expected a list of rows').optional(),
    name: textOf(`text of at most ${NAME_MAX} characters`, (name) => name.length <= NAME_MAX).optional(),
  },
  'expected { file } with a path, or { rows } with a list of rows',
);

export function readInput(
  input: Input,
  options: PlanOptions & { readonly batchId?: BatchId | undefined },
  cwd: string,
): PlanRequest {
  const { again = null, newRowsOnly = false, expectRows = null, batchId = null } = options;
  if (again !== null && newRowsOnly)
    throw misuse(
      'again pays rows once more that were paid before, newRowsOnly leaves them out: give one of them',
    );
  return {
    ...sourceOf(input, cwd),
    currency: options.currency ?? null,
    again,
    batchId,
    newRowsOnly,
    expectRows,
    newAddress: options.newAddress ?? false,
    newLedger: options.newLedger ?? false,
    skipInvalid: options.skipInvalid ?? false,
    expectTokens: expectedOf(options.expectTokens),
  };
}

function sourceOf(input: unknown, cwd: string) {
  const {
    file,
    map = {},
    forgetMap,
    headerLine = null,
    members,
    rows,
    name = '',
  } = read('input', INPUT, input);
  if (rows !== undefined && file === undefined)
    return { rows: whatever('rows', () => takeRows(rows)), name: oneLine(name) || 'rows' };
  if (file === undefined || rows !== undefined)
    throw misuse('expected { file } with a path, or { rows } with a list of rows');
  const columns = Object.entries(map).map(([meaning, column]) => `${meaning}=${column}`);
  const table = members === undefined ? null : { file: resolve(cwd, members) };
  return {
    file: resolve(cwd, file),
    map: columns,
    forgetColumns: forgetMap ?? false,
    headerLine,
    members: table,
  };
}

export function readMember(given: unknown): MemberId {
  if (typeof given === 'string' && isRecordedMemberId(given)) return given;
  throw misuse(`expected a member id of ${MEMBER_ID_EXPECTED} as a string, got ${shown(given)}`);
}

export function readBatch(given: unknown): string {
  if (typeof given === 'string') return given;
  throw misuse(`expected the id of a batch, got ${shown(given)}`);
}

const ORDERS = z.array(z.string('expected the id of an order'), 'expected a list of order ids');
export function readOrders(given: unknown): string[] {
  return read('orders', ORDERS, given);
}

function read<T>(what: string, schema: z.ZodType<T>, given: unknown): T {
  const { data, error } = whatever(what, () => schema.safeParse(given, { reportInput: true }));
  const issue = error?.issues[0];
  if (issue === undefined) return data as T;
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  if (issue.code === 'unrecognized_keys')
    throw misuse(`${what}: there is no ${show(issue.keys[0] ?? '')}; there are ${known.join(', ')}`);
  const place = known.length === 0 ? [what, ...issue.path] : issue.path;
  throw misuse(`${place.join('.') || what}: ${issue.message}, got ${shown(issue.input)}`);
}

/** Accessors and proxies are a program's own code, and may throw. */
function whatever<T>(what: string, reading: () => T): T {
  try {
    return reading();
  } catch (error) {
    throw misuse(`${what}: reading it has failed: ${messageOf(error)}`);
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return show(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return whatever('what was given', () => kindOf(value));
}

function isSum(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return typeof value === 'bigint' ? value >= 0n : typeof value === 'string' && /^[0-9]+$/.test(value);
}

const DIRECTIONS = ['given', 'taken', 'moved'] as const;

function isExpected(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isSum(value);
  const sums = Object.entries(value);
  return (
    sums.length > 0 &&
    sums.every(([key, sum]) => DIRECTIONS.some((one) => one === key) && (sum === undefined || isSum(sum)))
  );
}

function expectedOf(given: PlanOptions['expectTokens']): PlanRequest['expectTokens'] {
  if (given === undefined) return null;
  if (typeof given !== 'object') return String(given);
  return Object.fromEntries(DIRECTIONS.map((one) => [one, String(given[one] ?? 0)]));
}

function isSignal(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && 'aborted' in value && typeof value.aborted === 'boolean'
  );
}

function isEnvironment(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((setting) => setting === undefined || typeof setting === 'string')
  );
}
