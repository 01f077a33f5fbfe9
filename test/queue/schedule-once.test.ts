import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lastRunOf, lastRuns, noteLastRun } from '../../src/intake/rules/approvals.js';
import { listRuns } from '../../src/intake/rules/run-store.js';
import { listBatches, readBatch } from '../../src/ledger/batches.js';
import type { Books } from '../../src/ledger/books.js';
import { cancelBatch } from '../../src/ledger/steering.js';
import type { App } from '../../src/runtime/app.js';
import { syncRules } from '../../src/runtime/operations/rules-sync.js';
import { type ScheduledRun, startSchedules } from '../../src/runtime/operations/schedules.js';
import { REALM_ID, type RulesWorld, startRulesWorld } from '../support/rules-world.js';
import { until } from '../support/until.js';

/** A time of a schedule is dealt with once, wherever a process dies and however many there are. */
const SUNDAY = Date.parse('2026-11-15T12:00:00Z');
const MONDAY = Date.parse('2026-11-16T09:00:00Z');
const DAY_MS = 24 * 3_600_000;
const RULE = [
  'name: daily',
  `realm: ${REALM_ID}`,
  'schedule: { cron: "0 9 * * *", timezone: UTC, missed: once }',
  'period: month',
  'audience: { file: audience.csv }',
  'award: { tokens: 5 }',
  'limits: { perRun: 100 }',
  'reason: Daily',
].join('\n');

let world: RulesWorld;
let clock = SUNDAY;
let looks = 0;
const running: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  clock = SUNDAY;
  world = await startRulesWorld();
  await world.file('jobs/daily.yaml', RULE);
  await audience('101', '102');
  const app = await world.app();
  await syncRules(app, { cwd: world.folder, approve: ['daily'], prune: false, now: clock });
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  await world.end();
});

const audience = (...members: string[]) => world.file('jobs/audience.csv', `member\n${members.join('\n')}\n`);

async function schedule(app: App) {
  const runs: ScheduledRun[] = [];
  const now = () => {
    looks += 1;
    return clock;
  };
  const { signal: stop } = new AbortController();
  running.push(await startSchedules(app, { stop, now, lookEveryMs: 20, onRun: (run) => runs.push(run) }));
  return runs;
}

function books(app: App): Books {
  const [profile] = app.config.profiles;
  if (profile === undefined) throw new Error('no profile');
  return app.books(profile);
}

/** Rows of each batch of the rule. */
async function batches(app: App): Promise<(number | undefined)[]> {
  const views = await Promise.all((await listBatches(books(app))).map((ref) => readBatch(ref)));
  return views.map((view) => view?.manifest.rows);
}

/** The claim of a process that died, or was frozen, runs out. */
async function endClaims(): Promise<void> {
  const store = world.store.client();
  for (const key of await store.keys('*:rules:claim:*')) await store.del(key);
}

async function looked(): Promise<void> {
  const before = looks;
  await until('it to be looked a few times', () => looks > before + 6);
}

const WRITES = ['eval', 'evalsha', 'hset', 'hdel', 'set', 'unlink'];

/** The process dies with so many writes after the seal of its batch done; nothing it asks afterwards is. */
function dyingAfterSeal(app: App, writes: number): { isDead(): boolean } {
  let left: number | undefined;
  const isDead = () => left !== undefined && left < 0;
  const { caller } = app;
  const [script, send] = [caller.script.bind(caller), caller.redis.sendCommand.bind(caller.redis)];
  caller.script = async (...call) => {
    const reply = await script(...call);
    if (call[0] === 'seal-batch') left = writes;
    return reply;
  };
  caller.redis.sendCommand = (command, stream) => {
    if (left !== undefined && WRITES.includes(command.name)) left -= 1;
    if (isDead() && command.name !== 'quit') throw new Error('this process is dead');
    return send(command, stream);
  };
  return { isDead };
}

