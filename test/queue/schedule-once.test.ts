import { describe, expect, test } from 'vitest';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { noteLastRun } from '../../src/ledger/notes/scheduled-times.js';
import { listBatches } from '../../src/ledger/read/batches.js';
import { lastRunOf, lastRuns } from '../../src/rules/approvals.js';
import { listRuns } from '../../src/rules/run-store.js';
import type { App } from '../../src/runtime/app.js';
import { batchRows, DAY_MS, dailySchedule, ledgerOf, MONDAY } from '../support/program/daily-schedule.js';
import { until } from '../support/until.js';

/** A scheduled time runs once, wherever a process dies and however many processes there are. */
const daily = dailySchedule();

const WRITES = ['eval', 'evalsha', 'hset', 'hdel', 'set', 'unlink'];

/** The process dies after that many writes following the seal of its batch; its later calls do nothing. */
function dyingAfterSeal(app: App, writes: number): { isDead(): boolean } {
  let left: number | undefined;
  const isDead = () => left !== undefined && left < 0;
  const { scripts } = app;
  const [script, send] = [scripts.script.bind(scripts), scripts.redis.sendCommand.bind(scripts.redis)];
  scripts.script = async (...call) => {
    const reply = await script(...call);
    if (call[0] === 'seal-batch') left = writes;
    return reply;
  };
  scripts.redis.sendCommand = (command, stream) => {
    if (left !== undefined && WRITES.includes(command.name)) left -= 1;
    // A bug of the program is not retried; a lost connection would be.
    if (isDead() && command.name !== 'quit') throw new TypeError('this process is dead');
    return send(command, stream);
  };
  return { isDead };
}

describe('a process that dies', () => {
  test.each([0, 1, 2])('%i writes after the seal has run the rule for that time', async (writes) => {
    const first = await daily.app();
    const { isDead } = dyingAfterSeal(first, writes);
    await daily.schedule(first);
    daily.clock = MONDAY;
    await until('the death, or the end of the run', async () => isDead() || (await isNoted(first)));
    const app = await daily.app();
    // A second run would pay this member, too.
    await daily.audience('101', '102', '103');
    await daily.endClaims();
    const runs = await daily.schedule(app);
    await daily.looked();
    expect(await batchRows(app)).toEqual([2]);
    expect((await lastRuns(ledgerOf(app))).get('daily')).toMatchObject({ at: MONDAY, result: 'enqueued' });
    expect((await listRuns(ledgerOf(app))).map(({ state }) => state)).toEqual(['run']);
    daily.clock = MONDAY + DAY_MS;
    await until('the run of the next day', () => runs.some(({ at }) => at === daily.clock));
    expect(await batchRows(app)).toEqual([2, 1]);
  });
});

async function isNoted(app: App): Promise<boolean> {
  return (await lastRuns(ledgerOf(app))).has('daily');
}

test('one of two processes with different plans for the same time makes a batch', async () => {
  const slow = await daily.app();
  const script = slow.scripts.script.bind(slow.scripts);
  let [looksForSpent, isAnswered, goOn] = [0, false, () => {}];
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  slow.scripts.script = async (...call) => {
    // Once for the plan, and once for its batch.
    if (call[0] === 'find-spent') looksForSpent += 1;
    if (looksForSpent === 2) await held;
    const reply = await script(...call);
    isAnswered ||= call[0] === 'seal-batch';
    return reply;
  };
  const late = await daily.schedule(slow);
  daily.clock = MONDAY;
  await until('the plan of the first', () => looksForSpent === 2);
  await daily.audience('103');
  await daily.endClaims();
  const quick = await daily.app();
  const runs = await daily.schedule(quick);
  await until('the second', () => runs.length > 0);
  goOn();
  await until('the first to have asked for its seal', () => isAnswered);
  await daily.looked();
  expect(runs).toMatchObject([{ at: MONDAY, result: 'enqueued' }]);
  expect(late).toEqual([]);
  expect(await batchRows(quick)).toEqual([1]);
  // The other plan holds nothing: the next day pays its members.
  await daily.audience('101', '102', '103');
  daily.clock = MONDAY + DAY_MS;
  await until('the next day', () => [...runs, ...late].some(({ at }) => at === daily.clock));
  expect(await batchRows(quick)).toEqual([1, 2]);
});

test('the next time pays orders again that were cancelled', async () => {
  const app = await daily.app();
  const runs = await daily.schedule(app);
  for (const [at, made] of [
    [MONDAY, [2]],
    [MONDAY + DAY_MS, [2, 2]],
  ] as const) {
    daily.clock = at;
    await until('the run', () => runs.length === made.length);
    expect(await batchRows(app)).toEqual(made);
    const last = (await listBatches(ledgerOf(app))).at(-1);
    if (last === undefined) throw new Error('no batch');
    await cancelBatch(last, { at, who: 'ada', what: 'cancelled', why: null });
  }
  expect(new Set(runs.map(({ batch }) => batch)).size).toBe(2);
});

test('one process records the outcome of a time, even if no member is paid or the run failed', async () => {
  const own = ledgerOf(await daily.app());
  const nothing = lastRunOf({ at: MONDAY, period: '2020-11', result: 'nothing' }, MONDAY + 1);
  expect(await noteLastRun(own, 'daily', nothing)).toBe(true);
  expect(await noteLastRun(own, 'daily', nothing)).toBe(true);
  for (const result of ['failed', 'stopped', 'enqueued'] as const)
    expect(
      await noteLastRun(own, 'daily', lastRunOf({ at: MONDAY, period: '2020-11', result }, MONDAY + 2)),
    ).toBe(false);
  expect(
    await noteLastRun(
      own,
      'daily',
      lastRunOf({ at: MONDAY + DAY_MS, period: '2020-11', result: 'failed' }, 0),
    ),
  ).toBe(true);
  expect((await lastRuns(own)).get('daily')).toMatchObject({ at: MONDAY + DAY_MS, result: 'failed' });
});
