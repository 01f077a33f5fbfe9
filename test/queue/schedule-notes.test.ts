import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ruleRows } from '../../src/desk/rules.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { listBatches } from '../../src/ledger/read/batches.js';
import { lastRuns, scheduledRules } from '../../src/rules/approvals.js';
import { listRuns } from '../../src/rules/run-store.js';
import { dying } from '../support/machines/dying.js';
import { almoner } from '../support/program/almoner.js';
import { batchRows, DAY_MS, dailySchedule, ledgerOf, MONDAY } from '../support/program/daily-schedule.js';
import { REALM_ID } from '../support/program/program.js';
import { until } from '../support/until.js';

/** The recorded outcome of a scheduled time is what happened, and does not keep a later time from running. */
const daily = dailySchedule();

const command = (...args: string[]) => almoner(args, { env: daily.world().env, cwd: daily.world().folder });
const members = (...ids: string[]) =>
  daily.world().realm.admin.putMembers(
    REALM_ID,
    ids.map((member) => ({ member, tokens: 0 })),
  );

test('a time that meets an unfinished run of its period is skipped and says so; the next one pays the missing members', async () => {
  await members('101', '102', '103');
  const begun = await command('rules', 'run', 'daily', '--at', '2020-11-15', '--yes', '--first', '1');
  expect(begun.status, begun.stderr).toBe(5);
  await daily.audience('101', '102', '103');
  const app = await daily.app();
  const runs = await daily.schedule(app);
  daily.clock = MONDAY;
  await until('the note', () => runs.length > 0);
  const [paused] = await listBatches(ledgerOf(app));
  const why = expect.stringMatching(`Nothing was enqueued: batch ${paused?.id}, .* is paused`);
  expect(runs).toMatchObject([{ at: MONDAY, result: 'skipped', batch: paused?.id, message: why }]);
  expect(await batchRows(app)).toEqual([2]);
  const list = await command('rules', 'list', '--json');
  // The list uses the store’s time, for which years have passed without a serving process.
  expect(JSON.parse(list.stdout).rules).toMatchObject([
    { lastScheduled: { at: MONDAY, result: 'skipped', message: why }, standing: { outcome: 'unserved' } },
  ]);
  const [row] = await ruleRows(app, daily.world().folder);
  expect(row).toMatchObject({
    last: { batch: paused?.id, result: 'paused' },
    standing: { outcome: 'unserved', isGood: false },
  });

  if (paused === undefined) throw new Error('no batch');
  await cancelBatch(paused, { at: 0, who: 'ada', what: 'cancelled', why: null });
  daily.clock = MONDAY + DAY_MS;
  await until('the next time', () => runs.length > 1);
  expect(runs[1]).toMatchObject({ at: MONDAY + DAY_MS, result: 'enqueued', message: null });
  expect(await batchRows(app), 'all but the one who was paid').toEqual([2, 2]);
}, 60_000);

describe('a machine whose clock is a year ahead', () => {
  const ahead = () => Math.floor(performance.timeOrigin + performance.now()) + 365 * DAY_MS;

  test('records no time that the store has not reached, and suppresses none', async () => {
    const app = await daily.app();
    const runs = await daily.schedule(app);
    daily.clock = ahead();
    await until('its plan', async () => (await listRuns(ledgerOf(app))).some(({ at }) => at > Date.now()));
    await daily.looked();
    daily.clock = MONDAY;
    await until('the run', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: MONDAY, result: 'enqueued' }]);
    expect((await lastRuns(ledgerOf(app))).get('daily')).toMatchObject({ at: MONDAY });
    expect(await batchRows(app)).toEqual([2]);
  }, 60_000);

  test('uses the store’s time for its runs, an approval and its list', async () => {
    const app = await daily.app();
    vi.spyOn(Date, 'now').mockImplementation(ahead);
    const runs = await daily.schedule(app, 'its own');
    await until('the run', () => runs.length > 0);
    await appendFile(
      join(daily.world().folder, 'jobs/daily.yaml'),
      '\n# changed, so that it needs another go\n',
    );
    await command('rules', 'sync', '--approve', 'daily');
    const list = await command('rules', 'list', '--json');
    vi.restoreAllMocks();
    const [entry] = await scheduledRules(ledgerOf(app));
    const [listed] = JSON.parse(list.stdout).rules;
    expect(runs).toMatchObject([{ result: 'enqueued' }]);
    for (const time of [runs[0]?.at, entry?.approved?.at, Date.parse(listed.next)])
      expect(Math.abs((time ?? 0) - Date.now())).toBeLessThan(2 * DAY_MS);
  }, 60_000);
});

/** A person pays a member manually what the rule would, but with another amount. */
async function payByHand(member: string): Promise<void> {
  await members(member);
  const file = `member,tokens,reference\n${member},7,rule:daily:2020-11:${member}\n`;
  const ran = await command('run', await daily.world().file('hand.csv', file), '--yes');
  expect(ran.status, ran.stderr).toBe(0);
}

describe('a run that was cut off before its seal', () => {
  async function cutOff(at: 'opening' | 'storing') {
    const app = await daily.app();
    const death = dying(app, at);
    await daily.schedule(app);
    daily.clock = MONDAY;
    await death;
    await daily.endClaims();
  }

  test('is resumed by the schedule: a member paid meanwhile is a duplicate, whatever the amount', async () => {
    await cutOff('opening');
    await payByHand('101');
    const app = await daily.app();
    const [cut] = await listRuns(ledgerOf(app));
    const runs = await daily.schedule(app);
    await until('the run', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: MONDAY, result: 'enqueued', run: cut?.id }]);
    expect(await batchRows(app)).toEqual([1, 2]);
  }, 60_000);

  test('is resumed manually in the same way, even if a part of it was stored', async () => {
    const everybody = Array.from({ length: 300 }, (_, index) => String(101 + index));
    await daily.audience(...everybody);
    await cutOff('storing');
    await payByHand('400');
    const ran = await command('rules', 'run', 'daily', '--at', '2020-11-16', '--yes', '--import', '--json');
    expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 300, counts: { planned: 299, duplicate: 1 } });
    expect(await batchRows(await daily.app())).toEqual([300, 1]);
  }, 60_000);
});
