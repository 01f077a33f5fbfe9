import { afterEach, expect, test } from 'vitest';
import { parseFaults } from '../../src/realm/server/faults.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { isLong } from '../support/suites.js';
import { until } from '../support/until.js';

/** Read-back reads every member before paying: the outcome of an order with an unreadable member. */
let world: Program;
afterEach(() => world.end());

const ROWS = 6;
const members = Array.from({ length: ROWS }, (_, n) => ({ member: String(5_000_000 + n), tokens: 0 }));
const rows = members.map(({ member }, i) => `${member},${i + 1},r-${i}`);
const csv = (lines: readonly string[]) => `member,tokens,reference\n${lines.join('\n')}\n`;
const env = { ALMONER_CERTAINTY: 'readback' };

test('a member who does not exist is refused before anything is sent; the others are paid', async () => {
  world = await Program.start({ members, env });
  await world.file('a.csv', csv([...rows.slice(0, 3), '4999999,7,r-nobody', ...rows.slice(3)]));
  const ran = await world.run('run', 'a.csv', '--yes', '--json');
  expect(ran.status, ran.stderr).toBe(4);
  expect(JSON.parse(ran.stdout).counts).toEqual({ paid: ROWS, refused: 1 });
  const dead = await world.run('dead', 'list', '--json');
  expect(JSON.parse(dead.stdout).orders).toMatchObject([
    { member: '4999999', state: 'refused', class: 'ALM_REFUSED_NOT_FOUND', status: 404 },
  ]);
  expect(await world.applied()).toHaveLength(ROWS);
});

test('a key that is not taken halts the realm with every order planned; with the right one all are paid', async () => {
  world = await Program.start({ members, env });
  await world.file('a.csv', csv(rows));
  const revoked = { ...world.env, ALMONER_API_KEY: 'revoked-key-0123456789' };
  const run = await almoner(['run', 'a.csv', '--yes', '--json'], { cwd: world.folder, env: revoked });
  expect(run.status).toBe(5);
  expect(JSON.parse(run.stdout)).toMatchObject({
    state: 'halted',
    reason: { code: 'ALM_KEY_REFUSED' },
    counts: { planned: ROWS },
  });
  const again = await world.run('run', 'a.csv', '--yes', '--json');
  expect(again.status, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout).counts).toEqual({ paid: ROWS });
  expect(await world.applied()).toHaveLength(ROWS);
});

const AWAY = [
  ['cannot be reached', undefined],
  ['answers every read with 503', parseFaults(['error-before:1:503'])],
] as const;
test.each(isLong ? AWAY : AWAY.slice(0, 1))(
  'a realm that %s is waited for: nobody is burnt, all are paid',
  async (_, faults) => {
    world = await Program.start({
      members,
      env,
      ...(faults && { faults }),
      profile: { attempts: { max: 5, backoffMs: 50, backoffMaxMs: 100 } },
    });
    if (faults === undefined) await world.realm.close();
    await world.file('a.csv', csv(rows));
    const run = world.start(['run', 'a.csv', '--yes', '--json']);
    const waiting = await until(
      `it to wait: ${run.stderr()}`,
      async () => {
        const { status, stdout } = await world.run('status', 'last', '--json');
        const told = status === 0 ? JSON.parse(stdout) : undefined;
        return told?.waiting[0]?.why === 'breaker' && told;
      },
      60_000,
      100,
    );
    expect(waiting.counts).toEqual({ planned: ROWS });
    expect(run.child.exitCode).toBeNull();
    await world.reopenRealm();
    expect(await run.ended, run.stderr()).toBe(0);
    expect(JSON.parse(run.stdout()).counts).toEqual({ paid: ROWS });
    expect(await world.applied()).toHaveLength(ROWS);
  },
);
