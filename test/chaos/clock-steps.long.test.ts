import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBatch } from '../../src/ledger/read/batches.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { HOUR_MS, steppedClocks } from '../support/program/stepped-clocks.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** The wall clocks of two workers are set by an hour, both ways, while they send. They are wrong, not the monotonic ones. */
const ROWS = 150;
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'idempotent',
      members: uniqueRows(ROWS).seeds,
      faults: ['latency:1:30', 'error-after:0.06', 'reset-after:0.06', 'error-before:0.06'],
      // A pace makes the ledger say when an order is due again.
      rate: '1000/s',
    }),
  );
});
afterAll(() => world.end());

const { worker, setClock, verdicts } = steppedClocks(() => world);

const appliedAtLeast = (count: number, of: ReturnType<typeof worker>) =>
  until(`${count} payments: ${of.stderr()}`, async () => (await world.appliedCount()) >= count, 60_000);

test('clocks stepped by an hour in both directions: no member is paid twice and no order hangs', async () => {
  const ref = await world.imported('steps.csv', uniqueRows(ROWS).csv);
  const workers = [worker('one'), worker('two')] as const;
  await appliedAtLeast(25, workers[0]);
  await setClock('one', HOUR_MS);
  await setClock('two', -HOUR_MS);
  await appliedAtLeast(50, workers[0]);
  await setClock('one', -HOUR_MS);
  await setClock('two', HOUR_MS);
  await appliedAtLeast(75, workers[0]);
  await setClock('one', 0);
  await setClock('two', 0);
  // What was put off for a moment by a clock that was wrong must not wait for an hour by one that is right.
  await until(
    `the batch to be done: ${workers.map(({ stderr }) => stderr()).join('\n')}`,
    async () => (await readBatch(ref))?.state === 'done',
    60_000,
  );
  for (const { child } of workers) child.kill('SIGTERM');
  for (const { ended, stderr } of workers) expect(await ended, stderr()).toBe(0);
  const { states, wrong } = await verdicts(ref);
  expect(wrong).toEqual([]);
  const { paid = 0, doubt = 0 } = states;
  // A key of unknown age is not reused: the order becomes a doubt, never a second payment.
  expect(paid + doubt).toBe(ROWS);
}, 120_000);