describe('a process that dies', () => {
  test.each([0, 1, 2])('%i writes after the seal has run the rule for that time', async (writes) => {
    const first = await world.app();
    const { isDead } = dyingAfterSeal(first, writes);
    await schedule(first);
    clock = MONDAY;
    await until('the death, or the end of the run', async () => isDead() || (await isNoted(first)));
    const app = await world.app();
    // Whoever ran it again would pay this one, too.
    await audience('101', '102', '103');
    await endClaims();
    const runs = await schedule(app);
    await looked();
    expect(await batches(app)).toEqual([2]);
    expect((await lastRuns(books(app))).get('daily')).toMatchObject({ at: MONDAY, result: 'enqueued' });
    expect((await listRuns(books(app))).map(({ state }) => state)).toEqual(['run']);
    clock = MONDAY + DAY_MS;
    await until('the run of the next day', () => runs.some(({ at }) => at === clock));
    expect(await batches(app)).toEqual([2, 1]);
  });
});

async function isNoted(app: App): Promise<boolean> {
  return (await lastRuns(books(app))).has('daily');
}

test('of two processes that have both planned the same time, differently, one makes a batch', async () => {
  const slow = await world.app();
  const script = slow.caller.script.bind(slow.caller);
  let [looksForSpent, isAnswered, goOn] = [0, false, () => {}];
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  slow.caller.script = async (...call) => {
    // Once for the plan, and once for the batch of it.
    if (call[0] === 'find-spent') looksForSpent += 1;
    if (looksForSpent === 2) await held;
    const reply = await script(...call);
    isAnswered ||= call[0] === 'seal-batch';
    return reply;
  };
  const late = await schedule(slow);
  clock = MONDAY;
  await until('the plan of the first', () => looksForSpent === 2);
  await audience('103');
  await endClaims();
  const quick = await world.app();
  const runs = await schedule(quick);
  await until('the second', () => runs.length > 0);
  goOn();
  await until('the first to have asked for its seal', () => isAnswered);
  await looked();
  expect(runs).toMatchObject([{ at: MONDAY, result: 'enqueued' }]);
  expect(late).toEqual([]);
  expect(await batches(quick)).toEqual([1]);
  // Nothing of the other plan is held: the next day pays who was in it.
  await audience('101', '102', '103');
  clock = MONDAY + DAY_MS;
  await until('the next day', () => [...runs, ...late].some(({ at }) => at === clock));
  expect(await batches(quick)).toEqual([1, 2]);
});

test('the next time pays the very same orders again that were cancelled', async () => {
  const app = await world.app();
  const runs = await schedule(app);
  for (const [at, made] of [
    [MONDAY, [2]],
    [MONDAY + DAY_MS, [2, 2]],
  ] as const) {
    clock = at;
    await until('the run', () => runs.length === made.length);
    expect(await batches(app)).toEqual(made);
    const last = (await listBatches(books(app))).at(-1);
    await cancelBatch(books(app), last?.no ?? '', { at, who: 'ada', what: 'cancelled', why: null });
  }
  expect(new Set(runs.map(({ batch }) => batch)).size).toBe(2);
});

test('what became of a time is noted by one, also where nobody is paid or the run failed', async () => {
  const own = books(await world.app());
  const nothing = lastRunOf({ at: MONDAY, result: 'nothing' }, MONDAY + 1);
  expect(await noteLastRun(own, 'daily', nothing)).toBe(true);
  expect(await noteLastRun(own, 'daily', nothing)).toBe(true);
  for (const result of ['failed', 'stopped', 'enqueued'] as const)
    expect(await noteLastRun(own, 'daily', lastRunOf({ at: MONDAY, result }, MONDAY + 2))).toBe(false);
  expect(await noteLastRun(own, 'daily', lastRunOf({ at: MONDAY + DAY_MS, result: 'failed' }, 0))).toBe(true);
  expect((await lastRuns(own)).get('daily')).toMatchObject({ at: MONDAY + DAY_MS, result: 'failed' });
});
