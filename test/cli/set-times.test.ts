import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { document, textField } from '../support/document.js';
import { almoner, type Ran } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { setStart } from '../support/program/set-start.js';

/** What becomes of a batch's set time when somebody names another one, and when it is missed. */
const HOUR = 3_600_000;
let world: Program;
let redis: Redis;
const tokens = new Map<string, string>();
beforeAll(async () => {
  const members = ['1', '2', '3'].map((member) => ({ member, tokens: 0 }));
  const profile = { approval: { overTokens: 100 }, timezone: 'Asia/Tokyo' };
  world = await Program.start({ members, profile });
  redis = new Redis(world.env.REDIS_URL ?? '');
  for (const name of ['ada', 'ben']) {
    const roles = ['--role', 'operator', '--role', 'approver'];
    tokens.set(name, textField(await world.run('desk', 'token', 'add', name, ...roles, '--json'), 'token'));
  }
}, 60_000);
afterAll(async () => {
  redis.disconnect();
  await world.end();
});

function as(name: string, ...args: string[]): Promise<Ran> {
  return almoner(args, { env: { ...world.env, ALMONER_TOKEN: tokens.get(name) }, cwd: world.folder });
}
const counted = async () => (await world.applied()).length;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString().replace(/\.\d+Z$/, 'Z');

async function imported(file: string, row: string, ...more: string[]): Promise<string> {
  await world.file(file, `member,tokens\n${row}\n`);
  return textField(await as('ada', 'import', file, '--yes', ...more, '--json'), 'batch');
}

const missed = (batch: string) => setStart(redis, batch, Date.now() - 2 * HOUR);

test('another time for orders that are a batch already is refused, and changes nothing', async () => {
  const at = inHours(2);
  const timed = await imported('timed.csv', '1,5', '--at', at);
  const free = await imported('free.csv', '2,5');
  const keys = async () => Object.fromEntries((await redis.keys('*')).sort().map((key) => [key, true]));
  const before = [await keys(), (await as('ada', 'status', timed, '--json')).stdout];
  for (const [file, words] of [
    ['timed.csv', /are batch \S+ already, which begins at \d{4}-\d\d-\d\d \d\d:\d\d Asia\/Tokyo/],
    ['free.csv', /are batch \S+ already, which has no time to wait for/],
  ] as const) {
    const other = await as('ada', 'import', file, '--yes', '--at', inHours(3));
    expect([other.status, other.stderr]).toEqual([3, expect.stringContaining('ALM_PLAN_TIME')]);
    expect(other.stderr).toMatch(words);
  }
  expect([await keys(), (await as('ada', 'status', timed, '--json')).stdout]).toEqual(before);
  // The same time, or none, is the same batch.
  for (const more of [['--at', at], []])
    expect(document(await as('ada', 'import', 'timed.csv', '--yes', ...more, '--json'))).toMatchObject({
      batch: timed,
      existing: true,
      waiting: [{ why: 'start-time', until: new Date(at).toISOString() }],
    });
  for (const batch of [timed, free]) await as('ada', 'cancel', batch);
}, 60_000);

test('an approval that comes after the set time begins it at once, and the approver is told so', async () => {
  const batch = await imported('late.csv', '1,500', '--at', inHours(2));
  await missed(batch);
  const before = await counted();
  const approved = await as('ben', 'approve', batch, '--yes');
  expect(approved.stdout).toMatch(
    /Approving +Your approval is for exactly this, and is used once\. Its set time, \d{4}-\d\d-\d\d \d\d:\d\d Asia\/Tokyo, is over\. It begins as soon as a worker takes it\./,
  );
  expect(approved.stdout).not.toMatch(/^ +Begins /m);
  expect((await as('ada', 'run', 'late.csv', '--yes')).status).toBe(0);
  expect(await counted()).toBe(before + 1);
}, 60_000);

