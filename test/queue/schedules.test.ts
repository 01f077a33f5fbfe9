import { Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { registerRealm } from '../../src/ledger/moves/import-batch.js';
import { listBatches, readBatch } from '../../src/ledger/read/batches.js';
import { openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { type ScheduledRun, startSchedules } from '../../src/operations/rules/schedules.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import { SCHEDULES_QUEUE, startScheduler, syncWakeUps } from '../../src/queue/schedules.js';
import { listRuns } from '../../src/rules/run-store.js';
import type { App } from '../../src/runtime/app.js';
import { sealed } from '../support/ledger/ledgers-on-redis.js';
import { emptyProgram } from '../support/program/daily-schedule.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { until } from '../support/until.js';

const MEMBERS = Array.from({ length: 40 }, (_, index) => ({
  member: String(101 + index),
  tokens: 0,
  web3: { held: index + 1 },
}));

const RULE = (changes: Record<string, string> = {}) =>
  Object.values({
    name: 'name: weekly',
    realm: `realm: ${REALM_ID}`,
    schedule: 'schedule: { cron: "0 9 * * 1", timezone: UTC, missed: once }',
    period: 'period: week',
    audience: `audience: { members: [${MEMBERS.map(({ member }) => member).join(', ')}] }`,
    award: 'award: { tokens: web3.held, rounding: floor }',
    limits: 'limits: { perRun: 1000 }',
    reason: 'reason: Weekly',
    ...changes,
  }).join('\n');

const at = (iso: string) => Date.parse(iso);
const SUNDAY = at('2020-11-15T12:00:00Z');
const WEEK_MS = 7 * 24 * 3_600_000;
const MONDAY = at('2020-11-16T09:00:00Z');

let world: Program;
let clock = SUNDAY;
/** How often a scheduler asked for the time. */
let looks = 0;
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  world = await Program.start({ store: 'own' });
});
afterAll(() => world.end());
beforeEach(async () => {
  clock = SUNDAY;
  await emptyProgram(world, MEMBERS);
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

const sync = (app: App, approve: string[] = []) =>
  syncRules(app, { cwd: world.folder, approve, prune: false, now: clock });

/** A scheduler with the test’s clock. */
async function schedule(app: App) {
  const runs: ScheduledRun[] = [];
  const stopper = new AbortController();
  const started = await startSchedules(app, {
    stop: stopper.signal,
    now: () => {
      looks += 1;
      return clock;
    },
    lookEveryMs: 20,
    onRun: (run) => runs.push(run),
  });
  running.push(started);
  return { runs, stop: () => started.stop() };
}

async function ledger(app: App): Promise<RealmLedger> {
  const [profile] = app.config.profiles;
  if (profile === undefined) throw new Error('no profile');
  return app.ledger(profile);
}

async function batches(app: App) {
  const refs = await listBatches(await ledger(app));
  return Promise.all(refs.map(async (ref) => (await readBatch(ref))?.manifest.source));
}

describe('approved rules run at their times', () => {
  test('once at the time, however often the scheduler looks', async () => {
    const app = await world.app();
    await world.file('jobs/weekly.yaml', RULE());
    await sync(app, ['weekly']);
    clock = MONDAY - 1;
    const { runs } = await schedule(app);
    for (const week of [0, 1]) {
      clock = MONDAY + week * WEEK_MS + 5_000;
      await until('the run', () => runs.length > week);
      // Hours with many looks.
      clock += 5 * 3_600_000;
    }
    expect(runs).toMatchObject([
      { rule: 'weekly', at: MONDAY, result: 'enqueued', skipped: 0 },
      { rule: 'weekly', at: MONDAY + WEEK_MS, result: 'enqueued', skipped: 0 },
    ]);
    expect(await batches(app)).toEqual(['rule weekly 2020-W47', 'rule weekly 2020-W48']);
    expect(world.requests).toHaveLength(2 * MEMBERS.length);
  });

  test('a new rule waits for an approval, and so does a changed one', async () => {
    const app = await world.app();
    await world.file('jobs/weekly.yaml', RULE());
    expect((await sync(app)).rules).toMatchObject([{ rule: 'weekly', change: 'new', approved: false }]);
    const { runs } = await schedule(app);
    clock = MONDAY;
    expect((await sync(app, ['weekly'])).rules).toMatchObject([
      { change: 'same', approved: true, approvedNow: true },
    ]);
    await world.file('jobs/weekly.yaml', RULE({ award: 'award: { tokens: 999 }' }));
    clock = MONDAY + WEEK_MS;
    expect((await sync(app)).rules).toMatchObject([{ change: 'changed', approved: false }]);
    await world.file('jobs/weekly.yaml', RULE({ award: 'award: { tokens: 1 }' }));
    // Approved at this very moment; only the following Monday runs.
    await sync(app, ['all']);
    clock += WEEK_MS;
    await until('the approved run', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: MONDAY + 2 * WEEK_MS, result: 'enqueued' }]);
    expect(await batches(app)).toEqual(['rule weekly 2020-W49']);
  });

  test('a file that was edited after the approval does not run', async () => {
    const app = await world.app();
    await world.file('jobs/weekly.yaml', RULE());
    await world.file('jobs/other.yaml', RULE({ name: 'name: other', award: 'award: { tokens: 1 }' }));
    await sync(app, ['all']);
    await world.file('jobs/weekly.yaml', RULE({ award: 'award: { tokens: 999 }' }));
    const { runs } = await schedule(app);
    for (const week of [0, 1]) {
      clock = MONDAY + week * WEEK_MS;
      await until('the run of the other rule', () => runs.length > week);
    }
    expect(runs.map(({ rule }) => rule)).toEqual(['other', 'other']);
  });

  test('a run that a limit stops pays nothing and says so', async () => {
    const app = await world.app();
    await world.file('jobs/weekly.yaml', RULE({ limits: 'limits: { perRun: 10 }' }));
    await sync(app, ['weekly']);
    const { runs } = await schedule(app);
    clock = MONDAY;
    await until('the run', () => runs.length > 0);
    expect(runs).toMatchObject([{ result: 'stopped', batch: null }]);
    expect(runs[0]?.message).toMatch(/limits\.perRun 10/);
    expect(await batches(app)).toEqual([]);
  });
});

