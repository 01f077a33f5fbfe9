import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { recovery } from '../../src/ledger/index.js';
import { noteLastRun, noteMissed } from '../../src/ledger/notes/scheduled-times.js';
import { calendarOf } from '../../src/operations/rules/calendar.js';
import { missedOfRealms } from '../../src/operations/rules/missed-counts.js';
import { steerRule } from '../../src/operations/rules/steer-rule.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import { missedTimes } from '../../src/rules/missed.js';
import type { App } from '../../src/runtime/app.js';
import { almoner } from '../support/program/almoner.js';
import { batchRows, DAY_MS, dailySchedule, ledgerOf, MONDAY } from '../support/program/daily-schedule.js';
import { REALM_ID } from '../support/program/program.js';
import { until } from '../support/until.js';

/** Times that paid nobody because no process ran stay on a list until a person removes them. */
const daily = dailySchedule();

const command = (...args: string[]) => almoner(args, { env: daily.world().env, cwd: daily.world().folder });
const sync = async (app: App, approve: string[], prune = false) =>
  syncRules(app, { cwd: daily.world().folder, approve, prune, now: daily.clock });
const rule = (changes: Record<string, string>) =>
  daily.world().file(
    'jobs/daily.yaml',
    Object.values({
      name: 'name: daily',
      realm: `realm: ${REALM_ID}`,
      schedule: 'schedule: { cron: "0 9 * * *", timezone: UTC, missed: once }',
      period: 'period: day',
      audience: 'audience: { file: audience.csv }',
      award: 'award: { tokens: 5 }',
      limits: 'limits: { perRun: 10000 }',
      reason: 'reason: Daily',
      ...changes,
    }).join('\n'),
  );
const listed = async (app: App) => (await missedTimes(ledgerOf(app), 'daily')).map(({ at }) => at);
const days = (...numbers: number[]) => numbers.map((day) => MONDAY + day * DAY_MS);
/** The total that the realm was asked to pay to a member. */
const balanceOf = (member: string) => daily.world().realm.admin.balance(REALM_ID, member);

describe('the process was off', () => {
  test('missed: once runs the newest time, and skipped ones stay listed until a person acts', async () => {
    const app = await daily.app();
    const runs = await daily.schedule(app);
    daily.clock = days(3)[0] ?? 0;
    await until('the run', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: daily.clock, result: 'enqueued', skipped: 3, period: '2020-11' }]);
    expect(await listed(app)).toEqual(days(0, 1, 2));
    // Neither the next good time nor a restart changes that.
    daily.clock += DAY_MS;
    await until('the next', () => runs.length > 1);
    const other = await daily.app();
    expect(await listed(other)).toEqual(days(0, 1, 2));
    const { missed, past } = await calendarOf(other, { limit: 50 });
    expect(missed.map(({ at, why, period }) => ({ at, why, period }))).toEqual(
      days(2, 1, 0).map((at) => ({
        at,
        why: 'No process ran the schedules at that time.',
        period: '2020-11',
      })),
    );
    expect(past.map(({ at, outcome }) => [at, outcome])).toEqual([
      [MONDAY + 4 * DAY_MS, 'planned'],
      [MONDAY + 3 * DAY_MS, 'planned'],
    ]);
    expect(past[1]?.sums).toMatchObject({ open: { orders: 2, tokens: 10n }, paid: { orders: 0 } });
    expect(await missedOfRealms(other)).toMatchObject([{ realm: REALM_ID, times: 3, since: MONDAY }]);
  });

  test('missed: skip lists all of them, including the newest', async () => {
    const app = await daily.app();
    await rule({ schedule: 'schedule: { cron: "0 9 * * *", timezone: UTC, missed: skip }' });
    await sync(app, ['daily']);
    daily.clock = MONDAY + 2 * DAY_MS + 3_600_000;
    const runs = await daily.schedule(app);
    await until('the note', () => runs.length > 0);
    expect(runs).toMatchObject([{ result: 'missed', skipped: 3 }]);
    expect(await listed(app)).toEqual(days(0, 1, 2));
  });

  test('two schedulers list each time once', async () => {
    const app = await daily.app();
    daily.clock = MONDAY + 5 * DAY_MS;
    const [one, other] = [await daily.schedule(app), await daily.schedule(await daily.app())];
    await until('the run', () => one.length + other.length > 0);
    await daily.looked();
    expect(await listed(app)).toEqual(days(0, 1, 2, 3, 4));
    expect(await batchRows(app)).toEqual([2]);
  });

  test.each([
    ['23 hours', '2020-03-27T12:00:00Z', ['2020-03-28T22:30Z', '2020-03-29T21:30Z']],
    ['25 hours', '2020-10-23T12:00:00Z', ['2020-10-24T21:30Z', '2020-10-25T22:30Z']],
  ])('a day of %s has one missed time, in the period of the rule’s zone', async (_, from, times) => {
    const app = await daily.app();
    daily.clock = Date.parse(from) + DAY_MS;
    await rule({
      schedule: 'schedule: { cron: "30 23 * * *", timezone: Europe/Berlin, missed: skip }',
      day: `description: ${from}`,
    });
    await sync(app, ['daily']);
    daily.clock = Date.parse(from) + 3 * DAY_MS;
    const runs = await daily.schedule(app);
    await until('the note', () => runs.length > 0);
    const found = await missedTimes(ledgerOf(app), 'daily');
    expect(found.map(({ at, period }) => [at, period])).toEqual(
      times.map((time) => [Date.parse(time), time.slice(0, 10)]),
    );
  });
});

