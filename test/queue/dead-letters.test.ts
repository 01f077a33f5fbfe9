import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { DEAD_QUEUE, type DeadLetter, openQueue } from '../../src/queue/queues.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { startWorkerBeside } from '../support/program/worker-beside.js';
import { until } from '../support/until.js';

let world: Program;
beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({ certainty: 'idempotent', members: [{ member: '5001', tokens: 1 }] }),
  );
});
afterAll(() => world.end());

test('the board shows the outcome of a dead letter and the number of its tries', async () => {
  await world.file('pay.csv', 'member,tokens,reference\n5001,1,a\n5999,7,b\n');
  const imported = await world.run('import', 'pay.csv', '--yes', '--json');
  const { batch } = JSON.parse(imported.stdout);
  const ledger = world.ledger();
  const queue = openQueue<DeadLetter>(ledger, DEAD_QUEUE, world.store.client());
  const worker = await startWorkerBeside({ env: world.env, cwd: world.folder });
  const letter = (attempts: number) =>
    until(`a letter of ${attempts} attempts`, async () =>
      (await queue.getWaiting()).map(({ data }) => data).find((data) => data.attempts === attempts),
    );
  try {
    expect(await letter(1)).toMatchObject({
      order: `${batch}-2`,
      batch,
      line: 3,
      state: 'refused',
      class: 'ALM_REFUSED_NOT_FOUND',
      status: 404,
    });
    const ref = await findBatch(ledger.scripts, batch);
    await until('the batch to end', async () => (await readBatch(ref))?.state === 'done');
    const retried = await world.run('dead', 'retry', '--batch', batch, '--json');
    expect(retried.status, retried.stderr + retried.stdout).toBe(0);
    expect(await letter(2)).toMatchObject({ order: `${batch}-2`, state: 'refused' });
  } finally {
    await worker.stop();
    await queue.close();
  }
}, 120_000);
