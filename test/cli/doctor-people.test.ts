import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { document, textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { freePort } from '../support/redis-server.js';

/** `almoner doctor` about people: what a realm asks of them, what they said of columns, and who gives the command. */
let world: Program;
let ada: string;
const MEMBER = '119283746501928374';
const AGREED = {
  approval: { overTokens: 50_000, overRows: 200 },
  timezone: 'Europe/Berlin',
  quietHours: ['22:00-07:00', 'fri 18:00-mon 08:00'],
};

beforeAll(async () => {
  const members = [{ member: MEMBER, tokens: 100 }];
  const limits = { storeAnswerMs: 500 };
  world = await Program.start({ members, limits, profile: AGREED, realms: { other: { members } } });
  const roles = ['--role', 'operator', '--role', 'approver'];
  ada = textField(await world.run('desk', 'token', 'add', 'ada', ...roles, '--json'), 'token');
});
afterAll(() => world.end());

const give = (args: readonly string[], env: NodeJS.ProcessEnv) =>
  almoner(args, { cwd: world.folder, env: { ...world.env, ...env } });

const diagnosis = z.object({
  realms: z.array(z.looseObject({ realm: z.string() })),
  token: z.unknown(),
  checks: z.array(z.looseObject({ name: z.string() })),
});

async function doctor(env: NodeJS.ProcessEnv = {}) {
  const ran = await give(['doctor', '--json'], env);
  const { realms, token, checks } = diagnosis.parse(document(ran));
  return { status: ran.status, realms, token, check: checks.find(({ name }) => name === 'token') };
}

test('each realm is shown with its approval, time zone, quiet hours and kept columns', async () => {
  await world.file('first.csv', `Wer,Gabe\n${MEMBER},4\n`);
  const map = ['--map', 'member=Wer', '--map', 'tokens=Gabe'];
  const command = ['import', 'first.csv', '--yes', '--realm', 'town', ...map];
  const imported = await give(command, { ALMONER_TOKEN: ada });
  expect(imported.status, imported.stderr).toBe(0);
  const words =
    'a second person has to approve more than 50,000 tokens or 200 orders from one person within 24 hours';
  const { realms } = await doctor({ ALMONER_TOKEN: ada });
  expect(realms).toEqual([
    {
      realm: 'town',
      approval: { ...AGREED.approval, words },
      timezone: AGREED.timezone,
      quietHours: AGREED.quietHours,
      columns: [{ map: ['member=Wer', 'tokens=Gabe'], who: 'ada', at: expect.any(String) }],
    },
    {
      realm: 'other',
      approval: { overTokens: null, overRows: null, words: 'no approval is required' },
      timezone: 'UTC',
      quietHours: [],
      columns: [],
    },
  ]);
  const { stdout } = await give(['doctor'], {});
  expect(stdout).toContain(`Realm town\n  approval      ${words}\n  time zone     Europe/Berlin\n`);
  expect(stdout).toContain('  quiet hours   22:00-07:00, fri 18:00-mon 08:00\n');
  expect(stdout).toMatch(/ {2}kept columns {2}member=Wer, tokens=Gabe \(ada, \d{4}-\d\d-\d\d\)\n/);
});

test('the token in use is named with its person and roles, from the environment and from a file', async () => {
  const person = { name: 'ada', roles: ['operator', 'approver'] };
  const named = await doctor({ ALMONER_TOKEN: ada });
  expect(named.token).toEqual({ place: 'ALMONER_TOKEN', state: 'known', person });
  expect(named.check).toMatchObject({
    state: 'ok',
    message: 'ALMONER_TOKEN is the token of ada: operator and approver',
  });
  const path = join(world.folder, 'token');
  writeFileSync(path, `${ada}\n`, { mode: 0o600 });
  expect(await doctor({ ALMONER_TOKEN_FILE: 'token' })).toMatchObject({
    status: 0,
    token: { place: path, state: 'known', person },
  });
  const text = await give(['doctor'], { ALMONER_TOKEN: ada });
  expect(text.stdout + text.stderr).not.toContain(ada);
});

test('a token that the store does not know fails, with the way out', async () => {
  const { status, token, check } = await doctor({ ALMONER_TOKEN: 'almdesk_of_another_store' });
  expect(token).toEqual({ place: 'ALMONER_TOKEN', state: 'not known here', person: null });
  expect(check).toMatchObject({
    state: 'failed',
    message: expect.stringContaining('not known here'),
    remedy: 'Ask an admin for a new token, or take this one out of ALMONER_TOKEN.',
  });
  expect(status).toBe(2);
});

test('a token file that is not there fails, and names the file', async () => {
  const { status, token, check } = await doctor({ ALMONER_TOKEN_FILE: 'nowhere' });
  expect([status, token]).toEqual([2, null]);
  expect(check).toMatchObject({ state: 'failed', message: expect.stringContaining('nowhere') });
});

test('no token is a warning where a realm requires approvals', async () => {
  const { status, token, check } = await doctor();
  expect(token).toEqual({ place: null, state: 'no token', person: null });
  expect(check).toMatchObject({
    state: 'warning',
    message: expect.stringMatching(/^no token, and 1 realm requires approvals \(town\)/),
    remedy: expect.stringContaining('ALMONER_TOKEN'),
  });
  expect(status).toBe(0);
});

test('a store that is away leaves what the configuration knows', async () => {
  const { status, realms, token } = await doctor({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
  expect([status, token]).toEqual([2, null]);
  expect(realms).toMatchObject([
    { realm: 'town', approval: AGREED.approval, timezone: AGREED.timezone, columns: null },
    { realm: 'other', columns: null },
  ]);
});
