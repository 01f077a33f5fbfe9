// Measures what ended batches cost: many of them and some open ones, compared with a ledger that has almost none.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openOperator } from './stage/almoner.mjs';
import { load, MAIN } from './stage/dist.mjs';
import { writeCsv } from './stage/files.mjs';
import { memberId, startRealm } from './stage/realm.mjs';
import { cpuSecondsOf, startRedis } from './stage/redis.mjs';
import { median, printTable, QUICK, saveResult } from './stage/results.mjs';

/** Batches of one row: made by the program itself, ended in all, and open. */
const [MADE, ENDED, OPEN] = QUICK ? [300, 3_000, 300] : [5_000, 100_000, 3_000];
const ASKED = QUICK ? 5 : 15;
const IDLE_SECONDS = QUICK ? 5 : 60;

const { open } = await load('index.js');
const {
  findBatch,
  ScriptClient,
  steering: {
    archives: { write: archiveBatch },
  },
} = await load('ledger/index.js');
const realm = await startRealm({ members: 5_000 });
let reference = 0;

const [full, empty] = [await place(), await place()];
const rows = [];
await pays(empty, 1);
const forgotten = await full.redis.memoryBytes();
const seconds = { made: await pays(full, MADE), wholeFile: await paysFile(empty, OPEN) };
const memory = await memoryOfEnded(full, forgotten);
await copyEnded(full, ENDED - MADE);
await enqueue(full, OPEN);
for (const [name, one] of Object.entries({ empty, full })) rows.push({ ledger: name, ...(await looks(one)) });
const opened = await worked(full, OPEN);
rows.push(ratios(rows));
printTable(`Batches: ${ENDED} ended and ${OPEN} open of one row each, beside a ledger with a few`, rows);
const pay = [
  { what: `one batch of ${OPEN} rows`, seconds: seconds.wholeFile, 'orders/s': OPEN / seconds.wholeFile },
  { what: `${OPEN} batches of one row`, seconds: opened, 'orders/s': OPEN / opened },
];
printTable('The worker pays', pay);
printTable('Bytes of Redis for each ended batch', [memory]);
saveResult('batches', { ended: ENDED, open: OPEN, looks: rows, pay, memory });
await Promise.all([full.close(), empty.close()]);
await realm.stop();
process.exit(0);

/** A store with an operator and the library open on it. */
async function place() {
  const redis = await startRedis();
  const operator = await openOperator({ realm, redisUrl: redis.url });
  const books = await open({ env: operator.env, cwd: operator.folder });
  return {
    redis,
    operator,
    books,
    async close() {
      await books.close();
      await operator.close();
      await redis.stop();
    },
  };
}

async function enqueue({ books }, count) {
  const members = 5_000;
  for (let i = 0; i < count; i += 1) {
    reference += 1;
    const row = { member: memberId(reference % members), tokens: 5, reference: `bench-${reference}` };
    await books.enqueue({ rows: [row] });
  }
}

/** The key of the realm that is paid here. */
async function realmKey({ redis }) {
  const { format: _, ...realms } = await redis.client.hgetall('almoner:realms');
  const [id] = Object.keys(realms);
  return `almoner:{${id}}`;
}

/** Enqueues so many, and gives how long a worker took for them. */
async function pays(one, count) {
  await enqueue(one, count);
  return worked(one, count);
}

async function paysFile(one, count) {
  const file = await writeCsv(join(one.operator.folder, 'whole.csv'), count, {
    members: 5_000,
    label: 'whole',
  });
  await one.operator.json('import', file, '--yes');
  return worked(one, count);
}

/** Seconds from the first payment to the last. */
async function worked(one, count) {
  const T = await realmKey(one);
  const paid = async () => Number((await one.redis.client.hget(T, 'paid')) ?? 0);
  const before = await paid();
  const worker = one.operator.start(['worker']);
  while ((await paid()) === before) await sleep(5);
  const begin = performance.now();
  while ((await paid()) < before + count) await sleep(20);
  const taken = (performance.now() - begin) / 1000;
  worker.child.kill('SIGTERM');
  await worker.ended;
  return taken;
}

