import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditReport } from '../support/auditor.js';
import { mixedRows } from '../support/mixed-rows.js';
import { startTown, type Town } from '../support/town.js';
import { until } from '../support/until.js';

const ROWS = 2_000;
const KILLS = 20;
const { csv, seeds } = mixedRows(ROWS, 150);
let town: Town;

beforeAll(async () => {
  // Some latency, so that twenty kills fall into the run and not after it.
  town = await startTown({
    members: seeds,
    serve: ['--fault', 'latency:1:150', '--fault', 'error-after:0.02', '--fault', 'reset-after:0.02'],
  });
  await town.file('mixed.csv', csv);
});
afterAll(() => town.end());

test('a run killed at twenty moments, its Redis every third time, pays everybody exactly once', async () => {
  let seed = 4711;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  let lastApplied = 0;
  for (let kill = 1; kill <= KILLS; kill++) {
    const run = town.start(['run', 'mixed.csv', '--yes', '--json']);
    // Killed after a random number of further payments, so that each kill falls into the middle of sending.
    const target = lastApplied + Math.ceil(random() * 80);
    const over = await until(
      `payment ${target}`,
      async () => {
        if (run.child.exitCode !== null) return 'ended';
        return (await appliedCount()) >= target ? 'reached' : undefined;
      },
      60_000,
    );
    expect(over, run.stderr()).toBe('reached');
    const died = once(run.child, 'close');
    run.child.kill('SIGKILL');
    await died;
    if (kill % 3 === 0) killEmbeddedRedis();
    lastApplied = await appliedCount();
  }
  const last = await town.run('run', 'mixed.csv', '--yes', '--json');
  expect(last.status, last.stderr).toBe(0);
  const { batch, counts, existing } = JSON.parse(last.stdout);
  expect({ counts, existing }).toEqual({ counts: { paid: ROWS }, existing: true });
  const audited = await auditReport(await town.applied(), join(town.folder, 'reports'), batch);
  expect(audited).toEqual({ paid: ROWS, applied: ROWS, states: { paid: ROWS } });
}, 240_000);

async function appliedCount(): Promise<number> {
  return (await town.applied()).length;
}

function killEmbeddedRedis(): void {
  const pid = Number(readFileSync(join(town.folder, 'data', 'redis', 'server.pid'), 'utf8'));
  process.kill(pid, 'SIGKILL');
}
