import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type Command, type CommandBase, defineCommand } from '../../src/cli/frame/command.js';
import {
  argument,
  argumentList,
  choice,
  flag,
  optionalArgument,
  text,
  texts,
  wholeNumber,
} from '../../src/cli/frame/options.js';
import { createOutput } from '../../src/cli/frame/output.js';
import { parseCommandLine } from '../../src/cli/frame/program.js';
import { AlmonerError } from '../../src/core/errors/error.js';

function printing(json: boolean) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const output = createOutput({ json, env: {}, stdout, stderr });
  return { output, printed: () => String(stdout.read() ?? ''), noted: () => String(stderr.read() ?? '') };
}

/** Runs a command as the frame does, up to what its `run` received. */
async function typed(command: Command, argv: readonly string[]): Promise<void> {
  const parsed = parseCommandLine(argv, command);
  if (parsed.kind !== 'run') throw new Error('expected a command to run');
  const base: CommandBase = {
    global: parsed.global,
    env: {},
    cwd: '.',
    stdin: new PassThrough(),
    stderr: new PassThrough(),
    output: printing(false).output,
    config: () => Promise.reject(new Error('not asked for')),
    profile: () => Promise.reject(new Error('not asked for')),
    logger: () => Promise.reject(new Error('not asked for')),
  };
  await command.start(base, parsed.given);
}

describe('a command receives what was typed, as values of the right type', () => {
  let seen: unknown;
  const plan = defineCommand({
    name: 'plan',
    description: 'x',
    arguments: { file: argument('the file') },
    options: {
      skipInvalid: flag('take the good rows'),
      first: wholeNumber('N', 'pay N orders', { min: 1, max: 100 }),
      map: texts('COLUMN', 'names a column'),
      out: text('DIR', 'folder'),
      role: choice(['viewer', 'operator'], 'role'),
    },
    async run({ args, options, global }) {
      const first: number | undefined = options.first;
      seen = { file: args.file, ...options, first, realm: global.realm };
      return 0;
    },
  });

  test('nothing but the argument', async () => {
    await typed(plan, ['plan', 'a.csv']);
    expect(seen).toEqual({ file: 'a.csv', skipInvalid: false, map: [] });
  });

  test('everything, in any order', async () => {
    const args = ['--first=7', 'plan', '--map', 'a=b', '-', '--map', 'c=d', '--skip-invalid', '--realm', 'r'];
    await typed(plan, [...args.slice(1), '--first=7', '--out', 'o', '--role', 'viewer']);
    expect(seen).toEqual({
      file: '-',
      skipInvalid: true,
      first: 7,
      map: ['a=b', 'c=d'],
      out: 'o',
      role: 'viewer',
      realm: 'r',
    });
  });

  test('a name that begins with a dash stands after --', async () => {
    await typed(plan, ['plan', '--', '--json']);
    expect(seen).toMatchObject({ file: '--json' });
  });

  test.each([
    [['plan'], "missing required argument 'FILE'"],
    [['plan', 'f', '--first', '0'], '--first: expected a whole number from 1 to 100, got "0"'],
    [['plan', 'f', '--first', '1e2'], '--first: expected a whole number from 1 to 100, got "1e2"'],
    [['plan', 'f', '--role', 'boss'], '--role: expected one of viewer, operator, got "boss"'],
    [['plan', 'f', '--out', 'a', '--out', 'b'], '--out was given 2 times'],
    [['plan', 'f', '--skip-invalidd'], 'Did you mean --skip-invalid?'],
    [['plan', 'f', 'g'], 'too many arguments'],
  ])('%j is refused', async (argv, message) => {
    await expect((async () => typed(plan, argv))()).rejects.toMatchObject({
      code: 'ALM_CLI_USAGE',
      message: expect.stringContaining(message),
    });
  });

  test('nested names, lists and optional arguments', async () => {
    const retry = defineCommand({
      name: 'dead retry',
      description: 'x',
      arguments: { order: argumentList('orders') },
      options: {},
      async run({ args }) {
        seen = args.order;
        return 0;
      },
    });
    await typed(retry, ['dead', 'retry', 'a-1', 'a-2']);
    expect(seen).toEqual(['a-1', 'a-2']);
    await typed(retry, ['dead', 'retry']);
    expect(seen).toEqual([]);
    const status = defineCommand({
      name: 'status',
      description: 'x',
      arguments: { batch: optionalArgument('a batch') },
      options: {},
      async run({ args }) {
        seen = args.batch;
        return 0;
      },
    });
    await typed(status, ['status']);
    expect(seen).toBeUndefined();
  });
});

describe('output', () => {
  test('people get text and the next step', () => {
    const { output, printed } = printing(false);
    output.print({ json: {}, text: ['one', 'two'], next: 'do it.' });
    expect(printed()).toBe('one\ntwo\nNext: do it.\n');
  });

  test('programs get one document, sums as strings of digits, and nothing else', () => {
    const { output, printed, noted } = printing(true);
    output.line('for people');
    output.note('progress');
    output.print({ json: { sum: 2n ** 70n, nested: [1n] }, text: 'x', next: 'y' });
    expect(printed()).toBe('{"sum":"1180591620717411303424","nested":["1"]}\n');
    expect(noted()).toBe('progress\n');
    expect(() => output.print({ json: {}, text: '' })).toThrow(/one JSON document/);
  });

  const error = new AlmonerError('ALM_CONFIG_INVALID', 'Two faults.', {
    details: ['a: x', 'b: y'],
    next: 'Mend.',
  });

  test('an error has one stable form for people', () => {
    const { output, printed, noted } = printing(false);
    output.error(error);
    expect(printed()).toBe('');
    expect(noted()).toBe('error: ALM_CONFIG_INVALID: Two faults.\n  - a: x\n  - b: y\nNext: Mend.\n');
  });

  test('and one for programs; after a document it goes to stderr', () => {
    const fresh = printing(true);
    fresh.output.error(error);
    expect(JSON.parse(fresh.printed())).toEqual({
      error: { code: 'ALM_CONFIG_INVALID', message: 'Two faults.', details: ['a: x', 'b: y'], next: 'Mend.' },
    });
    const late = printing(true);
    late.output.print({ json: {}, text: '' });
    late.output.error(error);
    expect(late.printed()).toBe('{}\n');
    expect(late.noted()).toContain('error: ALM_CONFIG_INVALID');
  });
});