describe('why nothing ran', () => {
  test('a realm that refused the key: the time that was begun runs once it answers, and so does the newest', async () => {
    const app = await daily.app();
    const { admin, key } = daily.world().realm;
    await rule({ award: 'award: { tokens: web3.held, rounding: floor }' });
    await sync(app, ['daily']);
    await admin.putMembers(
      REALM_ID,
      ['101', '102'].map((member) => ({ member, tokens: 0, web3: { held: 5 } })),
    );
    await admin.revokeKeys(REALM_ID);
    const runs = await daily.schedule(app);
    daily.clock = MONDAY;
    await until('it to wait for the realm', async () => (await waits(app))?.why === 'realm');
    daily.clock = MONDAY + 2 * DAY_MS;
    await daily.looked();
    await admin.adoptKey(REALM_ID, key);
    await until('the runs', () => runs.length > 1);
    expect(runs.map(({ at, result }) => [at, result])).toEqual(days(0, 2).map((at) => [at, 'enqueued']));
    expect(await missedTimes(ledgerOf(app), 'daily')).toMatchObject([
      {
        at: MONDAY + DAY_MS,
        why: 'The run of 2020-11-16 09:00 UTC was still waiting or running.',
      },
    ]);
  });

  test('first sends that wait after a rollback: the times that passed meanwhile are listed, and the newest runs', async () => {
    const app = await daily.app();
    const books = ledgerOf(app);
    const { redis } = app.scripts;
    await redis.hset(books.keyPrefix, { waitsSince: 1, forgotAt: Date.now() });
    const runs = await daily.schedule(app);
    for (const at of days(0, 1, 2)) {
      daily.clock = at;
      await until('it to wait', async () => (await waits(app))?.at === at);
    }
    expect(runs).toEqual([]);
    await recovery.afterRollback.resumeAfterRollback(books, 1, {
      at: 1,
      who: 'ada',
      what: 'resumed',
      why: null,
    });
    await until('the run', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: MONDAY + 2 * DAY_MS, result: 'enqueued' }]);
    const found = await missedTimes(books, 'daily');
    expect(found.map(({ at }) => at)).toEqual(days(0, 1));
    expect(found[0]).toMatchObject({ why: expect.stringMatching(/rolled back/), mayBeForgotten: true });
  });

  test('times in a pause, and a skipped one, do not count as missed; one before the pause does', async () => {
    const app = await daily.app();
    await app.scripts.redis.hset(
      `${ledgerOf(app).keyPrefix}:rules:schedules`,
      'daily',
      await pausedSince(app, MONDAY + DAY_MS + 1),
    );
    daily.clock = MONDAY + 4 * DAY_MS;
    const runs = await daily.schedule(app);
    await until('the note', () => runs.length > 0);
    expect(runs).toMatchObject([{ result: 'paused' }]);
    expect(await listed(app)).toEqual(days(0, 1));
    await steerRule(app, 'daily', 'resume', null);
  });

  test('changing or removing a schedule lists the missed times of the former one first', async () => {
    const app = await daily.app();
    daily.clock = MONDAY + 2 * DAY_MS + 1;
    await rule({ schedule: 'schedule: { cron: "0 7 * * *", timezone: UTC, missed: once }' });
    await sync(app, []);
    expect(await listed(app)).toEqual(days(0, 1, 2));
    await sync(app, ['daily']);
    expect(await listed(app)).toEqual(days(0, 1, 2));
    daily.clock += DAY_MS;
    await rm(join(daily.world().folder, 'jobs/daily.yaml'));
    await sync(app, [], true);
    const removed = (await listed(app)).slice(3);
    expect(removed).toEqual([MONDAY + 3 * DAY_MS - 2 * 3_600_000]);
    const { missed } = await calendarOf(app, { limit: 1 });
    expect(missed.map(({ makeUp }) => makeUp)).toEqual([null, null, null, null]);
  });

  test('a rule that was never approved lists nothing; a changed one lists the times for which it waited', async () => {
    const app = await daily.app();
    await daily.world().file('jobs/new.yaml', 'name: new\n'.concat(await text()));
    await sync(app, []);
    await appendFile(join(daily.world().folder, 'jobs/daily.yaml'), '\n# changed\n');
    await sync(app, []);
    daily.clock = MONDAY + DAY_MS + 1;
    await sync(app, ['all']);
    expect(await missedTimes(ledgerOf(app), 'new')).toEqual([]);
    expect(await listed(app)).toEqual(days(0, 1));
  });
});

