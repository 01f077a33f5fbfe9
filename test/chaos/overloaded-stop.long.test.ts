import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readBatch } from '../../src/ledger/read/batches.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** A machine with more to do than it can: a desk with a worker that is asked to stop leaves nothing unknown. */
const ROWS = 600;
const CONCURRENCY = 50;
let world: Program;
const burners: ChildProcess[] = [];

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: uniqueRows(ROWS).seeds,
      faults: ['latency:1:200'],
      totalMs: 30_000,
    }),
  );
});
afterEach(() => {
  for (const burner of burners.splice(0)) burner.kill('SIGKILL');
});
afterAll(() => world.end());

test('every request that is under way at the signal is settled before it ends', async () => {
  const ref = await world.imported('many.csv', uniqueRows(ROWS).csv);
  for (let i = 0; i < 4; i++) burners.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  for (const paid of [30, 150, 270]) {
    const desk = world.start([
      ...['serve', '--with-worker', '--port', '0', '--json'],
      ...['--concurrency', String(CONCURRENCY)],
    ]);
    await until(
      `${paid} payments: ${desk.stderr()}`,
      async () => (await world.appliedCount()) >= paid,
      60_000,
    );
    desk.child.kill('SIGTERM');
    expect(await desk.ended, desk.stderr()).toBe(0);
    const counts = (await readBatch(ref))?.counts ?? {};
    const applied = await world.appliedWhenQuiet();
    expect(counts).toEqual({ paid: applied, planned: ROWS - applied });
    expect(applied).toBeLessThan(ROWS);
  }
}, 180_000);
