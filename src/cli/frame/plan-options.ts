import { isBatchId } from '../../core/ids.js';
import { parseExpectedTokens } from '../../core/op-sums.js';
import { shellWord } from '../../core/shell-word.js';
import type { PlanRequest } from '../../operations/pay/plan-file.js';
import type { CommandBase, Given } from './command.js';
import { flag, NEW_ADDRESS, NEW_LEDGER, text, texts, usage, wholeNumber, YES } from './options.js';

/** The options of every command that takes a FILE. */
export const PLAN_OPTIONS = {
  map: texts(
    'COLUMN=NAME',
    'names a column of the file, e.g. tokens=Punkte; kept under its header for this realm',
  ),
  forgetMap: flag('take no names that were kept under this header, and forget them'),
  headerLine: wholeNumber('N', 'the header stands on line N; what is above it is left out', { min: 1 }),
  members: text('FILE', 'a table of wallets or handles with their members: the file pays by those'),
  currency: text('C', 'pay in this currency, one of the `currencies` in the realm’s profile'),
  again: text('LABEL', 'pay the same orders once more on purpose; the label tells them apart'),
  ...NEW_ADDRESS,
  ...NEW_LEDGER,
  newRowsOnly: flag('leave out the rows that were paid before, and pay the others'),
  skipInvalid: flag('take the good rows and carry the bad ones along as invalid'),
  expectRows: wholeNumber('N', 'refuse any file that has not exactly N rows', { min: 0 }),
  expectTokens: text(
    'N',
    'refuse any file whose amounts do not add up to N; with several directions given=N,taken=N,moved=N',
  ),
} as const;

/** When the batch begins, and when it should be over. */
export const TIME_OPTIONS = {
  at: text('TIME', 'begin then: 18:00, 2026-11-20 18:00 in the realm’s zone, or with an offset'),
  finishBy: text('TIME', 'warn where the pace does not reach the end by then'),
} as const;

/** The options of commands that send or enqueue. */
export const SEND_OPTIONS = {
  ...PLAN_OPTIONS,
  ...YES,
  batchId: text('ID', 'a name for the batch: lower-case letters, digits, . _ -'),
  inOrder: flag('send strictly one after the other, in file order'),
} as const;

type GivenOptions = Given<typeof PLAN_OPTIONS> & Partial<Given<typeof TIME_OPTIONS & typeof YES>>;

/**
 * The file with its options, as a command line to type again. Without them it could be another batch, or be refused.
 */
export function retyped(file: string, options: GivenOptions): string {
  const words = [
    file,
    ...options.map.flatMap((pair) => ['--map', pair]),
    ...(options.headerLine === undefined ? [] : ['--header-line', String(options.headerLine)]),
    ...(options.members === undefined ? [] : ['--members', options.members]),
    ...(options.currency === undefined ? [] : ['--currency', options.currency]),
    ...(options.again === undefined ? [] : ['--again', options.again]),
    ...(options.newAddress ? ['--new-address'] : []),
    ...(options.newLedger ? ['--new-ledger'] : []),
    ...(options.newRowsOnly ? ['--new-rows-only'] : []),
    ...(options.skipInvalid ? ['--skip-invalid'] : []),
    ...(options.at === undefined ? [] : ['--at', options.at]),
  ];
  return words.map(shellWord).join(' ');
}

/** Turns the options of a file command into a request to plan. It refuses contradicting options. */
export function planRequest(
  { args, stdin }: Pick<CommandBase, 'stdin'> & { readonly args: { readonly FILE: string } },
  options: GivenOptions,
): PlanRequest {
  const expectTokens = options.expectTokens === undefined ? null : parseExpectedTokens(options.expectTokens);
  if (expectTokens === undefined)
    throw usage(
      `--expect-tokens: expected digits, or given=N,taken=N,moved=N, got ${JSON.stringify(options.expectTokens)}`,
    );
  if (args.FILE === '-' && options.members === '-')
    throw usage('--members: standard input is the file that is paid; give the table as a file');
  if (options.again !== undefined && options.newRowsOnly)
    throw usage(
      '--again pays rows once more that were paid before, --new-rows-only leaves them out: give one of them',
    );
  return {
    file: args.FILE,
    stdin,
    map: options.map,
    forgetColumns: options.forgetMap,
    headerLine: options.headerLine ?? null,
    members: options.members === undefined ? null : { file: options.members },
    currency: options.currency ?? null,
    again: options.again ?? null,
    newAddress: options.newAddress,
    newLedger: options.newLedger,
    newRowsOnly: options.newRowsOnly,
    skipInvalid: options.skipInvalid,
    expectRows: options.expectRows ?? null,
    expectTokens,
    unattended: options.yes ?? false,
    at: options.at ?? null,
    finishBy: options.finishBy ?? null,
  };
}

/** Reads `--batch-id`; null where it was not given. */
export function readBatchId(given: string | undefined) {
  if (given === undefined) return null;
  if (!isBatchId(given))
    throw usage(
      `--batch-id: expected 3 to 64 lower-case letters, digits, dots, dashes or underscores, got ${JSON.stringify(given)}`,
    );
  return given;
}
