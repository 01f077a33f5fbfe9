import { afterEach, expect, test } from 'vitest';
import { type RealmAndOperator, startRealmAndOperator } from '../support/realm-and-operator.js';
import { freePort } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** Read-back reads every member before it is paid: what becomes of an order whose member cannot be read. */
let world: RealmAndOperator;
afterEach(() => world.end());

const ROWS = 6;
const members = Array.from({ length: ROWS }, (_, n) => ({ member: String(5_000_000 + n), tokens: 0 }));
const rows = members.map(({ member }, i) => `${member},${i + 1},r-${i}`);
const csv = (lines: readonly string[]) => `member,tokens,reference\n${lines.join('\n')}\n`;
const env = { ALMONER_CERTAINTY: 'readback' };

test('a member who does not exist is refused before anything is sent; the others are paid', async () => {
  world = await startRealmAndOperator({ members, env });
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
  world = await startRealmAndOperator({ members, env });
  await world.file('a.csv', csv(rows));
  const run = world.start(['run', 'a.csv', '--yes', '--json'], { ALMONER_API_KEY: 'revoked-key-0123456789' });
  expect(await run.ended).toBe(5);
  expect(JSON.parse(run.stdout())).toMatchObject({
    state: 'halted',
    reason: { code: 'ALM_KEY_REFUSED' },
    counts: { planned: ROWS },
  });
  const again = await world.run('run', 'a.csv', '--yes', '--json');
  expect(again.status, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout).counts).toEqual({ paid: ROWS });
  expect(await world.applied()).toHaveLength(ROWS);
});

test.each([
  ['cannot be reached', null],
  ['answers every read with 503', ['--fault', 'error-before:1:503']],
] as const)(
  'a realm that %s for five seconds is waited for: nobody is burnt, all are paid',
  async (_, faults) => {
    world = await startRealmAndOperator({ members, env, serve: faults ?? [], port: await freePort() });
    if (faults === null) await world.realm.end('SIGKILL');
    await world.file('a.csv', csv(rows));
    const run = world.start(['run', 'a.csv', '--yes', '--json']);
    const since = performance.now();
    await until('five seconds to pass', () => performance.now() - since > 5_000, 10_000);
    expect(run.child.exitCode).toBeNull();
    await world.reopenRealm([]);
    expect(await run.ended, run.stderr()).toBe(0);
    expect(JSON.parse(run.stdout()).counts).toEqual({ paid: ROWS });
    expect(await world.applied()).toHaveLength(ROWS);
  },
);
