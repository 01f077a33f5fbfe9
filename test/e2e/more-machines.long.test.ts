import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Started } from '../support/program/almoner.js';
import { auditReport } from '../support/program/auditor.js';
import { Program } from '../support/program/program.js';
import { TcpProxy } from '../support/program/tcp-proxy.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** Several machines, as far as one machine can tell: processes with data folders of their own and one Redis. */
const ROWS = 300;
const members = Array.from({ length: 200 }, (_, i) => ({ member: String(8_000_000 + i), tokens: 0 }));
const csv = [
  'member,tokens,reference',
  ...Array.from({ length: ROWS }, (_, i) => `${members[i % members.length]?.member},${i + 1},r-${i}`),
  '',
].join('\n');

let world: Program;
let shared: TestRedis;
let proxy: TcpProxy | undefined;
afterEach(async () => {
  await world.end();
  await proxy?.close();
  proxy = undefined;
  await shared.stop();
});

async function open(): Promise<string> {
  shared = await startRedis();
  // What one that is cut off holds comes free with the lock of its deliveries and the time-out of its requests.
  world = await Program.start({
    members,
    env: { REDIS_URL: shared.url, ALMONER_RATE: '60/s' },
    limits: { lockMs: 2_000 },
    profile: { timeouts: { responseMs: 1_500, totalMs: 2_000 } },
  });
  await world.file('rows.csv', csv);
  const imported = await world.run('import', 'rows.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  return JSON.parse(imported.stdout).batch;
}

function machine(name: string, env: NodeJS.ProcessEnv = {}): Started {
  return world.start(['worker'], { ALMONER_DATA: join(world.folder, name), ...env });
}

const paid = () => world.appliedCount();

async function endAndCheck(batch: string, workers: readonly Started[]): Promise<void> {
  await until('all to be paid', async () => (await paid()) >= ROWS, 120_000);
  await until(
    'the batch is done',
    async () => JSON.parse((await world.run('status', batch, '--json')).stdout).state === 'done',
    30_000,
  );
  for (const { child, ended, stderr } of workers) {
    child.kill('SIGTERM');
    expect(await ended, stderr()).toBe(0);
  }
  const report = await world.run('report', batch, '--json');
  expect(report.status, report.stderr).toBe(0);
  const audited = await auditReport(await world.applied(), join(world.folder, 'reports'), batch);
  expect(audited).toEqual({ paid: ROWS, applied: ROWS, states: { paid: ROWS } });
}

test('a worker is added and another removed in the middle: everything is paid once', async () => {
  const batch = await open();
  const first = machine('one');
  await until('the first to pay', async () => (await paid()) > 20, 60_000);
  const second = machine('two');
  const before = await paid();
  await until('both to pay', async () => (await paid()) > before + 60, 60_000);
  first.child.kill('SIGTERM');
  expect(await first.ended, first.stderr()).toBe(0);
  await endAndCheck(batch, [second]);
}, 240_000);

test('a worker cut off from Redis in the middle pays nothing twice, and goes on when it is back', async () => {
  const batch = await open();
  proxy = await TcpProxy.open(shared.port);
  const behind = machine('one', { REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
  await until('the one behind the proxy to pay', async () => (await paid()) > 20, 60_000);
  const other = machine('two');
  proxy.mode = 'refuse';
  proxy.cut();
  const before = await paid();
  await until('the other to go on alone', async () => (await paid()) > before + 60, 90_000);
  proxy.mode = 'pass';
  await endAndCheck(batch, [behind, other]);
}, 300_000);
