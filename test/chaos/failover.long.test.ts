import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { auditByContent } from '../support/program/auditor.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { freePort, startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** Promoting a replica loses writes that were acknowledged, also with an fsync on every write of both. */
// Far more than are under way at once: what begins after the cut is what the replica will not know.
const ROWS = 600;
const { csv, seeds } = uniqueRows(ROWS);

async function replicaOf(port: number): Promise<TestRedis> {
  const replica = await startRedis(['--replicaof', '127.0.0.1', String(port)]);
  const client = replica.client();
  await until('the replica to be in step', async () =>
    (await client.info('replication')).includes('master_link_status:up'),
  );
  return replica;
}

async function audited(world: Program, batch: string) {
  const ran = await world.run('report', batch, '--json');
  expect(ran.status, ran.stderr).toBe(0);
  return auditByContent(await world.applied(), join(world.folder, 'reports'), batch);
}

describe('a replica that misses writes is promoted in the middle of a run', () => {
  let world: Program;
  let replica: TestRedis;
  beforeAll(async () => {
    world = await Program.start(
      onBadNetwork({
        certainty: 'manual',
        members: seeds,
        faults: ['latency:1:30'],
      }),
    );
    replica = await replicaOf(world.store.port);
    await world.file('pay.csv', csv);
  });
  afterAll(async () => {
    await world.end();
    await replica.stop();
  });

  test('the closed ledger stops the run, the journal restores the payments, and no member is paid twice', async () => {
    const run = world.start(['run', 'pay.csv', '--yes', '--json']);
    const appliedAtLeast = (count: number) =>
      until(`${count} payments: ${run.stderr()}`, async () => (await world.appliedCount()) >= count, 60_000);
    await appliedAtLeast(20);
    // From here on the replica hears nothing more; what is paid now, it will not know.
    await replica.client().replicaof('127.0.0.1', '1');
    const missing = await world.appliedCount();
    await appliedAtLeast(missing + 150);
    // The primary is gone, and the replica takes its place with an earlier past.
    await world.store.kill();
    await replica.client().replicaof('NO', 'ONE');
    world.storeNet.aim(replica.port);

    // First sends wait for a person; the same command then pays the rest.
    expect(await run.ended, run.stderr()).toBe(5);
    expect((await world.run('resume', '--after-rollback')).status).toBe(0);
    const again = await world.run('run', 'pay.csv', '--yes', '--json');
    expect(again.status, again.stderr).toBe(0);
    const { batch, counts } = JSON.parse(again.stdout);
    expect(counts).toEqual({ paid: ROWS });
    expect(await audited(world, String(batch))).toEqual({ states: { paid: ROWS }, wrong: [] });
    const doctor = await world.run('doctor', '--json');
    expect(doctor.stdout).toMatch(/a restore or a fault lost (moves|\d+ attempts?)/);
  }, 120_000);
});

test('a Sentinel switch in the middle of a run: it resumes by itself and pays every member once', async () => {
  const world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: seeds,
      faults: ['latency:1:30'],
    }),
  );
  onTestFinished(() => world.end());
  const replica = await replicaOf(world.store.port);
  onTestFinished(() => replica.stop());
  const sentinel = await startSentinel(world.store.port);
  await world.file('pay.csv', csv);
  const run = world.start(['run', 'pay.csv', '--yes', '--json'], {
    REDIS_URL: `redis+sentinel://127.0.0.1:${sentinel}/almoner`,
  });
  await until(`payments: ${run.stderr()}`, async () => (await world.appliedCount()) >= 20, 60_000);
  await world.store.kill();
  expect(await run.ended, run.stderr()).toBe(0);
  const { batch, counts } = JSON.parse(run.stdout());
  world.storeNet.aim(replica.port);
  const { states, wrong } = await audited(world, String(batch));
  expect(wrong).toEqual([]);
  expect(counts).toEqual(states);
  expect(states.paid ?? 0).toBe(ROWS);
}, 120_000);

/** One sentinel is enough to agree with itself. */
async function startSentinel(port: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-sentinel-'));
  const own = await freePort();
  const file = join(folder, 'sentinel.conf');
  await writeFile(
    file,
    [
      `port ${own}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor almoner 127.0.0.1 ${port} 1`,
      'sentinel down-after-milliseconds almoner 500',
      'sentinel failover-timeout almoner 3000',
      '',
    ].join('\n'),
  );
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  onTestFinished(async () => {
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
    await rm(folder, { recursive: true, force: true });
  });
  await until('the sentinel to know the replica', () => out.includes('+slave'), 30_000);
  return own;
}