test('a time that runs after all leaves the list, and a time with an outcome never enters it', async () => {
  const books = ledgerOf(await daily.app());
  const missed = { zone: 'UTC', older: 0, times: [[MONDAY, '2020-11', 'x']] as const };
  await noteMissed(books, 'daily', missed);
  await noteMissed(books, 'daily', missed);
  expect(await missedTimes(books, 'daily')).toMatchObject([{ at: MONDAY }]);
  const last = { at: MONDAY, period: '2020-11', result: 'enqueued' };
  expect(await noteLastRun(books, 'daily', last)).toBe(true);
  expect(await missedTimes(books, 'daily')).toEqual([]);
  await noteMissed(books, 'daily', missed);
  expect(await missedTimes(books, 'daily')).toEqual([]);
});

test('the list holds the newest 1,000 of a rule and counts the others', async () => {
  const app = await daily.app();
  await rule({ schedule: 'schedule: { cron: "* * * * *", timezone: UTC, missed: once }' });
  await sync(app, ['daily']);
  const started = daily.clock;
  const runs = await daily.schedule(app);
  daily.clock = started + 1_500 * 60_000;
  await until('the run', () => runs.length > 0);
  expect((await listed(app)).length).toBe(1_000);
  expect((await listed(app)).at(-1)).toBe(daily.clock - 60_000);
  expect((await calendarOf(app, { limit: 1 })).older).toEqual([
    { realm: REALM_ID, rule: 'daily', times: 499 },
  ]);
  expect(await missedOfRealms(app)).toMatchObject([{ times: 1_499 }]);
});

