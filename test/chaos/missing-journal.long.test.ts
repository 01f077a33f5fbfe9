import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { auditByContent } from '../support/program/auditor.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** A worker's machine is lost with its disk, and the store is restarted: what it may have sent is a doubt. */
const ROWS = 60;
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: uniqueRows(ROWS).seeds,
      faults: ['latency:1:120'],
      limits: { mergePatienceMs: 500 },
    }),
  );
});
afterAll(() => world.end());

test('no order is sent until the lost session is given up; then its orders are doubts, never payments', async () => {
  await world.file('pay.csv', uniqueRows(ROWS).csv);
  const imported = await world.run('import', 'pay.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const ref = await findBatch(world.ledger().scripts, String(JSON.parse(imported.stdout).batch));
  const lost = world.start(['worker', '--concurrency', '4'], world.envOf('lost'));
  await until(`payments: ${lost.stderr()}`, async () => (await world.appliedCount()) >= 10, 60_000);
  lost.child.kill('SIGKILL');
  await lost.ended;
  await rm(join(world.folder, 'lost', 'journal'), { recursive: true });
  await world.store.kill();
  await world.store.restart();
  const applied = await world.appliedWhenQuiet();

  const run = world.start(['worker', '--concurrency', '4']);
  const view = await until(
    `the batch to be halted: ${run.stderr()}`,
    async () => {
      const found = await readBatch(ref);
      return found?.state === 'halted' ? found : undefined;
    },
    30_000,
  );
  expect(view.reason?.code).toBe('ALM_LEDGER_DISARMED');
  const [session = ''] = /[0-9a-f]{12}/.exec(view.reason?.message ?? '') ?? [];
  const doctor = await world.run('doctor', '--json');
  expect(doctor.stdout).toContain(session);
  const looked = await world.run('recover', '--json');
  expect(looked.status, looked.stderr).toBe(5);
  const wrongName = await world.run('recover', '--accept-missing', '000000000000');
  expect(wrongName.stderr).toContain('ALM_LEDGER_SESSION');

  const accepted = await world.run('recover', '--accept-missing', session, '--json');
  expect(accepted.status, accepted.stderr).toBe(0);
  await until(
    `the batch to be done: ${run.stderr()}`,
    async () => (await readBatch(ref))?.state === 'done',
    30_000,
  );
  expect(await world.appliedCount()).toBe(applied);
  const counts = (await readBatch(ref))?.counts ?? {};
  expect(JSON.parse(accepted.stdout).accepted).toMatchObject({ exact: false, orders: counts.doubt });
  expect((counts.paid ?? 0) + (counts.doubt ?? 0)).toBe(ROWS);
  await world.run('report', ref.id, '--json');
  const { wrong } = await auditByContent(await world.applied(), join(world.folder, 'reports'), ref.id);
  expect(wrong).toEqual([]);
}, 120_000);
