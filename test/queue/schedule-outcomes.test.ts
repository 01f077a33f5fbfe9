import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Outcome } from '../../src/core/schedule-outcomes.js';
import { metricsText } from '../../src/desk/live/metrics.js';
import { listBatches } from '../../src/ledger/read/batches.js';
import { scheduleStandings } from '../../src/operations/rules/standings.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import { startSchedules } from '../../src/operations/services/schedules.js';
import { scheduledRules } from '../../src/rules/approvals.js';
import { booksOf } from '../support/daily-schedule.js';
import { startDesk, type TestDesk } from '../support/desk.js';
import { REALM_ID, type RulesWorld, startRulesWorld } from '../support/rules-world.js';
import { until } from '../support/until.js';

/** A time of a schedule that has come has an outcome, and whoever looks is told it: in the list, on the desk, by Prometheus. */

const MEMBERS = Array.from({ length: 12 }, (_, at) => ({
  member: String(101 + at),
  tokens: 0,
  web3: { held: 2 },
}));
const MINUTE_MS = 60_000;

let world: RulesWorld;
let desk: TestDesk;
const running: { stop(): Promise<void> }[] = [];

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });
beforeEach(async () => {
  world = await startRulesWorld({ members: MEMBERS, rate: '20/s' });
  await world.file('jobs/audience.csv', `member\n${MEMBERS.map(({ member }) => member).join('\n')}\n`);
  desk = await startDesk({ env: { ...world.env, ALMONER_JOBS: join(world.folder, 'jobs') } });
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  await desk.close();
  await world.end();
});

/** A daily rule whose last time came so many minutes ago, and which had its go just before. */
async function due(minutesAgo = 0, changes: Record<string, string> = {}) {
  const now = Number((await desk.app.scripts.redis.time())[0]) * 1000;
  const at = Math.floor(now / MINUTE_MS) * MINUTE_MS - minutesAgo * MINUTE_MS;
  const [hour, minute] = [new Date(at).getUTCHours(), new Date(at).getUTCMinutes()];
  const rule = Object.values({
    name: 'name: daily',
    realm: `realm: ${REALM_ID}`,
    schedule: `schedule: { cron: "${minute} ${hour} * * *", timezone: UTC, missed: once }`,
    period: 'period: day',
    audience: 'audience: { file: audience.csv }',
    award: 'award: { tokens: 5 }',
    limits: 'limits: { perRun: 1000 }',
    reason: 'reason: Daily',
    ...changes,
  }).join('\n');
  await world.file('jobs/daily.yaml', rule);
  await syncRules(await world.app(), { cwd: world.folder, approve: ['daily'], prune: false, now: at - 1 });
  return { at, rule, cron: `${minute} ${hour} * * *` };
}

async function serve(): Promise<void> {
  const { signal: stop } = new AbortController();
  running.push(await startSchedules(await world.app(), { stop, lookEveryMs: 50 }));
}

const standing = z.object({
  rule: z.string(),
  outcome: z.string(),
  isGood: z.boolean(),
  message: z.string(),
});
const listed = z.object({ rules: z.array(z.object({ standing: standing.nullable() })) });
const overview = z.object({ schedules: z.array(standing) });

const onTheDesk = async () => overview.parse((await desk.call('/api/overview')).json()).schedules[0];

/** The outcome wherever one looks. */
async function told(outcome: Outcome, isGood: boolean, message: RegExp): Promise<void> {
  await until(`the outcome ${outcome}, ${message}`, async () => {
    const [one] = await scheduleStandings(desk.app);
    return one?.outcome === outcome && one.isGood === isGood && message.test(one.message);
  });
  const expected = { rule: 'daily', outcome, isGood, message: expect.stringMatching(message) };
  const list = await world.run('list', '--json');
  expect(listed.parse(JSON.parse(list.stdout)).rules[0]?.standing).toMatchObject(expected);
  expect((await world.run('list')).stdout).toMatch(new RegExp(`last .*${outcome}: `));
  expect(listed.parse((await desk.call('/api/rules')).json()).rules[0]?.standing).toMatchObject(expected);
  await until('the overview', async () => message.test((await onTheDesk())?.message ?? ''));
  expect(await onTheDesk()).toMatchObject(expected);
  // What notices are written of; test/desk/notices.test.ts sends them.
  const { standings } = await desk.server.desk.board.look();
  const event = outcome === 'waits-for-go' ? 'schedule.waits' : isGood ? 'schedule.done' : 'schedule.failed';
  expect(standings.filter(({ rule }) => rule === 'daily')).toMatchObject([
    { event, message: expect.stringContaining('Schedule of rule daily: ') },
  ]);
  expect((await desk.call('/metrics')).text).toContain(
    `almoner_schedule_outcome{realm="${REALM_ID}",rule="daily",outcome="${outcome}"} ${isGood ? 1 : 0}\n`,
  );
}

