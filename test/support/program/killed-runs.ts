import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseFaults } from '../../../src/realm/server/faults.js';
import { mixedRows } from '../mixed-rows.js';
import { until } from '../until.js';
import { auditReport } from './auditor.js';
import { Program } from './program.js';

/** The number of requests that a run has under way. A killed run's requests may still arrive at the realm. */
const UNDER_WAY = 64;

/** Kills a run `kills` times while it sends, and its Redis every third time. Every member is paid exactly once. */
export async function expectPaidOnceDespite(kills: number, rows: number): Promise<void> {
  const { csv, seeds } = mixedRows(rows, 150);
  // Latency slows the run down, so that all kills fall into it.
  const world = await Program.start({
    members: seeds,
    limits: { lockMs: 2_000 },
    profile: { attempts: { backoffMs: 50, backoffMaxMs: 500 } },
    store: 'embedded',
    faults: parseFaults(['latency:1:150', 'error-after:0.02', 'reset-after:0.02']),
  });
  const killEmbeddedRedis = () =>
    process.kill(Number(readFileSync(join(world.folder, 'data', 'redis', 'server.pid'), 'utf8')), 'SIGKILL');
  try {
    await world.file('mixed.csv', csv);
    let seed = 4711;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed / 2_147_483_648;
    };
    let lastApplied = 0;
    for (let kill = 1; kill <= kills; kill++) {
      const run = world.start(['run', 'mixed.csv', '--yes', '--json']);
      // Each kill comes after a random number of the run's own payments, so that it falls into the sending.
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
    expect({ counts, existing }).toEqual({ counts: { paid: rows }, existing: true });
    const audited = await auditReport(await world.applied(), join(world.folder, 'reports'), batch);
    expect(audited).toEqual({ paid: rows, applied: rows, states: { paid: rows } });
  } finally {
    await world.end();
  }
}
