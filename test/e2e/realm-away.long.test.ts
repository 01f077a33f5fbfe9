import { expect, onTestFinished, test } from 'vitest';
import { openMortalRealm } from '../support/program/realm-away.js';
import { until } from '../support/until.js';

test('a realm that goes away in the middle of sixty rows: no order fails, all are paid once', async () => {
  const { world, leave, comeBack, breakerOpens, probes } = await openMortalRealm(60, { rate: '20/s' });
  onTestFinished(() => world.end());
  const run = world.start(['run', 'pay.csv', '--yes', '--json']);
  await until('payments', async () => (await world.appliedCount()) >= 10, 60_000);
  await leave();
  await breakerOpens(run.stderr);
  await probes(3);
  await comeBack();
  const status = await run.ended;
  const { state, counts } = JSON.parse(run.stdout());
  expect(state).toBe('done');
  // Requests under way at the kill become doubts, at most those of a second at 20/s. All other orders are paid.
  expect((counts.paid ?? 0) + (counts.doubt ?? 0)).toBe(60);
  expect(counts.doubt ?? 0).toBeLessThanOrEqual(20);
  expect(status, run.stderr()).toBe(counts.doubt > 0 ? 4 : 0);
  expect(await world.appliedCount()).toBeGreaterThanOrEqual(counts.paid);
  expect(await world.appliedCount()).toBeLessThanOrEqual(60);
}, 120_000);

test('away for longer than the breaker stays open, the run ends 5 with the reason, and resume goes on', async () => {
  const { world, leave, comeBack } = await openMortalRealm(30, { limits: { breakerHaltMs: 1_000 } });
  onTestFinished(() => world.end());
  await leave();
  const run = world.start(['run', 'pay.csv', '--yes', '--json']);
  expect(await run.ended, run.stderr()).toBe(5);
  const halted = JSON.parse(run.stdout());
  expect(halted).toMatchObject({
    state: 'halted',
    reason: { code: 'ALM_BATCH_BREAKER' },
    counts: { planned: 30 },
  });
  expect((await world.run('resume', 'last')).status).toBe(5);
  await comeBack();
  const resumed = await world.run('resume', 'last', '--json');
  expect(resumed.status, resumed.stderr).toBe(0);
  const worker = world.start(['worker']);
  await until(
    `all to be paid: ${worker.stderr()}`,
    async () => JSON.parse((await world.run('status', 'last', '--json')).stdout).state === 'done',
    30_000,
  );
  expect(await world.applied()).toHaveLength(30);
}, 120_000);