const command = async (...args: string[]) => {
  const ran = await world.run(...args);
  expect(ran.status, ran.stderr).toBe(0);
  return ran.stdout;
};
const batches = async () => listBatches(booksOf(desk.app));

describe('what becomes of a time is told', () => {
  test('no worker; paid, once there is one', async () => {
    await due();
    await serve();
    await told('no-worker', false, /enqueued, and no worker runs/);
    await desk.startWorker();
    await told('paid', true, /is done: 12 orders paid\./);
    expect((await desk.call('/metrics')).text).toMatch(
      new RegExp(`almoner_schedule_good_round_timestamp_seconds{realm="${REALM_ID}"} 1\\d+`),
    );
  });

  test('nothing to pay', async () => {
    await due(0, { condition: 'condition: run.year < 2000' });
    await serve();
    await told('nothing', true, /^Nobody was to get anything\.$/);
  });

  test('stopped by a limit; made up for by hand, it is good again', async () => {
    const { rule } = await due(0, { limits: 'limits: { perRun: 10 }' });
    await serve();
    await told('stopped', false, /limits\.perRun 10/);
    await world.file('jobs/daily.yaml', rule.replace('perRun: 10 ', 'perRun: 100 '));
    await command('run', 'daily', '--yes');
    await told('paid', true, /is done: 12 orders paid/);
  });

  test.each([
    ['a rule file that is gone', 'daily.yaml', null, /is gone/],
    ['a faulty rule', 'daily.yaml', 'name: daily\naward: {', /has faults/],
    ['an audience that is gone', 'audience.csv', null, /has faults/],
    ['a faulty audience', 'audience.csv', 'who\n1\n', /has faults/],
  ])('%s', async (_, file, text, message) => {
    await due();
    if (text === null) await rm(join(world.folder, 'jobs', file));
    else await world.file(`jobs/${file}`, text);
    await serve();
    await told('fault', false, message);
    expect(await batches()).toEqual([]);
  });

  test('a changed file waits for its go, which counts for the times after it', async () => {
    const { rule } = await due();
    await world.file('jobs/daily.yaml', `${rule}\n# more\n`);
    await serve();
    await told('waits-for-go', false, /not the text that has the go/);
    await command('sync');
    await told('waits-for-go', false, /waits for a go/);
    await command('sync', '--approve', 'daily');
    await told('missed', false, /It waited: .* A go came later/);
    expect(await batches()).toEqual([]);
  });

  test('a realm that is away', async () => {
    await due(0, { award: 'award: { tokens: web3.held, rounding: floor }' });
    await world.realm.close();
    await serve();
    await told('realm-away', false, /realm/i);
  });

  test('a store that is away', async () => {
    await due();
    await serve();
    await told('no-worker', false, /no worker/);
    await world.store.stop();
    // Whoever looks is not let in without the store: this is what an open page and Prometheus are shown.
    const { server } = desk;
    const shown = async () => (await server.desk.board.look()).overview.schedules;
    await until('the overview', async () => (await shown())[0]?.outcome === 'store-away', 30_000);
    expect(await metricsText(server.desk)).toMatch(/outcome="store-away"} 0\n/);
    const list = await world.run('list', '--json');
    expect(list.status).toBe(5);
    expect(JSON.parse(list.stdout)).toMatchObject({ error: { code: 'ALM_STORE_UNREACHABLE' } });
  });

  test('nobody serves; and afterwards it is made up for, or told as missed', async () => {
    await due(3);
    await told('unserved', false, /^Nobody was serving at .*, and nobody is now/);
    await serve();
    await told('no-worker', false, /no worker/);
  });

  test('nobody served, and the rule does not make up for what it missed', async () => {
    const { cron } = await due(20);
    await due(20, { schedule: `schedule: { cron: "${cron}", missed: skip }` });
    await serve();
    await told('missed', false, /Nobody was serving in time/);
  });
});

