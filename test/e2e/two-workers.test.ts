import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditReport } from '../support/auditor.js';
import { mixedRows } from '../support/mixed-rows.js';
import { startTown, type Town } from '../support/town.js';
import { until } from '../support/until.js';

const ROWS = 2_000;
const { csv, seeds } = mixedRows(ROWS, 150);
let town: Town;

beforeAll(async () => {
  const quick = 'realms:\n  town:\n';
  town = await startTown({
    members: seeds,
    serve: [
      '--fault',
      'all:0.02',
      '--fault',
      'hang-before:0.002:300',
      '--fault',
      'hang-after:0.002:300',
      '--fault',
      'storm:0.002:300',
    ],
  });
  await town.file(
    'almoner.config.yaml',
    `${quick}    baseUrl: ${town.realm.url}\n    realmId: town\n    keyEnv: ALMONER_API_KEY\n    rate: none\n    certainty: idempotent\n    timeouts: { responseMs: 1500, totalMs: 2000 }\n    attempts: { max: 10, backoffMs: 50, backoffMaxMs: 500 }\n`,
  );
});
afterAll(() => town.end());

test('two workers, every fault at once: the service’s books and the report agree row by row', async () => {
  await town.file('mixed.csv', csv);
  const imported = await town.run('import', 'mixed.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const { batch } = JSON.parse(imported.stdout);
  const workers = [
    town.start(['worker', '--concurrency', '16']),
    town.start(['worker', '--concurrency', '16']),
  ];
  const done = await until(
    'the batch is done',
    async () => {
      const status = JSON.parse((await town.run('status', batch, '--json')).stdout);
      return status.state === 'done' ? status : undefined;
    },
    150_000,
  );
  for (const { child, ended } of workers) {
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  }
  expect(done.counts).toEqual({ paid: ROWS });
  const report = await town.run('report', batch, '--json');
  expect(report.status, report.stderr).toBe(0);
  const audited = await auditReport(await town.applied(), join(town.folder, 'reports'), batch);
  expect(audited).toEqual({ paid: ROWS, applied: ROWS, states: { paid: ROWS } });
}, 240_000);
