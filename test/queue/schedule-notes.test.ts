import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { lastRuns, scheduledRules } from '../../src/intake/rules/approvals.js';
import { listRuns } from '../../src/intake/rules/run-store.js';
import { batchRows, booksOf, DAY_MS, dailySchedule, MONDAY } from '../support/daily-schedule.js';
import { rulesCommand } from '../support/rules-commands.js';
import { until } from '../support/until.js';

/** What is noted of a time of a schedule is what happened, and keeps no later time from its run. */
const daily = dailySchedule();

const command = (...args: string[]) => rulesCommand(args, daily.world().env, daily.world().folder);

describe('a machine whose clock is a year ahead', () => {
  const ahead = () => performance.timeOrigin + performance.now() + 365 * DAY_MS;

  test('notes no time that the store has not reached, and silences none', async () => {
    const app = await daily.app();
    const runs = await daily.schedule(app);
    daily.clock = ahead();
    await until('its plan', async () => (await listRuns(booksOf(app))).some(({ at }) => at > Date.now()));
    await daily.looked();
    daily.clock = MONDAY;
    await until('the run', () => runs.length > 0);
    expect(runs).toMatchObject([{ at: MONDAY, result: 'enqueued' }]);
    expect((await lastRuns(booksOf(app))).get('daily')).toMatchObject({ at: MONDAY });
    expect(await batchRows(app)).toEqual([2]);
  }, 60_000);

  test('goes by the time of the store, in its runs, in a go and in what it lists', async () => {
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
    const [entry] = await scheduledRules(booksOf(app));
    const [listed] = JSON.parse(list.stdout).rules;
    expect(runs).toMatchObject([{ result: 'enqueued' }]);
    for (const time of [runs[0]?.at, entry?.approved?.at, Date.parse(listed.next)])
      expect(Math.abs((time ?? 0) - Date.now())).toBeLessThan(2 * DAY_MS);
  }, 60_000);
});
