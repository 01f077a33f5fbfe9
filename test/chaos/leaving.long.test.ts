import { join } from 'node:path';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { auditByContent } from '../support/program/auditor.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** How workers leave: asked once, asked twice, and by themselves when they take no work. */
const ROWS = 80;
const CONCURRENCY = 4;
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: uniqueRows(ROWS * 2).seeds,
      faults: ['latency:1:120'],
      limits: { stalledMs: 1_000 },
      // No request ends by itself before the second signal comes.
      totalMs: 60_000,
    }),
  );
});
afterAll(() => world.end());

async function importFile(name: string, first: number) {
  await world.file(name, uniqueRows(ROWS, first).csv);
  const ran = await world.run('import', name, '--yes', '--json');
  expect(ran.status, ran.stderr).toBe(0);
  return findBatch(world.ledger().scripts, String(JSON.parse(ran.stdout).batch));
}

const worker = () => world.start(['worker', '--concurrency', String(CONCURRENCY)]);
const appliedAtLeast = (count: number, of: ReturnType<typeof worker>) =>
  until(`${count} payments: ${of.stderr()}`, async () => (await world.appliedCount()) >= count, 60_000);

test('one SIGTERM finishes the orders under way; a second leaves at once, and the next start recovers', async () => {
  const ref = await importFile('leaving.csv', 0);
  const polite = worker();
  await appliedAtLeast(10, polite);
  polite.child.kill('SIGTERM');
  expect(await polite.ended, polite.stderr()).toBe(0);
  const { sending = 0, doubt = 0 } = (await readBatch(ref))?.counts ?? {};
  expect({ sending, doubt }).toEqual({ sending: 0, doubt: 0 });

  const hasty = worker();
  await appliedAtLeast((await world.appliedCount()) + 10, hasty);
  // No answer comes any more, on old connections or new ones, and the worker is stopped once every slot waits for one:
  // signalled between two requests, it would have nothing under way and leave in peace.
  world.realmNet.mode = 'silent';
  world.realmNet.silence();
  await until(
    'every slot to wait for an answer',
    async () => (await readBatch(ref))?.counts.sending === CONCURRENCY,
  );
  hasty.child.kill('SIGTERM');
  await until('the first signal to be heard', () => hasty.stderr().includes('Stopping'));
  hasty.child.kill('SIGTERM');
  expect(await hasty.ended).toBe(130);
  world.realmNet.heal();

  const last = worker();
  await until(
    `the batch to be done: ${last.stderr()}`,
    async () => (await readBatch(ref))?.state === 'done',
    60_000,
  );
  last.child.kill('SIGTERM');
  await last.ended;
  await world.run('report', ref.id, '--json');
  const { states, wrong } = await auditByContent(
    await world.applied(),
    join(world.folder, 'reports'),
    ref.id,
  );
  expect(wrong).toEqual([]);
  expect((states.paid ?? 0) + (states.doubt ?? 0)).toBe(ROWS);
  expect(states.doubt ?? 0).toBeLessThanOrEqual(CONCURRENCY);
}, 120_000);

test('a worker that takes no work although work waits ends with 1 for its supervisor', async () => {
  const { keyPrefix } = world.ledger();
  const queue = new Queue('orders', { connection: world.store.client(), prefix: `${keyPrefix}:q` });
  const stalled = worker();
  await until(`the worker to be ready: ${stalled.stderr()}`, () => stalled.stderr().includes('Working for'));
  await queue.pause();
  const ref = await importFile('stalled.csv', ROWS);
  expect(await stalled.ended, stalled.stderr()).toBe(1);
  expect(stalled.stderr()).toContain('ALM_LEDGER_STALLED');
  expect((await readBatch(ref))?.counts).toEqual({ planned: ROWS });
  await queue.resume();
  await queue.close();
}, 60_000);
