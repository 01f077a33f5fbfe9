import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCommand, moduleNameOf, TABLE } from '../../src/cli/frame/table.js';
import { almoner, MAIN, spawned } from '../support/program/almoner.js';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'almoner-frame-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function oneDocument(stdout: string): unknown {
  expect(stdout.endsWith('\n')).toBe(true);
  expect(stdout.trimEnd()).not.toContain('\n');
  return JSON.parse(stdout);
}

describe('the first minute', () => {
  test('no arguments: a friendly overview, exit 0', async () => {
    const { status, stdout, stderr } = await almoner([], { cwd });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const entry of TABLE) expect(stdout).toContain(`  ${entry.name} `);
    expect(stdout).toContain('First steps');
    expect(stdout).not.toContain('\u001b');
  });

  test('--help is the same; --version is one line', async () => {
    expect((await almoner(['--help'], { cwd })).stdout).toBe((await almoner([], { cwd })).stdout);
    const { status, stdout } = await almoner(['--version'], { cwd });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(oneDocument((await almoner(['--version', '--json'], { cwd })).stdout)).toHaveProperty('version');
  });

  test('help of a command, typed either way, with the options every command has', async () => {
    const { status, stdout } = await almoner(['doctor', '--help'], { cwd });
    expect(status).toBe(0);
    for (const part of [
      'Usage: almoner doctor',
      '--json',
      '--config <FILE>',
      '--realm <NAME>',
      '--log-level <LEVEL>',
    ])
      expect(stdout).toContain(part);
    expect((await almoner(['help', 'doctor'], { cwd })).stdout).toBe(stdout);
    const json = await almoner(['doctor', '--help', '--json'], { cwd });
    expect(oneDocument(json.stdout)).toHaveProperty('help', expect.stringContaining('almoner doctor'));
  });

  test('help of a group lists its commands', async () => {
    const { status, stdout } = await almoner(['desk', 'token', '--help'], { cwd });
    expect(status).toBe(0);
    expect(stdout).toMatch(/desk token add[\s\S]*desk token list[\s\S]*desk token revoke/);
  });
});

describe('what cannot be understood exits with 2 and says what was probably meant', () => {
  test.each([
    [['doctr'], "unknown command 'doctr' (Did you mean doctor?)"],
    [['xyzzy'], "unknown command 'xyzzy'"],
    [['dead', 'lst'], "unknown command 'lst' (Did you mean list?)"],
    [['doctor', '--jsno'], "unknown option '--jsno' (Did you mean --json?)"],
    [['--relm', 'x', 'doctor'], "unknown option '--relm' (Did you mean --realm?)"],
    [['doctor', 'too', 'many'], 'too many arguments'],
    [['doctor', '--config'], "option '--config <FILE>' argument missing"],
    [['dead'], '`almoner dead` needs to know what to do'],
    [['desk', 'token'], '`almoner desk token` needs to know what to do'],
  ])('%j', async (args, message) => {
    const plain = await almoner(args, { cwd });
    expect(plain.status).toBe(2);
    expect(plain.stdout).toBe('');
    expect(plain.stderr).toMatch(/^error: ALM_CLI_USAGE: .*Nothing was done\.\nNext: .+\n$/);
    expect(plain.stderr).toContain(message);

    const json = await almoner([...args.slice(0, 1), '--json', ...args.slice(1)], { cwd });
    expect(json.status).toBe(2);
    expect(oneDocument(json.stdout)).toEqual({
      error: {
        code: 'ALM_CLI_USAGE',
        message: expect.stringContaining(message),
        details: [],
        next: expect.any(String),
      },
    });
  });

  test('a broken configuration lists every fault', async () => {
    const env = { ALMONER_LOG_LEVEL: 'loud', ALMONER_DATTA: 'x', ALMONER_REALM_ID: 'r' };
    const { status, stdout } = await almoner(['doctor', '--json'], { cwd, env });
    expect(status).toBe(2);
    const text = JSON.stringify(oneDocument(stdout));
    for (const name of ['ALMONER_LOG_LEVEL', 'ALMONER_DATTA', 'ALMONER_REALM_URL', 'ALMONER_API_KEY'])
      expect(text).toContain(`${name}:`);
  });
});

test('global options may stand before or after the command', async () => {
  writeFileSync(join(cwd, 'other.yaml'), 'operator: somebody\n');
  for (const args of [
    ['--config', 'other.yaml', '--json', 'doctor'],
    ['doctor', '--json', '--config=other.yaml'],
  ]) {
    const { stdout } = await almoner(args, { cwd });
    expect(stdout).toContain('"somebody"');
  }
});

test('a reader that goes away does not change the exit status', async () => {
  const child = spawn(process.execPath, [MAIN, 'doctor'], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  const [status] = await once(child, 'close');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe('a bug is called a bug: ALM_CLI_INTERNAL, exit 1', () => {
  const boom = 'setImmediate(() => { BOOM })';
  const hook = (what: string) =>
    `data:text/javascript,process.on('newListener', (n) => { if (n === 'uncaughtException') ${boom.replace('BOOM', what)} })`;

  test.each([
    ['a rejection nobody waits for', "Promise.reject(new Error('boom'))"],
    ['an error in a callback', "throw new Error('boom')"],
    ['something thrown that is no error', "throw 'boom'"],
  ])('%s', async (_, what) => {
    const env = { NODE_OPTIONS: `--import "${hook(what)}"` };
    const plain = await spawned(['doctor'], { cwd, env });
    expect(plain.status).toBe(1);
    expect(plain.stderr).toMatch(/^error: ALM_CLI_INTERNAL: .*boom\nNext: .+\n$/);
  });

  test('for a program too', async () => {
    const env = { NODE_OPTIONS: `--import "${hook("throw new Error('boom')")}"` };
    const json = await spawned(['doctor', '--json'], { cwd, env });
    expect(json.status).toBe(1);
    expect(oneDocument(json.stdout)).toHaveProperty('error.code', 'ALM_CLI_INTERNAL');
  });
});

test('every command of the table is in its module, and every command of a module in the table', async () => {
  const files = readdirSync('src/cli/commands').filter((name) => name.endsWith('.ts'));
  const commands = await Promise.all(
    files.map(async (file) => {
      const loaded: object = await import(resolve('src/cli/commands', file));
      const held = Object.values(loaded).filter(isCommand);
      return held.map(({ name }) => `${name}: ${file}`);
    }),
  );
  expect(commands.flat().sort()).toEqual(TABLE.map(({ name }) => `${name}: ${moduleNameOf(name)}.ts`).sort());
  expect(existsSync(MAIN)).toBe(true);
});
