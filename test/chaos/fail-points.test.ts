import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAIL_POINTS, type FailPoint } from '../../src/core/fail-point.js';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { isStopped } from '../support/is-stopped.js';
import { MAIN } from '../support/program/almoner.js';
import { auditByContent } from '../support/program/auditor.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/**
 * A real worker is killed, or frozen for longer than every lock, at each step between claim and acknowledgement. The
 * realm honours no key and the certainty is manual, so a second payment or a needless doubt would show.
 */
const ROWS = 60;
const PRELOAD = fileURLToPath(new URL('../support/fail-point-preload.mjs', import.meta.url));

/** At these points the request is under way or its answer is not stored yet, so a death leaves the outcome unknown. */
const AMBIGUOUS: readonly FailPoint[] = ['intent-written', 'answered', 'result-journaled'];

function workerFailingAt(world: Program, point: FailPoint, signal: NodeJS.Signals) {
  return world.start(
    ['worker', '--concurrency', '1'],
    { FAIL_AT: `${point}:${signal}:3`, FAIL_POINTS: resolve(dirname(MAIN), '../core/fail-point.js') },
    ['--import', PRELOAD],
  );
}

describe.each(['SIGKILL', 'SIGSTOP'] as const)('%s', (signal) => {
  let world: Program;
  beforeAll(async () => {
    world = await Program.start(
      onBadNetwork({
        certainty: 'manual',
        members: uniqueRows(ROWS).seeds,
        // A pace makes the claim a step of its own.
        rate: '1000/s',
        limits: { lockMs: 1_000 },
        // On a busy machine an answer that comes late would be a doubt.
        totalMs: 20_000,
      }),
    );
  });
  afterAll(() => world.end());

  test('at every fail point: no member is paid twice, no order is reported wrongly, no doubt is needless', async () => {
    await world.file('pay.csv', uniqueRows(ROWS).csv);
    const imported = await world.run('import', 'pay.csv', '--yes', '--json');
    expect(imported.status, imported.stderr).toBe(0);
    const ref = await findBatch(world.ledger().scripts, String(JSON.parse(imported.stdout).batch));
    // At once: each meets what the others leave, and takes three orders at most.
    const failing = FAIL_POINTS.map((point) => ({ point, ...workerFailingAt(world, point, signal) }));
    for (const { point, child, ended, stderr } of failing)
      if (signal === 'SIGKILL') expect(await ended, `${point}: ${stderr()}`).toBe(null);
      else await until(`the worker to freeze at ${point}: ${stderr()}`, () => isStopped(child.pid), 60_000);
    const last = world.start(['worker', '--concurrency', '4']);
    if (signal === 'SIGSTOP') {
      // All that nobody holds is paid while they are frozen, which takes longer than every lock.
      await until(
        `the others to be paid: ${last.stderr()}`,
        async () => ((await readBatch(ref))?.counts.planned ?? 0) === 0,
        60_000,
      );
      for (const { child } of failing) child.kill('SIGCONT');
    }
    await until(
      `the batch to be done: ${last.stderr()}`,
      async () => (await readBatch(ref))?.state === 'done',
      60_000,
    );
    await world.run('report', ref.id, '--json');
    const reports = join(world.folder, 'reports');
    const { states, wrong } = await auditByContent(await world.applied(), reports, ref.id);
    expect(wrong).toEqual([]);
    const { paid = 0, doubt = 0 } = states;
    expect(paid + doubt).toBe(ROWS);
    // One order at a time was under way, so each death leaves one doubt at most, and a freeze none.
    expect(doubt).toBeLessThanOrEqual(signal === 'SIGKILL' ? AMBIGUOUS.length : 0);
  }, 180_000);
});