test('an approval that came before a set time that was missed begins nothing late; a person does', async () => {
  const batch = await imported('missed.csv', '1,600', '--at', inHours(2));
  const approved = await as('ben', 'approve', batch, '--yes');
  expect(approved.stdout).toMatch(
    /Approving +Your approval is for exactly this, and is used once\. It begins at \d{4}-\S+ \S+ Asia\/Tokyo\./,
  );
  const before = await counted();
  await missed(batch);
  const ran = await as('ada', 'run', 'missed.csv', '--yes', '--json');
  expect([ran.status, document(ran)]).toEqual([
    5,
    expect.objectContaining({ reason: expect.objectContaining({ code: 'ALM_BATCH_START_MISSED' }) }),
  ]);
  expect(await counted()).toBe(before);
  const kept = await as('ada', 'resume', batch);
  expect([kept.status, kept.stdout]).toEqual([0, expect.stringContaining(`almoner resume ${batch} --now`)]);
  expect((await as('ada', 'run', 'missed.csv', '--yes')).status).toBe(5);
  expect((await as('ada', 'resume', batch, '--now')).stdout).toMatch(
    /begins now instead of at \d{4}-\S+ \S+ Asia/,
  );
  expect((await as('ada', 'run', 'missed.csv', '--yes')).status).toBe(0);
  expect(await counted()).toBe(before + 1);
}, 60_000);

test('a batch that was paused before its time and is resumed waits for it, and the command says so', async () => {
  const batch = await imported('paused.csv', '3,7', '--at', inHours(5));
  expect((await as('ada', 'pause', batch)).status).toBe(0);
  const resumed = await as('ada', 'resume', batch);
  expect(resumed.stdout).toMatch(/its first sends wait: It begins at /);
  expect(resumed.stdout).not.toContain('The workers resume it');
});

test('a realm that was halted is resumed, by the advice of every face, and no batch begins before its time', async () => {
  const batch = await imported('early.csv', '2,9', '--at', inHours(2));
  await world.file('now.csv', 'member,tokens\n3,4\n');
  const wrongKey = {
    ...world.env,
    ALMONER_TOKEN: tokens.get('ada'),
    ALMONER_API_KEY: 'rotated-key-of-yesterday-0000',
  };
  const halted = await almoner(['run', 'now.csv', '--yes'], { env: wrongKey, cwd: world.folder });
  expect(halted.status).toBe(5);
  const before = await counted();
  const time = /Its set time stays when it is resumed: it begins at \d{4}-\d\d-\d\d \d\d:\d\d Asia\/Tokyo\./;
  const advised = [await as('ada', 'status', batch), await as('ada', 'doctor')];
  for (const { stdout } of advised) expect(stdout).toMatch(time);
  const status = document(await as('ada', 'status', batch, '--json'));
  expect(status).toMatchObject({
    state: 'halted',
    reason: { message: expect.stringMatching(time) },
    waiting: [{ next: `almoner resume ${batch}`, message: expect.stringMatching(time) }],
  });
  const resumed = await as('ada', 'resume', batch);
  expect([resumed.status, resumed.stdout]).toEqual([
    0,
    expect.stringMatching(/first sends wait: It begins at .* almoner resume \S+ --now/),
  ]);
  // The same orders, run or imported again, wait as well.
  const again = await as('ada', 'run', 'early.csv', '--yes', '--json');
  expect(document(again)).toMatchObject({ state: 'planned', waiting: [{ why: 'start-time' }] });
  expect(await counted()).toBe(before);
  const begun = await as('ada', 'resume', batch, '--now');
  expect(begun.stdout).toMatch(/begins now instead of at \d{4}-\S+ \S+ Asia\/Tokyo/);
  expect((await as('ada', 'run', 'early.csv', '--yes')).status).toBe(0);
  expect(await counted()).toBe(before + 1);
  expect((await as('ada', 'resume', '--after-rollback', '--now')).status).toBe(2);
}, 60_000);