describe('a person', () => {
  /** The list holds the first three days, and the fourth is enqueued. */
  async function threeMissed(changes: Record<string, string> = {}) {
    const app = await daily.app();
    await daily.world().realm.admin.putMembers(
      REALM_ID,
      ['101', '102'].map((member) => ({ member, tokens: 0 })),
    );
    await rule(changes);
    await sync(app, ['daily']);
    daily.clock = MONDAY + 3 * DAY_MS;
    const runs = await daily.schedule(app);
    await until('the run', () => runs.length > 0);
    expect(await listed(app)).toEqual(days(0, 1, 2));
    return app;
  }

  test('makes up for a time: its own period is paid once, however often the command runs, and it leaves the list', async () => {
    const app = await threeMissed();
    const time = '2020-11-17T09:00Z';
    const made = await command('rules', 'run', 'daily', '--missed', time, '--yes', '--json');
    expect(JSON.parse(made.stdout)).toMatchObject({ period: '2020-11-17', counts: { paid: 2 } });
    expect(await listed(app)).toEqual(days(0, 2));
    const again = await command('rules', 'run', 'daily', '--missed', time, '--yes', '--json');
    expect([again.status, again.stdout]).toEqual([2, expect.stringContaining('ALM_RULE_NOT_MISSED')]);
    const byHand = await command('rules', 'run', 'daily', '--at', time, '--yes');
    expect(byHand.status, byHand.stderr).toBe(0);
    expect([await balanceOf('101'), await balanceOf('102')]).toEqual([5, 5]);
    const { past } = await calendarOf(app, { limit: 50 });
    expect(past.find(({ at }) => at === MONDAY + DAY_MS)).toMatchObject({
      outcome: 'made up',
      sums: { paid: { orders: 2, tokens: 10n } },
      dismissed: { batch: JSON.parse(made.stdout).batch },
    });
  }, 60_000);

  test('cannot make up for a time under another period, which would pay its members twice', async () => {
    const app = await threeMissed({ period: 'period: week' });
    // The batch of the fourth day pays all members for the week of the three missed days.
    expect(await batchRows(app)).toEqual([2]);
    await rule({ period: 'period: day' });
    const refused = await command(
      'rules',
      'run',
      'daily',
      '--missed',
      '2020-11-17T09:00Z',
      '--yes',
      '--json',
    );
    expect([refused.status, refused.stdout]).toEqual([3, expect.stringContaining('ALM_RULE_OTHER_PERIOD')]);
    expect(await batchRows(app)).toEqual([2]);
    expect(await listed(app)).toEqual(days(0, 1, 2));
  }, 60_000);

  test('discards times with a reason, which stays in the calendar and the audit', async () => {
    const app = await threeMissed();
    const none = await command('rules', 'dismiss', 'daily', '2020-11-17T09:00Z');
    expect(none.status).toBe(2);
    const one = await command(
      'rules',
      'dismiss',
      'daily',
      '2020-11-17T09:00Z',
      '--reason',
      'a holiday',
      '--json',
    );
    expect(JSON.parse(one.stdout)).toMatchObject({ dismissed: ['2020-11-17T09:00:00.000Z'] });
    expect(await listed(app)).toEqual(days(0, 2));
    const twice = await command('rules', 'dismiss', 'daily', '2020-11-17T09:00Z', '--reason', 'a holiday');
    expect(twice.status).toBe(2);
    await command('rules', 'dismiss', 'daily', '--all', '--reason', 'nobody was there');
    expect(await missedOfRealms(app)).toMatchObject([{ times: 0, since: null }]);
    const shown = await command('rules', 'calendar', 'daily');
    expect(shown.stdout).toMatch(/2020-11-17 09:00 UTC {2}daily, 2020-11-17: let go, .* by .*: a holiday/);
    const audit = await app.scripts.redis.keys('*audit*');
    const lines = (await Promise.all(audit.map((key) => app.scripts.redis.lrange(key, 0, -1)))).flat();
    expect(lines.join('\n')).toMatch(
      /let 1 missed time of rule daily go: 2020-11-17T09:00Z","why":"a holiday"/,
    );
  }, 60_000);

  test('is told by status and doctor while a time is on the list', async () => {
    await threeMissed();
    const told = /3 scheduled times of realm \S+ paid nobody, because nothing ran: `almoner rules calendar`/;
    expect((await command('status')).stdout).toMatch(told);
    expect((await command('doctor')).stdout).toMatch(told);
    await command('rules', 'dismiss', 'daily', '--all', '--reason', 'seen');
    expect((await command('status')).stdout).not.toMatch(/paid nobody/);
  }, 60_000);
});

test('a restored store lists removed times again; making up for one again pays no member twice', async () => {
  const app = await daily.app();
  const { redis } = app.scripts;
  await daily.world().realm.admin.putMembers(
    REALM_ID,
    ['101', '102'].map((member) => ({ member, tokens: 0 })),
  );
  await rule({});
  await sync(app, ['daily']);
  daily.clock = MONDAY + DAY_MS;
  const runs = await daily.schedule(app);
  await until('the run', () => runs.length > 0);
  const key = `${ledgerOf(app).keyPrefix}:rules:missed`;
  const copy = [await redis.dumpBuffer(key), await redis.dumpBuffer(`${key}:daily`)] as const;
  const again = async () => {
    const made = await command('rules', 'run', 'daily', '--missed', '2020-11-16T09:00Z', '--yes', '--json');
    expect(made.status, made.stderr).toBe(0);
  };
  await again();
  await redis.restore(key, 0, copy[0] ?? '');
  await redis.restore(`${key}:daily`, 0, copy[1] ?? '');
  expect((await missedTimes(ledgerOf(app), 'daily')).map(({ at, held }) => [at, held])).toEqual([
    [MONDAY, 10n],
  ]);
  await again();
  expect(await listed(app)).toEqual([]);
  expect([await balanceOf('101'), await balanceOf('102')]).toEqual([5, 5]);
}, 60_000);

async function waits(app: App): Promise<{ at: number; why: string } | null> {
  const text = await app.scripts.redis.hget(`${ledgerOf(app).keyPrefix}:rules:waiting`, 'daily');
  return text === null ? null : JSON.parse(text);
}

async function pausedSince(app: App, at: number): Promise<string> {
  const entry = await app.scripts.redis.hget(`${ledgerOf(app).keyPrefix}:rules:schedules`, 'daily');
  return JSON.stringify({ ...JSON.parse(entry ?? ''), paused: { who: 'ada', at, why: null } });
}

async function text(): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  return (await readFile(join(daily.world().folder, 'jobs/daily.yaml'), 'utf8')).replace('name: daily\n', '');
}
