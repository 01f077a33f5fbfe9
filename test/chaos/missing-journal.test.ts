import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { Arena } from '../support/arena.js';
import { auditByContent } from '../support/auditor.js';
import { uniqueRows } from '../support/unique-rows.js';
import { until } from '../support/until.js';

/** A worker's machine is lost with its disk, and the store is restarted: what it may have sent is a doubt. */
const ROWS = 60;
let arena: Arena;

beforeAll(async () => {
  arena = await Arena.open({
    certainty: 'manual',
    members: uniqueRows(ROWS).seeds,
    realmFaults: ['--fault', 'latency:1:120'],
    limits: { mergePatienceMs: 500 },
  });
});
afterAll(() => arena.close());

test('nothing is sent until the lost session is named and given up; then its orders are doubts, never payments', async () => {
  await arena.file('pay.csv', uniqueRows(ROWS).csv);
  const imported = await arena.run('import', 'pay.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const ref = await findBatch(arena.ledger().scripts, String(JSON.parse(imported.stdout).batch));
  const lost = arena.start(['worker', '--concurrency', '4'], arena.env('lost'));
  await until(`payments: ${lost.stderr()}`, async () => (await arena.applied()).length >= 10, 60_000);
  lost.child.kill('SIGKILL');
  await lost.ended;
  await rm(join(arena.folder, 'lost', 'journal'), { recursive: true });
  await arena.store.kill();
  await arena.store.restart();
  const applied = await arena.appliedWhenQuiet();

  const run = arena.start(['worker', '--concurrency', '4']);
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
  const doctor = await arena.run('doctor', '--json');
  expect(doctor.stdout).toContain(session);
  const looked = await arena.run('recover', '--json');
  expect(looked.status, looked.stderr).toBe(5);
  const wrongName = await arena.run('recover', '--accept-missing', '000000000000');
  expect(wrongName.stderr).toContain('ALM_LEDGER_SESSION');

  const accepted = await arena.run('recover', '--accept-missing', session, '--json');
  expect(accepted.status, accepted.stderr).toBe(0);
  await until(
    `the batch to be done: ${run.stderr()}`,
    async () => (await readBatch(ref))?.state === 'done',
    30_000,
  );
  expect((await arena.applied()).length).toBe(applied);
  const counts = (await readBatch(ref))?.counts ?? {};
  expect(JSON.parse(accepted.stdout).accepted).toMatchObject({ exact: false, orders: counts.doubt });
  expect((counts.paid ?? 0) + (counts.doubt ?? 0)).toBe(ROWS);
  await arena.run('report', ref.id, '--json');
  const { wrong } = await auditByContent(await arena.applied(), join(arena.folder, 'reports'), ref.id);
  expect(wrong).toEqual([]);
}, 120_000);