test('a realm that was paid under another address is not paid again: the run fails and names it', async () => {
  const app = await world.app();
  const { scripts, realm } = await ledger(app);
  const before = openLedger(scripts, { ...realm, baseUrl: 'https://former.example' });
  await registerRealm(before);
  await sealed(before, [{ member: '101' }]);
  await world.file('jobs/weekly.yaml', RULE());
  await sync(app, ['weekly']);
  const { runs } = await schedule(app);
  clock = MONDAY + 5_000;
  await until('the run', () => runs.length > 0);
  expect(runs).toMatchObject([
    {
      result: 'failed',
      message: expect.stringMatching(/another address: https:\/\/former\.example .*Nothing was enq/),
    },
  ]);
  expect(await batches(app)).toEqual([]);
});

describe('after a downtime', () => {
  test('once: a missed week is made up for, in the period of its own time', async () => {
    const app = await world.app();
    await world.file('jobs/weekly.yaml', RULE());
    await sync(app, ['weekly']);
    clock = at('2020-12-02T15:00:00Z');
    const { runs } = await schedule(app);
    await until('the run', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: at('2020-11-30T09:00:00Z'), result: 'enqueued', skipped: 2 }]);
    expect(await batches(app)).toEqual(['rule weekly 2020-W49']);
  });

  test('skip: a missed week stays missed and is reported, and the next one runs', async () => {
    const app = await world.app();
    await world.file('jobs/weekly.yaml', RULE({ schedule: 'schedule: { cron: "0 9 * * 1", missed: skip }' }));
    await sync(app, ['weekly']);
    clock = MONDAY + 2 * 24 * 3_600_000;
    const { runs } = await schedule(app);
    await until('the note of the miss', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: MONDAY, result: 'missed', skipped: 1 }]);
    clock = MONDAY + WEEK_MS;
    await until('the next run', () => runs.length > 1);
    expect(runs[1]).toMatchObject({ at: MONDAY + WEEK_MS, result: 'enqueued' });
  });

  test('an interrupted run is finished later, with the facts that were read before', async () => {
    // Slow, so that it is stopped in the middle; the next process is fast.
    world.env.ALMONER_RATE = '10/s';
    const app = await world.app();
    world.env.ALMONER_RATE = 'none';
    await world.file('jobs/weekly.yaml', RULE({ schedule: 'schedule: { cron: "0 9 * * 1", missed: skip }' }));
    await sync(app, ['weekly']);
    const first = await schedule(app);
    clock = MONDAY;
    await until('some facts', () => world.requests.length >= 4);
    await first.stop();
    const before = world.requests.length;
    expect(before).toBeLessThan(MEMBERS.length);
    clock = MONDAY + 3 * 24 * 3_600_000;
    const { runs } = await schedule(await world.app());
    await until('the run', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: MONDAY, result: 'enqueued' }]);
    expect(world.requests).toHaveLength(MEMBERS.length);
    expect(await batches(app)).toEqual(['rule weekly 2020-W47']);
  });
});