/** Before and after they are archived: an equal number is archived that are not copied afterwards. */
async function memoryOfEnded(one, forgotten) {
  const { redis, operator } = one;
  const before = await redis.memoryBytes();
  const folder = join(operator.env.ALMONER_DATA, 'archive');
  const scripts = new ScriptClient(redis.client, 10_000, () => {}, { archiveFolder: folder });
  const T = await realmKey(one);
  const archived = (await redis.client.zrange(`${T}:ended`, 0, Math.floor(MADE / 2) - 1)).length;
  for (const no of await redis.client.zrange(`${T}:ended`, 0, archived - 1)) {
    const id = await redis.client.hget(`${T}:b:${no}`, 'id');
    await archiveBatch(await findBatch(scripts, id), folder);
  }
  const after = await redis.memoryBytes();
  const each = (before - forgotten) / MADE;
  const freed = (before - after) / archived;
  return { before: each, archived: each - freed };
}

/** Ended batches in the same shape: every key of one that the program made, under another number and id. */
async function copyEnded(one, count) {
  const { client } = one.redis;
  const T = await realmKey(one);
  const [no] = await client.zrange(`${T}:ended`, -1, -1);
  const keys = (await client.keys(`${T.replace(/[{}]/g, '?')}:b:${no}*`)).filter((key) =>
    new RegExp(`:b:${no}(:|$)`).test(key),
  );
  const parts = await Promise.all(
    keys.map(async (key) => [key.slice(`${T}:b:${no}`.length), await client.dumpBuffer(key)]),
  );
  const { id, manifest, finishedAt } = await client.hgetall(`${T}:b:${no}`);
  const first = Number(await client.hget(T, 'batches')) + 1;
  for (let start = 0; start < count; start += 500) {
    const pipeline = client.pipeline();
    for (let i = start; i < Math.min(count, start + 500); i += 1) {
      const [copy, name] = [String(first + i), `copy-${String(i).padStart(9, '0')}`];
      for (const [rest, dump] of parts) pipeline.restore(`${T}:b:${copy}${rest}`, 0, dump);
      pipeline.hset(`${T}:b:${copy}`, { id: name, manifest: manifest.replaceAll(id, name), seal: copy });
      pipeline.hset(`${T}:batches`, name, copy);
      pipeline.zadd(`${T}:ids`, 0, `${name} ${copy}`);
      pipeline.zadd(`${T}:ended`, Number(finishedAt) - 86_400_000 - i, copy);
      pipeline.zadd(`${T}:sealed`, copy, copy);
      pipeline.zadd(`${T}:changed`, await client.hincrby(T, 'changes', 1), copy);
    }
    await pipeline.exec();
  }
  await client.hset(T, 'batches', first + count - 1);
  await client.hincrby(T, 'rows', count);
}

/** Measures how long a reader waits, and what an idle desk costs. */
async function looks(one) {
  const { operator } = one;
  const served = operator.start(['serve', '--port', '0', '--json']);
  const ready = await new Promise((resolve, reject) => {
    served.child.stdout.once('data', (chunk) => resolve(JSON.parse(String(chunk))));
    served.ended.then(({ stderr }) => reject(new Error(stderr)));
  });
  const headers = { authorization: `Bearer ${ready.token}` };
  const asked = (path) => () => fetch(`${ready.url}${path}`, { headers }).then((reply) => reply.text());
  const first = await timed(asked('/api/overview'));
  const overview = await middle(asked('/api/overview'), 600);
  const metrics = await middle(asked('/metrics'), 600);
  const before = await cpuSecondsOf(served.child.pid);
  await sleep(IDLE_SECONDS * 1000);
  const idle = ((await cpuSecondsOf(served.child.pid)) - before) / IDLE_SECONDS;
  served.child.kill('SIGTERM');
  await served.ended;
  return {
    'first overview ms': first,
    'overview ms': overview,
    'metrics ms': metrics,
    'status ms': await middle(() => command(operator, 'status')),
    'enqueue ms': await middle(() => enqueue(one, 1)),
    'idle desk % of a core': 100 * idle,
  };
}

async function timed(ask) {
  const begin = performance.now();
  await ask();
  return performance.now() - begin;
}

/** `apartMs`: a picture is shared for a while. */
async function middle(ask, apartMs = 0) {
  const taken = [];
  for (let i = 0; i < ASKED; i += 1) {
    await sleep(apartMs);
    taken.push(await timed(ask));
  }
  return median(taken);
}

function command(operator, ...args) {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    cwd: operator.folder,
    env: operator.env,
  });
  if (status !== 0) throw new Error(`almoner ${args.join(' ')} ended with ${status}: ${stderr}`);
}

function ratios([few, many]) {
  const numbers = Object.keys(few).filter((name) => name !== 'ledger');
  return Object.fromEntries([['ledger', 'times'], ...numbers.map((name) => [name, many[name] / few[name]])]);
}
