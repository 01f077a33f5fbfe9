import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BatchRef, findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { auditByContent } from '../support/auditor.js';
import { RealmAndWorkers } from '../support/realm-and-workers.js';
import { uniqueRows } from '../support/unique-rows.js';
import { until } from '../support/until.js';

/** Wall clocks are set by an hour, both ways, while real workers send. They are wrong, not the monotonic ones. */
const PRELOAD = fileURLToPath(new URL('../support/stepped-clock-preload.mjs', import.meta.url));
const HOUR_MS = 3_600_000;
const ROWS = 150;
let world: RealmAndWorkers;

beforeAll(async () => {
  world = await RealmAndWorkers.open({
    certainty: 'idempotent',
    members: uniqueRows(ROWS * 3).seeds,
    realmFaults: ['latency:1:30', 'error-after:0.06', 'reset-after:0.06', 'error-before:0.06'],
    // A pace makes the ledger say when an order is due again.
    rate: '1000/s',
  });
});
afterAll(() => world.close());

async function setClock(of: string, offsetMs: number): Promise<void> {
  const path = join(world.folder, `${of}.clock`);
  await writeFile(`${path}.new`, String(offsetMs));
  await rename(`${path}.new`, path);
}

const worker = (name: string) =>
  world.start(['worker', '--concurrency', '4'], { CLOCK_FILE: join(world.folder, `${name}.clock`) }, [
    '--import',
    PRELOAD,
  ]);

async function importFile(name: string, first: number): Promise<BatchRef> {
  await world.file(name, uniqueRows(ROWS, first).csv);
  const ran = await world.run('import', name, '--yes', '--json');
  expect(ran.status, ran.stderr).toBe(0);
  return findBatch(world.ledger().scripts, String(JSON.parse(ran.stdout).batch));
}

const appliedAtLeast = (count: number, of: ReturnType<typeof worker>) =>
  until(`${count} payments: ${of.stderr()}`, async () => (await world.appliedCount()) >= count, 60_000);

async function verdicts(ref: BatchRef) {
  await world.run('report', ref.id, '--json');
  return auditByContent(await world.applied(), join(world.folder, 'reports'), ref.id);
}

test('clocks stepped by an hour, forwards, backwards and back again: nobody twice, nothing hangs', async () => {
  const ref = await importFile('steps.csv', 0);
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
  // A key whose age nobody can tell is not used again: a doubt, never a payment.
  expect(paid + doubt).toBe(ROWS);
}, 120_000);

test.each([
  ['ahead', HOUR_MS, 0],
  ['back', 0, -HOUR_MS],
] as const)(
  'what was put off for a moment does not wait for an hour when the clock was %s',
  async (_, before, after) => {
    const first = before === 0 ? 2 * ROWS : ROWS;
    const ref = await importFile(`put-off-${first}.csv`, first);
    await setClock('lone', before);
    await world.realmNet.shut();
    const lone = worker('lone');
    // Every order that is tried is refused a connection, and put off.
    await until(
      `some to be put off: ${lone.stderr()}`,
      async () =>
        (await Promise.all([1, 2, 3].map((i) => readRecord(ref, i)))).every(
          ({ code, attempts }) => code === 'w' && attempts > 0,
        ),
      60_000,
    );
    await setClock('lone', after);
    await world.realmNet.reopen();
    await until(
      `the batch to be done: ${lone.stderr()}`,
      async () => (await readBatch(ref))?.state === 'done',
      60_000,
    );
    lone.child.kill('SIGTERM');
    expect(await lone.ended, lone.stderr()).toBe(0);
    const { wrong } = await verdicts(ref);
    expect(wrong).toEqual([]);
  },
  120_000,
);
