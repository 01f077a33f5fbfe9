// Measures how much of an allowed rate is used and how often requests are refused: two worker processes against a true
// sliding-window service, compared with BullMQ's own limiter at the same rate.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { openOperator } from './stage/almoner.mjs';
import { writeCsv } from './stage/files.mjs';
import { memberId, REALM_ID, startRealm } from './stage/realm.mjs';
import { startRedis } from './stage/redis.mjs';
import { median, printTable, QUICK, saveResult } from './stage/results.mjs';

const MEMBERS = 400;
const ONLY = process.env.BENCH_RATE;
const CASES = [
  { rate: '60/6s', requests: 60, windowMs: 6_000, orders: QUICK ? 90 : 240 },
  // 300 a minute, a tenth of the time.
  { rate: '30/6s', requests: 30, windowMs: 6_000, orders: QUICK ? 45 : 120 },
  { rate: '50/s', requests: 50, windowMs: 1_000, orders: QUICK ? 150 : 600 },
  { rate: '500/s', requests: 500, windowMs: 1_000, orders: QUICK ? 1_500 : 30_000 },
];

/** Requests a second from the first to the last, the way the service saw them. */
function perSecond(times) {
  const inOrder = [...times].sort((a, b) => a - b);
  return (times.length - 1) / ((inOrder.at(-1) - inOrder[0]) / 1000);
}

function row(name, { rate, requests, windowMs }, seen) {
  const attainable = requests / ((windowMs + seen.latencyMs) / 1000);
  return {
    who: name,
    rate,
    'requests/s': seen.perSecond,
    'of allowed %': (100 * seen.perSecond) / (requests / (windowMs / 1000)),
    'of N/(W+latency) %': (100 * seen.perSecond) / attainable,
    'latency ms': seen.latencyMs,
    '429s': seen.limited,
  };
}

async function ours(one, certainty, onStarted = () => {}) {
  const realm = await startRealm({
    members: MEMBERS,
    rate: { requests: one.requests, windowMs: one.windowMs },
  });
  const redis = await startRedis();
  const places = await Promise.all(
    [1, 2].map(() => openOperator({ realm, redisUrl: redis.url, rate: one.rate, certainty })),
  );
  try {
    const [first] = places;
    const orders = certainty === 'readback' ? Math.ceil(one.orders / 2) : one.orders;
    const file = await writeCsv(join(first.folder, 'rows.csv'), orders, { members: MEMBERS });
    for (const place of places) await ready(place.start(['worker']));
    const { batch } = await first.json('import', file, '--yes');
    await onStarted(realm);
    for (;;) {
      await sleep(500);
      if ((await realm.appliedAt()).length < orders) continue;
      const status = await first.json('status', batch);
      if (status.state === 'done') break;
    }
    const { times, limited } = await realm.seen();
    const { report } = await first.json('report', batch, '--out', join(first.folder, 'out'));
    const folder = report ?? join(first.folder, 'out', batch);
    const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
    return {
      perSecond: perSecond(times),
      latencyMs: summary.latencyMs.p50,
      limited,
      times,
    };
  } finally {
    for (const place of places) await place.close();
    await redis.stop();
    await realm.stop();
  }
}

async function ready(started) {
  for (;;) {
    if (started.stderr().includes('Working for')) return;
    if (started.child.exitCode !== null) throw new Error(`the worker ended: ${started.stderr()}`);
    await sleep(50);
  }
}

async function peer(one, limiter) {
  const realm = await startRealm({
    members: MEMBERS,
    rate: { requests: one.requests, windowMs: one.windowMs },
  });
  const redis = await startRedis();
  const options = {
    redisUrl: redis.url,
    queue: 'orders',
    limiter,
    realm: { url: realm.url, key: realm.key, realmId: REALM_ID },
  };
  const workers = [1, 2].map(() =>
    fork(fileURLToPath(new URL('peers/bullmq-limiter.mjs', import.meta.url)), [JSON.stringify(options)]),
  );
  const queue = new Queue('orders', { connection: { host: '127.0.0.1', port: redis.port } });
  try {
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    await queue.addBulk(
      Array.from({ length: one.orders }, (_, i) => ({
        name: 'order',
        data: { member: memberId(i % MEMBERS), tokens: 1 },
      })),
    );
    while ((await realm.appliedAt()).length < one.orders) await sleep(200);
    const told = await Promise.all(
      workers.map(async (worker) => {
        worker.send('tell');
        return (await once(worker, 'message'))[0];
      }),
    );
    const { times, limited } = await realm.seen();
    return {
      perSecond: perSecond(times),
      latencyMs: median(told.flatMap(({ latencies }) => latencies)),
      limited,
    };
  } finally {
    await queue.close();
    for (const worker of workers) worker.kill('SIGKILL');
    await redis.stop();
    await realm.stop();
  }
}

const rows = [];
for (const one of CASES.filter(({ rate }) => ONLY === undefined || rate === ONLY)) {
  for (const certainty of QUICK ? ['idempotent'] : ['idempotent', 'readback']) {
    rows.push(row(`almoner, ${certainty}`, one, await ours(one, certainty)));
    console.error(rows.at(-1));
  }
}
if (ONLY !== undefined) process.exit(0);
const peerCase = CASES[QUICK ? 2 : 0];
const { requests, windowMs } = peerCase;
for (const [name, limiter] of [
  ['fixed window', { max: requests, duration: windowMs }],
  ['sliced in ten', { max: requests / 10, duration: windowMs / 10 }],
  ['one at a time', { max: 1, duration: windowMs / requests }],
]) {
  rows.push(row(`BullMQ limiter, ${name}`, peerCase, await peer(peerCase, limiter)));
  console.error(rows.at(-1));
}

// The service halves its limit in the middle of the run and tells nobody but in its headers.
const halved = { ...CASES[2], orders: QUICK ? 200 : 500 };
let halvedAt = 0;
const seen = await ours(halved, 'idempotent', async (realm) => {
  while ((await realm.appliedAt()).length < halved.orders / 2) await sleep(50);
  realm.setRate({ requests: halved.requests / 2 });
  halvedAt = Date.now();
});
const settled = seen.times.filter((at) => at > halvedAt + 2 * halved.windowMs);
const halvedRow = row(
  'almoner, limit halved in the middle',
  { ...halved, rate: '50/s → 25/s', requests: halved.requests / 2 },
  {
    ...seen,
    perSecond: perSecond(settled),
  },
);
rows.push(halvedRow);

printTable('Pace: two worker processes against a sliding-window service', rows);
saveResult('pace', { rows });
process.exit(0);
