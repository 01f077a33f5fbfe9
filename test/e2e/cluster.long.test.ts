import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Program } from '../support/program/program.js';
import { TcpProxy } from '../support/program/tcp-proxy.js';
import { freePort, startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

const NODES = 3;
const ROWS = 150;
const CUT_ROWS = 1_000;
const members = Array.from({ length: ROWS + CUT_ROWS }, (_, i) => ({
  member: String(7_000_000 + i),
  tokens: 0,
}));
let nodes: TestRedis[] = [];
/** Clients are sent to these, so that a test can cut the cluster off. */
let network: TcpProxy[] = [];
let world: Program;

beforeAll(async () => {
  nodes = await Promise.all(
    Array.from({ length: NODES }, async () => {
      const bus = String(await freePort());
      return startRedis([
        '--cluster-enabled',
        'yes',
        '--cluster-port',
        bus,
        '--cluster-announce-ip',
        '127.0.0.1',
      ]);
    }),
  );
  network = await Promise.all(nodes.map(({ port }) => TcpProxy.open(port)));
  const share = Math.ceil(16_384 / NODES);
  const [first] = nodes;
  for (const [at, node] of nodes.entries()) {
    const client = node.client();
    await client.config('SET', 'cluster-announce-port', String(network[at]?.port));
    await client.call('CLUSTER', 'ADDSLOTSRANGE', at * share, Math.min(16_383, (at + 1) * share - 1));
    const bus =
      String(await client.config('GET', 'cluster-port'))
        .split(',')
        .at(-1) ?? '';
    if (at > 0) await first?.client().call('CLUSTER', 'MEET', '127.0.0.1', node.port, bus);
  }
  for (const node of nodes)
    await until('the cluster', async () => {
      const info = String(await node.client().call('CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${NODES}`);
    });
  const hosts = network.map(({ port }) => `127.0.0.1:${port}`).join(',');
  world = await Program.start({ members, env: { REDIS_URL: `redis+cluster://${hosts}` } });
}, 60_000);

afterAll(async () => {
  await world.end();
  for (const proxy of network) await proxy.close();
  for (const node of nodes) await node.stop();
});

test('on a Redis Cluster of three nodes two workers pay an imported batch, and the report ties', async () => {
  await world.file('rows.csv', csvOf(0, ROWS));
  const imported = await world.run('import', 'rows.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const { batch } = JSON.parse(imported.stdout);
  const workers = [world.start(['worker']), world.start(['worker'])];
  await until('all to be paid', async () => (await world.appliedCount()) >= ROWS, 90_000);
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
  expect(await world.applied()).toHaveLength(ROWS);
  for (const [i, { member }] of members.slice(0, ROWS).entries())
    expect(await world.admin.balance('town', member)).toBe(i + 1);

  // Everything of the realm lies in one slot, so on one node; the others hold at most the list of realms.
  const sizes = await Promise.all(nodes.map((node) => node.client().keys('almoner:{*')));
  expect(sizes.filter((keys) => keys.length > 0)).toHaveLength(1);
}, 180_000);

test('cut off from every node for three seconds, a worker settles every answer that came meanwhile', async () => {
  await world.file('cut.csv', csvOf(ROWS, ROWS + CUT_ROWS));
  const imported = await world.run('import', 'cut.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const { batch } = JSON.parse(imported.stdout);
  const before = await world.appliedCount();
  const worker = world.start(['worker']);
  await until('payments', async () => (await world.appliedCount()) >= before + 200, 60_000);
  for (const proxy of network) {
    proxy.mode = 'refuse';
    proxy.cut();
  }
  await sleep(3_000);
  for (const proxy of network) proxy.heal();
  const status = await until(
    'the batch is done',
    async () => {
      const told = JSON.parse((await world.run('status', batch, '--json')).stdout);
      return told.state === 'done' && told;
    },
    60_000,
    500,
  );
  expect(status.counts).toEqual({ paid: CUT_ROWS });
  expect(await world.appliedCount()).toBe(before + CUT_ROWS);
  worker.child.kill('SIGTERM');
  expect(await worker.ended, worker.stderr()).toBe(0);
}, 180_000);

function csvOf(from: number, to: number): string {
  const lines = members.slice(from, to).map(({ member }, i) => `${member},${i + 1},r-${from + i}`);
  return ['member,tokens,reference', ...lines, ''].join('\n');
}
