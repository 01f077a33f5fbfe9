// Many realms on a Redis Cluster: thirty of them, each with a batch of its own, worked by two workers over three
// nodes of this machine. It shows that realms spread over the nodes by their hash tag and stay apart, and what a row
// costs in memory, file and processor time: docs/explanation/scale.md computes from that.
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { openOperator } from './stage/almoner.mjs';
import { startCluster } from './stage/cluster.mjs';
import { load } from './stage/dist.mjs';
import { writeCsv } from './stage/files.mjs';
import { memberId } from './stage/realm.mjs';
import { cpuSecondsOf, startRedis } from './stage/redis.mjs';
import { printTable, QUICK, saveResult } from './stage/results.mjs';

const { createRealmService } = await load('realm/server/service.js');
const { createRealmAdmin } = await load('realm/server/admin.js');
const { realmKeys } = await load('realm/server/store.js');

const REALMS = 30;
const ROWS = QUICK ? 20 : 1_000;
const NODES = 3;
const KEY = 'the-key-of-all-realms-of-this-bench';
const names = Array.from({ length: REALMS }, (_, at) => `realm-${at + 1}`);

const books = await startRedis({ safe: false });
const realmRedis = new Redis(books.url);
const admin = createRealmAdmin(realmRedis);
for (const name of names) {
  await admin.adoptKey(name, `${KEY}-${name}`);
  await admin.putMembers(
    name,
    Array.from({ length: ROWS }, (_, i) => ({ member: memberId(i), tokens: 0 })),
  );
}
const service = createRealmService({ redis: realmRedis });
const { url } = await service.listen({ host: '127.0.0.1', port: 0 });

const cluster = await startCluster(NODES);
const operator = await openOperator({ realm: { url, key: '' }, redisUrl: cluster.url });
for (const name of ['ALMONER_REALM_URL', 'ALMONER_REALM_ID', 'ALMONER_API_KEY']) delete operator.env[name];
const profiles = names.map(
  (name) => `  ${name}: { baseUrl: '${url}', realmId: ${name}, keyFile: ${name}.key, rate: none }`,
);
await writeFile(join(operator.folder, 'almoner.config.yaml'), `realms:\n${profiles.join('\n')}\n`);
for (const name of names)
  await writeFile(join(operator.folder, `${name}.key`), `${KEY}-${name}\n`, { mode: 0o600 });

const sizeOf = async () => {
  const facts = await Promise.all(
    cluster.nodes.map(async (node) => ({
      keys: await node.client.dbsize(),
      bytes: await node.memoryBytes(),
      cpuSeconds: await node.cpuSeconds(),
      disk: await fileBytes(String((await node.client.config('GET', 'dir'))[1])),
    })),
  );
  return facts;
};
async function fileBytes(folder) {
  const aof = join(folder, 'appendonlydir');
  const sizes = await Promise.all(
    (await readdir(aof)).map(async (name) => (await stat(join(aof, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
const sum = (list, of) => list.reduce((all, one) => all + one[of], 0);

const before = await sizeOf();
for (const name of names) {
  const file = await writeCsv(join(operator.folder, `${name}.csv`), ROWS, { members: ROWS, label: name });
  await operator.json('import', file, '--realm', name, '--yes');
}
const sealed = await sizeOf();
const workers = [operator.start(['worker']), operator.start(['worker'])];
const begin = performance.now();
const applied = async (name) => realmRedis.xlen(realmKeys(name).applied);
let paid = [];
do {
  await sleep(500);
  paid = await Promise.all(names.map(applied));
} while (paid.some((count) => count < ROWS) && performance.now() - begin < 600_000);
const seconds = (performance.now() - begin) / 1000;
const workerCpu = (await Promise.all(workers.map(({ child }) => cpuSecondsOf(child.pid)))).reduce(
  (a, b) => a + b,
);
let batches = [];
do {
  await sleep(500);
  ({ batches } = await operator.json('status'));
} while (batches.some(({ state }) => state !== 'done'));
const done = await sizeOf();
for (const { child, ended } of workers) {
  child.kill('SIGTERM');
  await ended;
}
const total = REALMS * ROWS;
const wrong = paid.filter((count) => count !== ROWS).length;
if (wrong > 0) throw new Error(`${wrong} realms did not apply exactly ${ROWS} changes`);
await operator.close();
await service.close();
await cluster.stop();
await books.stop();

const nodes = done.map(({ keys, bytes }, at) => ({
  node: at + 1,
  keys,
  'MB used': (bytes - before[at].bytes) / 1e6,
  'share of Redis CPU %':
    (100 * (done[at].cpuSeconds - before[at].cpuSeconds)) /
    (sum(done, 'cpuSeconds') - sum(before, 'cpuSeconds')),
}));
const row = {
  realms: REALMS,
  orders: total,
  'orders/s': total / seconds,
  'bytes/row sealed': (sum(sealed, 'bytes') - sum(before, 'bytes')) / total,
  'bytes/row paid': (sum(done, 'bytes') - sum(before, 'bytes')) / total,
  'file bytes/row': (sum(done, 'disk') - sum(before, 'disk')) / total,
  'Redis CPU µs/row': ((sum(done, 'cpuSeconds') - sum(before, 'cpuSeconds')) * 1e6) / total,
  'worker CPU µs/row': (workerCpu * 1e6) / total,
};
printTable(`${REALMS} realms on ${NODES} nodes`, nodes);
printTable('What a row costs there', [row]);
saveResult('realms', { nodes, row });
process.exit(0);
