import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseFaults } from '../../src/realm/server/faults.js';
import { auditReport } from '../support/auditor.js';
import { mixedRows } from '../support/mixed-rows.js';
import { type RealmAndOperator, startRealmAndOperator } from '../support/realm-and-operator.js';
import { until } from '../support/until.js';

const ROWS = 1_200;
const KILLS = 8;
/** What a run has under way at once: so much of a killed one may still arrive at the realm. */
const UNDER_WAY = 64;
const { csv, seeds } = mixedRows(ROWS, 150);
let world: RealmAndOperator;

beforeAll(async () => {
  // Some latency, so that all kills fall into the run and not after it.
  world = await startRealmAndOperator({
    members: seeds,
    limits: { lockMs: 2_000 },
    profile: { attempts: { backoffMs: 50, backoffMaxMs: 500 } },
    embedded: true,
    faults: parseFaults(['latency:1:150', 'error-after:0.02', 'reset-after:0.02']),
  });
  await world.file('mixed.csv', csv);
});
afterAll(() => world.end());

test('a run killed at eight moments, its Redis every third time, pays everybody exactly once', async () => {
  let seed = 4711;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  let lastApplied = 0;
  for (let kill = 1; kill <= KILLS; kill++) {
    const run = world.start(['run', 'mixed.csv', '--yes', '--json']);
    // Killed after a random number of its own payments, so that each kill falls into the middle of sending.
    const target = lastApplied + UNDER_WAY + Math.ceil(random() * 40);
    const over = await until(
      `payment ${target}`,
      async () => {
        if (run.child.exitCode !== null) return 'ended';
        return (await world.appliedCount()) >= target ? 'reached' : undefined;
      },
      60_000,
    );
    expect(over, run.stderr()).toBe('reached');
    const died = once(run.child, 'close');
    run.child.kill('SIGKILL');
    await died;
    if (kill % 3 === 0) killEmbeddedRedis();
    lastApplied = await world.appliedCount();
  }
  const last = await world.run('run', 'mixed.csv', '--yes', '--json');
  expect(last.status, last.stderr).toBe(0);
  const { batch, counts, existing } = JSON.parse(last.stdout);
  expect({ counts, existing }).toEqual({ counts: { paid: ROWS }, existing: true });
  const audited = await auditReport(await world.applied(), join(world.folder, 'reports'), batch);
  expect(audited).toEqual({ paid: ROWS, applied: ROWS, states: { paid: ROWS } });
}, 240_000);

function killEmbeddedRedis(): void {
  const pid = Number(readFileSync(join(world.folder, 'data', 'redis', 'server.pid'), 'utf8'));
  process.kill(pid, 'SIGKILL');
}
