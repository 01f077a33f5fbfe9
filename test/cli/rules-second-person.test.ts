import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { document, textField } from '../support/document.js';
import { almoner, type Ran } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/** The second person approves a rule at a terminal: exactly the text that they saw, named by its hash. */
let world: Program;
const tokens = new Map<string, string>();
beforeAll(async () => {
  world = await Program.start({ profile: { approval: { overTokens: 0 } } });
  for (const name of ['ada', 'ben']) {
    const roles = ['--role', 'operator', '--role', 'approver'];
    tokens.set(name, textField(await world.run('desk', 'token', 'add', name, ...roles, '--json'), 'token'));
  }
  await mkdir(join(world.folder, 'jobs'));
  await world.file('jobs/weekly.yaml', rule(5));
  await members('1');
}, 60_000);
afterAll(() => world.end());

const rule = (amount: number) =>
  [
    'name: weekly',
    'realm: town',
    'schedule: { cron: "0 9 * * 1", timezone: UTC, missed: once }',
    'period: week',
    'audience: { file: members.csv }',
    `award: { tokens: ${amount} }`,
    'limits: { perRun: 100 }',
    'reason: x',
  ].join('\n');
const members = (...ids: string[]) => world.file('jobs/members.csv', `member\n${ids.join('\n')}\n`);

function approve(name: string, ...more: string[]): Promise<Ran> {
  const env = { ...world.env, ALMONER_TOKEN: tokens.get(name) };
  return almoner(['rules', 'sync', '--approve', 'weekly', ...more], { env, cwd: world.folder });
}

async function go() {
  const listed = document(await world.run('rules', 'list', 'weekly', '--json'));
  return listed;
}
const NOT_CONFIRMED = [2, expect.stringContaining('ALM_CLI_NOT_CONFIRMED')];

/** The hash that a refusal names to who is to look at the text first. */
async function shownTo(name: string): Promise<string> {
  const { status, stdout, stderr } = await approve(name);
  expect([status, stderr]).toEqual(NOT_CONFIRMED);
  expect(stdout).toContain('tokens each, once a week');
  const hash = /--approve weekly --text ([0-9a-f]{12})\b/.exec(stderr)?.[1];
  if (hash === undefined) throw new Error(stderr);
  return hash;
}

test('an approval names the text that it covers: without a text, or with another one, it is refused', async () => {
  expect((await approve('ada')).stdout).toContain(
    'ada asks for its approval: ANOTHER PERSON has to approve it',
  );
  const old = await shownTo('ben');
  await world.file('jobs/weekly.yaml', rule(50));
  await approve('ada');
  for (const other of [old, 'ffffffffffff', (await shownTo('ben')).slice(0, 4)]) {
    const { status, stderr } = await approve('ben', '--text', other);
    expect([status, stderr]).toEqual(NOT_CONFIRMED);
  }
  expect(await go()).toMatchObject({ rules: [{ state: 'waits', approved: null, asked: { who: 'ada' } }] });
  const given = await approve('ben', '--text', await shownTo('ben'));
  expect([given.status, given.stdout]).toEqual([0, expect.stringContaining('unchanged, approved now')]);
  expect(await go()).toMatchObject({
    rules: [{ state: 'approved', approved: { who: 'ben', asked: 'ada' }, asked: null }],
  });
}, 60_000);

test('a changed member list with the same text needs two approvals again', async () => {
  await members('1', '2');
  expect((await approve('ben')).stdout).toContain(
    'ben asks for its approval: ANOTHER PERSON has to approve it',
  );
  const given = await approve('ada', '--text', await shownTo('ada'));
  expect([given.status, given.stdout]).toEqual([0, expect.stringContaining('unchanged, approved now')]);
  expect(await go()).toMatchObject({ rules: [{ approved: { who: 'ada', asked: 'ben' }, asked: null }] });
}, 60_000);
