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
import type { ExpectedTokens, Input, Sum } from './input-types.js';
import type { BatchProgress } from './output-types.js';

/**
 * Reads a program's arguments once, at the beginning of a call. Types state most rules already. A program without
 * types gets an error that names the wrong argument before anything is done, because the ledger keeps every value
 * that it accepted.
 */
function misuse(message: string): AlmonerError {
  return new AlmonerError('ALM_LIBRARY_USAGE', `${message}. Nothing was done.`);
}

/** A value of a custom type, with the TypeScript type that programs see. */
function custom<T>(typescript: string, fits: (value: unknown) => boolean, expected: string) {
  return z.custom<T>(fits, expected).meta({ typescript });
}

const text = z.string('expected text').optional();
const flag = z.boolean('expected true or false').optional();
const textOf = (expected: string, fits: (text: string) => boolean) =>
  custom<string>('string', (value) => typeof value === 'string' && fits(value), `expected ${expected}`);
const whole = (least: number) =>
  custom<number>(
    'number',
    (value) => Number.isSafeInteger(value) && Number(value) >= least,
    `expected a whole number of at least ${least}`,
  );
const call = <F>(typescript: string) =>
  custom<F>(typescript, (value) => typeof value === 'function', 'expected a function').optional();
const date = z.date('expected a Date').meta({ typescript: 'Date' }).optional();

const object = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape, 'expected an object');

const LABEL_MAX = 100;
const REASON = textOf('a sentence; it is kept with the orders', (reason) => reason.trim() !== '');

/**
 * The options of each call, as they are read and as programs see them: `node scripts/write-library-types.mjs` writes
 * option-types.ts from these schemas.
 */
export const OpenOptions = object({
  config: text.describe(
    'A configuration file; without one, `almoner.config.yaml` in `cwd`, where it exists.',
  ),
  env: custom<Readonly<Record<string, string | undefined>>>(
    'Readonly<Record<string, string | undefined>>',
    isEnvironment,
    'expected an object of texts',
  )
    .optional()
    .describe('The environment in which settings and keys are looked up; `process.env` unless given.'),
  cwd: text.describe('The folder that relative paths start from; the process’s own unless given.'),
  realm: text.describe('The realm by its name or id, where more than one is configured.'),
  operator: text.describe('Who acts, in the audit; ALMONER_OPERATOR or the system’s user unless given.'),
  patienceMs: z
    .number('expected milliseconds')
    .positive('expected milliseconds, more than none')
    .optional()
    .describe(
      'How long a call waits for a store that does not answer: 30000 ms unless given. A payment that has begun waits longer.',
    ),
  logLevel: z
    .enum(LOG_LEVELS, 'expected a level')
    .optional()
    .describe('Nothing is logged unless a level is given here; then JSON lines go to `log`, or to stderr.'),
  log: call<(line: string) => void>('(line: string) => void').describe(
    'Gets each line of the log, freed of secrets.',
  ),
}).describe('Where configuration comes from, and who acts.');

export const PlanOptions = object({
  currency: text.describe('Pays in this currency, one of the `currencies` in the realm’s profile.'),
  again: textOf(
    `a label of 1 to ${LABEL_MAX} characters on one line`,
    (label) => label !== '' && label.length <= LABEL_MAX && oneLine(label) === label,
  )
    .optional()
    .describe('Pays the same orders once more, on purpose; the label tells them apart.'),
  newRowsOnly: flag.describe('Leaves out rows that were paid before, and pays the others.'),
  skipInvalid: flag.describe('Takes the good rows and carries the bad ones along as `invalid`.'),
  newAddress: flag.describe('Goes on where the same realm id was paid under another address.'),
  newLedger: flag.describe('Goes on where this machine has paid the realm from another ledger.'),
  expectRows: whole(0).optional().describe('Any other number of rows is a fault.'),
  expectTokens: custom<Sum | ExpectedTokens>(
    'Sum | ExpectedTokens',
    isExpected,
    'expected a sum in whole tokens, or { given, taken, moved } with such sums',
  )
    .optional()
    .describe(
      'Any other sum is a fault. One number does where the rows have one direction; else each by itself.',
    ),
}).describe('Each means what the command line’s option of the same name does.');

export const CheckOptions = PlanOptions.extend({
  check: flag.describe(
    'Also reads every member at the realm’s pace: who is not found, whose balance is too small.',
  ),
});