describe('a schedule that a person holds back', () => {
  test('paused: its times are told as paused, and those that passed are not made up for', async () => {
    await due();
    expect(await command('pause', 'daily', '--reason', 'audit of the list')).toContain(
      'paused by ada: audit of the list',
    );
    await serve();
    await told('paused', true, /^Paused by ada: audit of the list$/);
    expect(await command('list')).toMatch(/PAUSED {4}since .* by ada: audit of the list/);
    expect((await desk.call('/api/audit')).text).toContain('paused rule daily');
    await command('resume', 'daily');
    await told('paused', true, /audit of the list/);
    expect(JSON.parse(await command('list', '--json')).rules[0]).toMatchObject({
      standing: { paused: null },
      next: expect.any(String),
    });
    expect(await batches()).toEqual([]);
  });

  test('paused while nobody serves, and resumed: a time of the pause is none to make up for', async () => {
    await due();
    await command('pause', 'daily', '--reason', 'x');
    await command('resume', 'daily');
    await serve();
    await told('paused', true, /Paused by ada: x/);
    expect(await batches()).toEqual([]);
  });

  test('paused while its run is being planned: the seal of the batch refuses', async () => {
    await due(0, { award: 'award: { tokens: web3.held, rounding: floor }' });
    const app = await world.app();
    const seal = app.scripts.script.bind(app.scripts);
    let seals = 0;
    app.scripts.script = async (...call) => {
      if (call[0] === 'seal-batch' && seals++ === 0)
        await command('pause', 'daily', '--reason', 'at the last moment');
      return seal(...call);
    };
    running.push(await startSchedules(app, { stop: new AbortController().signal, lookEveryMs: 50 }));
    await told('paused', true, /at the last moment/);
    expect(seals).toBe(1);
    expect(await batches()).toEqual([]);
  });

  test('removed, or another text has the go, while its run is being planned: the old one pays nothing', async () => {
    const { rule } = await due(0, { award: 'award: { tokens: web3.held, rounding: floor }' });
    const app = await world.app();
    const seal = app.scripts.script.bind(app.scripts);
    let seals = 0;
    app.scripts.script = async (...call) => {
      if (call[0] === 'seal-batch' && seals++ === 0) {
        await world.file('jobs/daily.yaml', rule.replace('web3.held,', '1,'));
        await syncRules(await world.app(), { cwd: world.folder, approve: ['daily'], prune: false });
      }
      return seal(...call);
    };
    running.push(await startSchedules(app, { stop: new AbortController().signal, lookEveryMs: 50 }));
    await told('missed', false, /A go came later and counts for the times after it/);
    expect(seals).toBe(1);
    expect(await batches()).toEqual([]);
  });

  test('a time that waits when a changed text gets its go is told as missed, whatever it waited for', async () => {
    const { rule } = await due();
    await world.file('jobs/daily.yaml', rule.replace('Daily', 'Every day'));
    await syncRules(await world.app(), { cwd: world.folder, approve: ['daily'], prune: false });
    await told('missed', false, /Nobody had seen to it\. A go came later/);
  });

  test('nothing new to pay while the period’s own batch stands still is not “nothing”', async () => {
    const { at } = await due();
    await serve();
    await told('no-worker', false, /no worker runs/);
    const books = booksOf(desk.app);
    const key = `${books.keyPrefix}:rules:last`;
    const noted = JSON.parse((await desk.app.scripts.redis.hget(key, 'daily')) ?? '{}');
    // As if that had been an earlier time, and the next one has come.
    await desk.app.scripts.redis.hset(key, 'daily', JSON.stringify({ ...noted, at: at - 1_000 }));
    await until('the time to be dealt with again', async () => {
      const now = JSON.parse((await desk.app.scripts.redis.hget(key, 'daily')) ?? '{}');
      return now.at === at && now;
    });
    await told('no-worker', false, /no worker runs.*Nobody is missing but whom it pays/);
    expect(await batches()).toHaveLength(1);
  });

  test('skipped: one time passes, and the one after it is next', async () => {
    const { at } = await due();
    const [entry] = await scheduledRules(booksOf(desk.app));
    const skipped = await command('skip', 'daily', '--reason', 'holiday');
    expect(skipped).toContain(new Date(at + 24 * 3_600_000).toISOString().slice(0, 10));
    const [held] = await scheduledRules(booksOf(desk.app));
    expect(held?.skip).toMatchObject({ who: 'ada', why: 'holiday', time: at + 24 * 3_600_000 });
    expect(JSON.parse(await command('list', '--json')).rules[0].next).toBe(
      new Date(at + 2 * 24 * 3_600_000).toISOString(),
    );
    // As if it had been said before the time that has come.
    const notes = `${booksOf(desk.app).keyPrefix}:rules:schedules`;
    await desk.app.scripts.redis.hset(
      notes,
      'daily',
      JSON.stringify({ ...entry, skip: { ...held?.skip, time: at } }),
    );
    await serve();
    await told('skipped', true, /^Skipped by ada: holiday$/);
    expect(await batches()).toEqual([]);
  });

  test('a go that was taken back, by the desk', async () => {
    await due();
    const reply = await desk.call('/api/rules/daily/revoke', {
      method: 'POST',
      body: { reason: 'wrong award' },
    });
    expect(reply.status).toBe(200);
    await serve();
    await told('waits-for-go', false, /^The go was taken back by olga: wrong award$/);
    expect((await desk.call('/api/audit')).text).toContain('took back the go of rule daily');
    expect(await batches()).toEqual([]);
  });
});

test('several realms and rules have each their own standing, under a key that stays', async () => {
  await due(3);
  const [one] = await scheduleStandings(desk.app);
  const [again] = await scheduleStandings(desk.app);
  expect(one?.key).toBe(again?.key);
  expect(one?.key).toMatch(new RegExp(`^${REALM_ID}/daily/\\d+/unserved$`));
});
