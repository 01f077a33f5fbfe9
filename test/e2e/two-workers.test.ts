import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseFaults } from '../../src/realm/server/faults.js';
import { mixedRows } from '../support/mixed-rows.js';
import { auditReport } from '../support/program/auditor.js';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';

const ROWS = 300;
const { csv, seeds } = mixedRows(ROWS, 150);
let world: Program;

beforeAll(async () => {
  world = await Program.start({
    members: seeds,
    profile: {
      timeouts: { responseMs: 1_500, totalMs: 2_000 },
      attempts: { max: 10, backoffMs: 50, backoffMaxMs: 500 },
    },
    faults: parseFaults(['all:0.04', 'hang-before:0.01:300', 'hang-after:0.01:300', 'storm:0.001:300']),
  });
});
afterAll(() => world.end());

test('two workers, every fault at once: the service’s books and the report agree row by row', async () => {
  await world.file('mixed.csv', csv);
  const imported = await world.run('import', 'mixed.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const { batch } = JSON.parse(imported.stdout);
  const workers = [
    world.start(['worker', '--concurrency', '16']),
    world.start(['worker', '--concurrency', '16']),
  ];
  await until('all to be applied', async () => (await world.appliedCount()) === ROWS, 150_000);
  const done = await until(
    'the batch is done',
    async () => {
      const status = JSON.parse((await world.run('status', batch, '--json')).stdout);
      return status.state === 'done' ? status : undefined;
    },
    30_000,
  );
  for (const { child, ended } of workers) {
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  }
  expect(done.counts).toEqual({ paid: ROWS });
  const report = await world.run('report', batch, '--json');
  expect(report.status, report.stderr).toBe(0);
  const audited = await auditReport(await world.applied(), join(world.folder, 'reports'), batch);
  expect(audited).toEqual({ paid: ROWS, applied: ROWS, states: { paid: ROWS } });
}, 240_000);
