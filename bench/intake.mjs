// A file is planned and sealed: rows a second, memory of the process, bytes in Redis. Beside it the plain way,
// csv-parse into one BullMQ job a row.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOperator } from './stage/almoner.mjs';
import { measured, runPeer } from './stage/child.mjs';
import { writeCsv } from './stage/files.mjs';
import { startRedis } from './stage/redis.mjs';
import { printTable, QUICK, saveResult } from './stage/results.mjs';

const ROWS = QUICK ? 100_000 : 1_000_000;
// A job a row takes minutes and a gigabyte for a million; its cost a row does not change.
const PEER_ROWS = Math.min(ROWS, 100_000);
const folder = await mkdtemp(join(tmpdir(), 'almoner-bench-'));
const file = await writeCsv(join(folder, 'rows.csv'), ROWS);
const nowhere = { url: 'http://127.0.0.1:9', key: 'a-key-that-is-never-used' };
const rows = [];

async function timed(name, work, count = ROWS) {
  const redis = await startRedis();
  try {
    const before = await redis.memoryBytes();
    const cpu = await redis.cpuSeconds();
    const seen = await work(redis);
    const seconds = seen.seconds - (seen.startSeconds ?? 0);
    rows.push({
      way: name,
      rows: count,
      seconds,
      'rows/s': count / seconds,
      'peak MB': seen.peakMb,
      'bytes/row in Redis': ((await redis.memoryBytes()) - before) / count,
      'CPU µs/row': (seen.cpuSeconds * 1e6) / count,
      'Redis CPU µs/row': (((await redis.cpuSeconds()) - cpu) * 1e6) / count,
    });
    console.error(rows.at(-1));
  } finally {
    await redis.stop();
  }
}

async function command(redis, ...args) {
  const operator = await openOperator({ realm: nowhere, redisUrl: redis.url });
  const { child } = operator.start([...args, '--json']);
  const seen = await measured(child);
  await operator.close();
  if (seen.status !== 0) throw new Error(`almoner ${args.join(' ')} ended with ${seen.status}`);
  return seen;
}

await timed('almoner plan (nothing written)', (redis) => command(redis, 'plan', file));
await timed('almoner import (planned and sealed)', (redis) => command(redis, 'import', file, '--yes'));
const peerFile = await writeCsv(join(folder, 'peer.csv'), PEER_ROWS);
await timed(
  'csv-parse, one BullMQ job a row',
  (redis) => runPeer('job-per-row', { file: peerFile, redisUrl: redis.url }),
  PEER_ROWS,
);
printTable(`Intake: a file of ${ROWS.toLocaleString('en')} rows, start of the process included`, rows);
saveResult('intake', { rows });
await rm(folder, { recursive: true, force: true });