test('a clock stepped back by an hour passes a run’s time again without running it again', async () => {
  const app = await world.app();
  const later = {
    name: 'name: later',
    schedule: 'schedule: { cron: "30 9 * * 1", timezone: UTC, missed: once }',
  };
  await world.file('jobs/weekly.yaml', RULE());
  await world.file('jobs/later.yaml', RULE(later));
  await sync(app, ['weekly', 'later']);
  const { runs } = await schedule(app);
  clock = MONDAY + 5_000;
  await until('the run', () => runs.length === 1);
  const asked = world.requests.length;
  // An hour back, and past the time of the run once more.
  for (const time of [MONDAY - 3_595_000, MONDAY + 5_000]) {
    clock = time;
    const before = looks;
    await until('it to be looked a few times', () => looks > before + 4);
  }
  clock = MONDAY + 31 * 60_000;
  await until('the later run', () => runs.length === 2);
  expect(runs).toMatchObject([
    { rule: 'weekly', at: MONDAY },
    { rule: 'later', at: MONDAY + 30 * 60_000 },
  ]);
  expect(world.requests.length - asked).toBe(MEMBERS.length);
  expect(await batches(app)).toHaveLength(2);
});

test('two schedulers at once make one batch and read each fact once', async () => {
  const app = await world.app();
  await world.file('jobs/weekly.yaml', RULE());
  await sync(app, ['weekly']);
  const [one, other] = [await schedule(await world.app()), await schedule(await world.app())];
  clock = MONDAY;
  await until('a run', () => one.runs.length + other.runs.length > 0);
  await one.stop();
  await other.stop();
  expect([...one.runs, ...other.runs]).toMatchObject([{ result: 'enqueued' }]);
  expect(world.requests).toHaveLength(MEMBERS.length);
  expect(await batches(app)).toEqual(['rule weekly 2020-W47']);
  expect((await listRuns(await ledger(app))).map(({ state }) => state)).toEqual(['run']);
});

test('a daily run at 02:30 runs once on both days on which the clocks change', async () => {
  const app = await world.app();
  const daily = { name: 'name: daily', period: 'period: day', award: 'award: { tokens: 1 }' };
  const cron = (zone: string) => `schedule: { cron: "30 2 * * *", timezone: ${zone}, missed: once }`;
  await world.file('jobs/daily.yaml', RULE({ ...daily, schedule: cron('Europe/Berlin') }));
  for (const [day, from] of [
    ['2020-03-29', '2020-03-28T22:00:00Z'],
    ['2020-10-25', '2020-10-24T22:00:00Z'],
  ] as const) {
    clock = at(from);
    await world.file(
      'jobs/daily.yaml',
      RULE({ ...daily, schedule: cron('Europe/Berlin'), day: `description: ${day}` }),
    );
    await sync(app, ['daily']);
    const { runs, stop } = await schedule(app);
    for (let hour = 0; hour < 20; hour++) {
      clock += 3_600_000;
      const seen = runs.length;
      if (hour === 3) await until(`the run of ${day}`, () => runs.length > seen || runs.length === 1);
    }
    await stop();
    expect(runs).toHaveLength(1);
  }
  expect(await batches(app)).toEqual(['rule daily 2020-03-29', 'rule daily 2020-10-25']);
});

describe('wake-ups', () => {
  test('are adjusted to the wanted ones, and each one triggers its rule', async () => {
    const app = await world.app();
    const own = await ledger(app);
    const connection = () => app.store.connect('test');
    const wanted = ['one', 'two'].map((rule) => ({ rule, cron: '0 9 * * 1', timezone: 'Europe/Berlin' }));
    await syncWakeUps(own, connection(), wanted);
    await syncWakeUps(own, connection(), wanted.slice(1));
    const woken: string[] = [];
    const scheduler = startScheduler({
      ledger: own,
      connection: connection(),
      onWake: async (rule) => void woken.push(rule),
      onTrouble: () => {},
    });
    running.push(scheduler);
    const queue = new Queue(SCHEDULES_QUEUE, { connection: connection(), prefix: own.queuePrefix });
    expect((await queue.getJobSchedulers()).map(({ key }) => key)).toEqual(['two']);
    const delayed = await queue.getDelayed();
    expect(delayed).toHaveLength(1);
    await delayed[0]?.promote();
    await until('the wake-up', () => woken.includes('two'));
    expect(woken).not.toContain('one');
    await queue.close();
  });
});
