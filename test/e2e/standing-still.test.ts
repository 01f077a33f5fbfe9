import { expect, onTestFinished, test } from 'vitest';
import { openStandingStill } from '../support/program/standing-still.js';
import { until } from '../support/until.js';

/** `status` names every order that killed processes leave waiting, and the command that ends the wait. */
const ROWS = 60;

test('an import without a worker and a killed run: each reports its reason and what ends it', async () => {
  const { world, status, sendingNow } = await openStandingStill(ROWS, {
    faults: ['latency:1:1000'],
    rate: '1/s',
  });
  onTestFinished(() => world.end());
  const imported = await world.run('import', 'pay.csv', '--yes', '--json');
  expect(JSON.parse(imported.stdout).waiting).toMatchObject([
    { why: 'no-worker', orders: ROWS, until: null, next: 'almoner worker' },
  ]);
  const worker = world.start(['worker']);
  await until('the worker to have it', async () => (await status()).waiting.length === 0, 60_000);
  worker.child.kill('SIGTERM');
  await worker.ended;
  const { batch, counts, waiting, etaSeconds } = await status();
  expect({ waiting, etaSeconds }).toMatchObject({
    waiting: [{ why: 'no-worker', orders: counts.planned }],
    etaSeconds: null,
  });

  const run = world.start(['run', 'pay.csv', '--yes', '--json']);
  await sendingNow(1, run.stderr);
  run.child.kill('SIGKILL');
  await run.ended;
  const killed = await status();
  expect(killed).toMatchObject({ state: 'paused', etaSeconds: null });
  const named = killed.waiting.map(({ why, next }: { why: string; next: string }) => [why, next]);
  expect(named).toEqual([
    ['no-worker', `almoner resume ${batch}`],
    ['dead-session', `almoner resume ${batch}`],
  ]);
  const orders = killed.waiting.reduce((sum: number, one: { orders: number }) => sum + one.orders, 0);
  expect(orders).toBe((killed.counts.planned ?? 0) + killed.counts.sending);
}, 180_000);