export const EnqueueOptions = PlanOptions.extend({
  batchId: custom<BatchId>(
    'string',
    (id) => typeof id === 'string' && isBatchId(id),
    'expected 3 to 64 lower-case letters, digits, dots, dashes or underscores',
  )
    .optional()
    .describe('A name for the batch: 3 to 64 lower-case letters, digits, dots, dashes, underscores.'),
  inOrder: flag.describe('Sends strictly one after the other, in the order of the rows.'),
});

export const PayOptions = EnqueueOptions.extend({
  onProgress: call<(progress: BatchProgress) => unknown>('(progress: BatchProgress) => unknown').describe(
    'Called some times a second while the batch is worked. Where it fails, the batch is paused and `pay` throws.',
  ),
  signal: custom<AbortSignal>('AbortSignal', isSignal, 'expected an AbortSignal')
    .optional()
    .describe(
      'Aborted, it lets what is being sent finish and pauses the batch; `pay` then gives the paused status.',
    ),
  first: whole(1).optional().describe('Pays this many orders, then pauses.'),
  report: flag.describe(
    'Writes the report files at the end, into the configured folder; writes none unless it is true.',
  ),
});

export const ReportOptions = object({
  out: text.describe('The folder for reports; the batch gets a folder of its own in it.'),
  public: flag.describe('Only what may be shown to the community.'),
});
export const Because = object({ reason: text.describe('Kept in the audit.') }).describe(
  'Why a person or a program steers a batch.',
);
export const ResumeOptions = Because.extend({
  now: flag.describe('Begins before the set time, or after it was missed.'),
});
export const LettersOptions = object({ batch: text.describe('Only of this batch.') });
export const FindOptions = object({
  by: z
    .enum(FIND_BY, `expected one of ${FIND_BY.join(', ')}`)
    .meta({ typescript: 'FoundBy' })
    .optional()
    .describe('Only this meaning of the text.'),
});
export const BatchesOptions = object({
  state: z
    .enum(BATCH_STATES, `expected one of ${BATCH_STATES.join(', ')}`)
    .meta({ typescript: 'BatchState' })
    .optional()
    .describe('Only batches in this state.'),
  since: date.describe('Only batches made since then.'),
});
export const HistoryOptions = object({ since: date.describe('Only orders since then.') });
export const Verdict = object({
  paid: z.boolean('expected true or false'),
  reason: REASON,
  evenIfItMayArrive: flag.describe('Decides also where the request may still be applied.'),
}).describe('A person’s word on doubts.');

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

/** Turns an input and its options into a request to plan. */
export function readInput(
  input: Input,
  options: z.infer<typeof PlanOptions> & { readonly batchId?: BatchId | undefined },
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

/** Reads the file or the rows of an input. Exactly one of them has to be given. */
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
    return { rows: guarded('rows', () => takeRows(rows)), name: oneLine(name) || 'rows' };
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

const FIND_TEXT = textOf(
  `a text of 1 to ${FIND_TEXT_MAX} characters`,
  (given) => given.trim() !== '' && given.length <= FIND_TEXT_MAX,
);
export function readText(given: unknown): string {
  return read('text', FIND_TEXT, given);
}

const ORDERS = z.array(z.string('expected the id of an order'), 'expected a list of order ids');
export function readOrders(given: unknown): string[] {
  return read('orders', ORDERS, given);
}

/** Reads a value by its schema. An error names the place, the expectation and the value. */
function read<T>(what: string, schema: z.ZodType<T>, given: unknown): T {
  const { data, error } = guarded(what, () => schema.safeParse(given, { reportInput: true }));
  const issue = error?.issues[0];
  if (issue === undefined) return data as T;
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  if (issue.code === 'unrecognized_keys')
    throw misuse(`${what}: there is no ${show(issue.keys[0] ?? '')}; there are ${known.join(', ')}`);
  const place = known.length === 0 ? [what, ...issue.path] : issue.path;
  throw misuse(`${place.join('.') || what}: ${issue.message}, got ${shown(issue.input)}`);
}

/** Accessors and proxies run a program's own code, which may throw. */
function guarded<T>(what: string, reading: () => T): T {
  try {
    return reading();
  } catch (error) {
    throw misuse(`${what}: reading it has failed: ${messageOf(error)}`);
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return show(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return guarded('what was given', () => kindOf(value));
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

function expectedOf(given: Sum | ExpectedTokens | undefined): PlanRequest['expectTokens'] {
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
