import { expect, onTestFinished, test } from 'vitest';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** The same file is run twice at once on a store that was just restarted, and each order is paid once. */
const ROWS = 40;
const { csv, seeds } = uniqueRows(ROWS);
const RUN = ['run', 'pay.csv', '--yes', '--json'];

test('one of many machines, restarted in the middle of a run: both end well', async () => {
  const world = await Program.start(
    onBadNetwork({
      certainty: 'idempotent',
      members: seeds,
      faults: ['latency:1:60'],
      rate: '40/s',
      limits: { mergePatienceMs: 2_000 },
    }),
  );
  onTestFinished(() => world.end());
  await world.file('pay.csv', csv);
  const first = world.start(RUN);
  await until(`payments: ${first.stderr()}`, async () => (await world.appliedCount()) >= 5, 60_000);
  first.child.kill('SIGKILL');
  await first.ended;
  await world.store.kill();
  await world.store.restart();
  const runs = [world.start(RUN), world.start(RUN)];
  for (const run of runs) expect(await run.ended, run.stdout() + run.stderr()).toBe(0);
  const applied = await world.applied();
  expect(applied).toHaveLength(ROWS);
  expect(new Set(applied.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(ROWS);
}, 120_000);
