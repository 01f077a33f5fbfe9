import { expect, test } from 'vitest';
import { listBatches, readBatch } from '../../src/ledger/read/batches.js';
import { addToken } from '../../src/operations/people/manage-tokens.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import type { App } from '../../src/runtime/app.js';
import { feed } from '../support/ledger/feed-one.js';
import { DAY_MS, dailySchedule, ledgerOf, MONDAY } from '../support/program/daily-schedule.js';
import { requireApproval } from '../support/program/require-approval.js';
import { until } from '../support/until.js';

/** In a realm that requires a second person, a schedule pays what two people saw: this text, for these members. */
const daily = dailySchedule();

/** Approves the rule with its current files, one person after the other. */
async function say(app: App, ...names: readonly string[]): Promise<void> {
  for (const name of names)
    await syncRules(app.as({ name, roles: ['operator', 'approver'] }), {
      ...{ cwd: daily.world().folder, approve: ['daily'], prune: false },
      now: daily.clock,
    });
}

async function twoPeople(): Promise<App> {
  const app = await daily.app();
  for (const name of ['ada', 'ben']) await addToken(app, name, ['operator', 'approver']);
  await requireApproval(app);
  return app;
}

/** Each batch’s state before it begins, and what the workers get of it, oldest first. */
async function begun(app: App) {
  const ledger = ledgerOf(app);
  return Promise.all(
    (await listBatches(ledger)).map(async (ref) => {
      const view = await readBatch(ref);
      const fed = await feed(ledger, ref.no, 100, '');
      return { why: view?.reason?.code ?? null, rows: view?.manifest.rows, fed: fed.length };
    }),
  );
}

async function atNine(day: number, runs: readonly unknown[]): Promise<void> {
  const before = runs.length;
  daily.clock = MONDAY + day * DAY_MS;
  await until('the run', () => runs.length > before);
}

test('a member list changed after two approvals is paid once two people have seen the new one', async () => {
  const app = await twoPeople();
  await say(app, 'ada', 'ben');
  const runs = await daily.schedule(app);
  await atNine(0, runs);
  const paid = { why: null, rows: 2, fed: 2 };
  expect(await begun(app)).toEqual([paid]);

  await daily.audience('101', '102', '103');
  await atNine(1, runs);
  const waits = { why: 'ALM_BATCH_APPROVAL', rows: 1, fed: 0 };
  expect(await begun(app)).toEqual([{ ...paid, fed: 0 }, waits]);

  // Seeing the new list by one of the two is not enough.
  await daily.audience('101', '102', '103', '104');
  await say(app, 'ben');
  await atNine(2, runs);
  expect((await begun(app)).slice(1)).toEqual([waits, waits]);
  await daily.audience('101', '102', '103', '104', '105');
  await say(app, 'ada', 'ben');
  await atNine(3, runs);
  expect((await begun(app)).slice(1)).toEqual([waits, waits, { why: null, rows: 1, fed: 1 }]);
  expect(runs).toMatchObject(Array.from({ length: 4 }, () => ({ result: 'enqueued' })));
}, 120_000);

test('an approval from before a second person was required counts as that of one person', async () => {
  const app = await twoPeople();
  const runs = await daily.schedule(app);
  await atNine(0, runs);
  expect(await begun(app)).toEqual([{ why: 'ALM_BATCH_APPROVAL', rows: 2, fed: 0 }]);
}, 120_000);
