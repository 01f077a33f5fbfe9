import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/**
 * Errors that a person meets, provoked and read: each says what happened in words of this very case, what was
 * and was not done, and what to do next.
 */
let world: Program;
beforeAll(async () => {
  world = await Program.start({ members: [{ member: '1', tokens: 0 }] });
  await world.file('good.csv', 'member,tokens\n1,5\n');
  await world.file('empty.csv', '');
  writeFileSync(join(world.folder, 'utf16.csv'), Buffer.from('\ufeffmember,tokens\n1,5\n', 'utf16le'));
  mkdirSync(join(world.folder, 'folder'));
  for (const id of ['same-1', 'same-2'])
    await world.run('import', 'good.csv', '--yes', '--batch-id', id, '--again', id);
});
afterAll(() => world.end());

type Case = readonly [string, readonly string[], number, RegExp, RegExp];

const CASES: readonly Case[] = [
  [
    'a file that is not there',
    ['run', 'nope.csv'],
    3,
    /There is no file nope\.csv\. Nothing was done/,
    /name/,
  ],
  [
    'a folder for a file',
    ['plan', 'folder'],
    3,
    /folder is a folder, expected a CSV.*Nothing was done/,
    /file/,
  ],
  ['an empty file', ['plan', 'empty.csv'], 3, /is empty[\s\S]*Nothing was enqueued/, /Next: export it again/],
  [
    'a file in another encoding',
    ['run', 'utf16.csv'],
    3,
    /UTF-16[\s\S]*Nothing was enqueued/,
    /Next: export it as "CSV UTF-8/,
  ],
  [
    'other rows than expected',
    ['run', 'good.csv', '--yes', '--expect-rows', '3', '--again', 'x'],
    3,
    /has 1 rows?, --expect-rows says 3[\s\S]*Nothing was enqueued/,
    /Next: /,
  ],
  [
    'a column that is not there',
    ['plan', 'good.csv', '--map', 'tokens=Punkte'],
    3,
    /no column "Punkte"; it has "member"/,
    /Next: write --map/,
  ],
  [
    'no terminal to ask on',
    ['run', 'good.csv', '--again', 'x'],
    2,
    /Nothing was enqueued and nothing was sent/,
    /--yes/,
  ],
  [
    'an option that is none',
    ['plan', 'good.csv', '--chek'],
    2,
    /Did you mean --check\?.*Nothing was done/,
    /plan --help/,
  ],
  [
    'a value that is none',
    ['run', 'good.csv', '--first', '0'],
    2,
    /at least 1, got "0"\. Nothing was done/,
    /--help/,
  ],
  ['a command that is none', ['plna'], 2, /Did you mean plan\?.*Nothing was done/, /list/],
  [
    'a batch that is none',
    ['status', 'nope'],
    2,
    /No batch is called "nope".*Nothing was done/,
    /almoner status/,
  ],
  [
    'a beginning that two batches share',
    ['pause', 'same'],
    2,
    /2 batches begin with "same"\. Nothing was done[\s\S]*same-1[\s\S]*same-2/,
    /more of the batch id/,
  ],
  [
    'a realm that is none',
    ['plan', 'good.csv', '--realm', 'nope'],
    2,
    /No configured realm.*"nope".*Nothing was done[\s\S]*town: realm town at http/,
    /--realm/,
  ],
  [
    'a configuration that is not there',
    ['status', '--config', 'nope.yaml'],
    2,
    /nope\.yaml: there is no such file/,
    /Next: /,
  ],
  [
    'a member that is none',
    ['member', '404'],
    4,
    /404 \(there is no member 404/,
    /member id, the realm id and the base URL/,
  ],
  [
    'a members file that is not there',
    ['realm', 'serve', '--members', 'nope.csv'],
    3,
    /cannot be read.*No member was loaded/,
    /name of the file/,
  ],
  [
    'an order that a batch does not have',
    ['dead', 'show', 'same-1-9'],
    2,
    /has 1 row, so there is no order same-1-9\. Nothing was done/,
    /dead list/,
  ],
];

describe('a person who meets', () => {
  test.each(CASES)(
    '%s is told what happened, what was not done, and what to do',
    async (_, args, status, said, next) => {
      const ran = await world.run(...args);
      const text = `${ran.stdout}${ran.stderr}`;
      expect([text, ran.status]).toEqual([text, status]);
      expect(text).toMatch(said);
      expect(text).toMatch(next);
      expect(text).not.toMatch(/\n\s+at |node:internal|undefined|\[object/);
    },
  );

  test('a store, before any batch, is told how to make one', async () => {
    const env = { ALMONER_DATA: join(world.folder, 'fresh') };
    const ran = await almoner(['report', 'last'], { cwd: world.folder, env });
    expect(ran.stderr).toMatch(/There is no batch yet\. Nothing was done\.\nNext: Make one with/);
  });

  test('a refused key is told what stays planned, and that a resume with it changes nothing', async () => {
    const withWrongKey = (...args: string[]) =>
      almoner(args, {
        cwd: world.folder,
        env: { ...world.env, ALMONER_API_KEY: 'not-the-key-of-the-town-0123456789' },
      });
    const command = ['run', 'good.csv', '--yes', '--batch-id', 'halted', '--again', 'halted'];
    const run = await withWrongKey(...command);
    expect(run.status).toBe(5);
    expect(run.stdout).toMatch(
      /is halted: The realm answered 401: [^()]+[^.] \(nothing was applied\)\. No further request/,
    );
    const resume = await withWrongKey('resume', 'halted');
    expect(resume.status).toBe(5);
    expect(resume.stderr).toMatch(/The realm stays halted, and nothing was sent\.\nNext: Put the right key/);
    const mended = await world.run(...command);
    expect(mended.status, mended.stderr).toBe(0);
    const again = await world.run(...command);
    expect(again.status).toBe(0);
    expect(again.stdout).toContain('It was over before. Nothing was sent');
  });

  test('a cancelled batch is told that running its file again sends nothing', async () => {
    await world.run('cancel', 'same-2');
    const ran = await world.run('run', 'good.csv', '--yes', '--batch-id', 'same-2', '--again', 'same-2');
    expect(ran.stdout).toMatch(/It was cancelled\. Nothing was sent[\s\S]*unprocessed\.csv/);
    expect(ran.stdout).not.toContain('--again');
    const discarded = await world.run('dead', 'discard', 'same-2-1', '--reason', 'x');
    expect(discarded.stdout).toContain('1 order left alone:\n  same-2-1: it is cancelled, not a dead letter');
  });
});
