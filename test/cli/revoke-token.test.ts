import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { document, textField } from '../support/document.js';
import { almoner, type Ran } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/** Revoking a token reports what it withdraws and what it leaves in place. */
let world: Program;
const tokens = new Map<string, string>();
const RULES = ['asked', 'given'] as const;

beforeAll(async () => {
  const members = ['1', '2'].map((member) => ({ member, tokens: 0 }));
  world = await Program.start({ members, profile: { approval: { overTokens: 0 } } });
  for (const name of ['ada', 'ben', 'eve']) {
    const roles = ['--role', 'operator', '--role', 'approver'];
    tokens.set(name, textField(await world.run('desk', 'token', 'add', name, ...roles, '--json'), 'token'));
  }
  await mkdir(join(world.folder, 'jobs'));
  for (const name of RULES) await world.file(`jobs/${name}.yaml`, rule(name));
}, 60_000);
afterAll(() => world.end());

const rule = (name: string) =>
  [
    `name: ${name}`,
    'realm: town',
    'schedule: { cron: "0 9 * * 1", timezone: UTC, missed: once }',
    'period: week',
    'audience: { members: [1] }',
    'award: { tokens: 5 }',
    'limits: { perRun: 100 }',
    'reason: x',
  ].join('\n');

function as(name: string, ...args: string[]): Promise<Ran> {
  return almoner(args, { env: { ...world.env, ALMONER_TOKEN: tokens.get(name) }, cwd: world.folder });
}

async function imported(name: string, file: string, text: string): Promise<string> {
  await world.file(file, text);
  return textField(await as(name, 'import', file, '--yes', '--json'), 'batch');
}

async function approveRule(name: string, wanted: string): Promise<void> {
  const shown = await as(name, 'rules', 'sync', '--approve', wanted);
  const hash = /--text ([0-9a-f]{12})\b/.exec(shown.stderr)?.[1] ?? '';
  const given = await as(name, 'rules', 'sync', '--approve', wanted, '--text', hash);
  expect(given.status, given.stderr).toBe(0);
}

test('it names batches that wait again, rules that lose an approval or a request, and batches that stay', async () => {
  const approved = await imported('ada', 'ada.csv', 'member,tokens\n1,5\n');
  expect((await as('ben', 'approve', approved, '--yes')).status).toBe(0);
  const prepared = await imported('ben', 'ben.csv', 'member,tokens\n2,6\n');
  await as('ben', 'rules', 'sync', '--approve', 'asked');
  await as('ada', 'rules', 'sync', '--approve', 'given');
  await approveRule('ben', 'given');

  const revoked = await world.run('desk', 'token', 'revoke', 'ben', '--json');
  expect(document(revoked)).toMatchObject({
    name: 'ben',
    revoked: true,
    waiting: [approved],
    rules: [
      { realm: 'town', rule: 'asked', lost: 'request' },
      { realm: 'town', rule: 'given', lost: 'approval' },
    ],
    prepared: [prepared],
  });
  // The batch that stays is approved by another person, and not by the one who prepared it.
  expect((await as('ada', 'approve', prepared, '--yes')).status).toBe(0);
  expect(document(await world.run('rules', 'list', 'given', '--json'))).toMatchObject({
    rules: [{ state: 'waits', approved: null }],
  });
}, 120_000);

test('it says the same in sentences, and nothing more of a person who did nothing', async () => {
  const batch = await imported('eve', 'eve.csv', 'member,tokens\n2,7\n');
  await as('eve', 'rules', 'sync', '--approve', 'given');
  const { stdout } = await world.run('desk', 'token', 'revoke', 'eve');
  expect(stdout).toContain(`Batch ${batch}, which they prepared, still waits for an approval.`);
  expect(stdout).toContain('Rule given of realm town loses their request for its approval.');
  await world.run('desk', 'token', 'add', 'fay', '--role', 'approver');
  const nothing = { waiting: [], rules: [], prepared: [] };
  const revoked = await world.run('desk', 'token', 'revoke', 'fay', '--json');
  expect(document(revoked)).toEqual({ name: 'fay', revoked: true, ...nothing });
}, 120_000);
