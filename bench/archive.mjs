// Measures what an archived batch leaves in Redis, and checks that the archive gives the same report.
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openOperator } from './stage/almoner.mjs';
import { load } from './stage/dist.mjs';
import { writeCsv } from './stage/files.mjs';
import { startRealm } from './stage/realm.mjs';
import { startRedis } from './stage/redis.mjs';
import { printTable, QUICK, saveResult } from './stage/results.mjs';

const ROWS = QUICK ? 3_000 : 100_000;
const realm = await startRealm({ members: 2_000 });
const redis = await startRedis();
const operator = await openOperator({ realm, redisUrl: redis.url });
const empty = await redis.memoryBytes();
const file = await writeCsv(join(operator.folder, 'rows.csv'), ROWS, { members: 2_000 });
const { batch } = await operator.json('run', file, '--yes');
const before = await redis.memoryBytes();
const digests = await reportDigests('before');

const {
  findBatch,
  ScriptClient,
  steering: {
    archives: { write: archiveBatch },
  },
} = await load('ledger/index.js');
const folder = join(operator.env.ALMONER_DATA, 'archive');
const scripts = new ScriptClient(redis.client, 10_000, () => {}, { archiveFolder: folder });
const begin = performance.now();
const archived = await archiveBatch(await findBatch(scripts, batch), folder);
const seconds = (performance.now() - begin) / 1000;
await redis.client.call('MEMORY', 'PURGE').catch(() => {});
const after = await redis.memoryBytes();
const same = JSON.stringify(digests) === JSON.stringify(await reportDigests('after'));
const rows = [
  {
    rows: ROWS,
    'bytes/row before': (before - empty) / ROWS,
    'bytes/row after (summary and references)': (after - empty) / ROWS,
    'archive bytes/row': (await stat(archived.path)).size / ROWS,
    'seconds to archive': seconds,
    'same report files': same ? 'yes' : 'NO',
  },
];
await operator.close();
await redis.stop();
await realm.stop();
printTable('Archive: a finished batch leaves Redis', rows);
saveResult('archive', { rows });
process.exit(same ? 0 : 1);

/** Every CSV of a report: what differs in the others is the moment they were written. */
async function reportDigests(name) {
  const out = join(operator.folder, name);
  await operator.json('report', batch, '--out', out);
  const files = (await readdir(join(out, batch))).filter((one) => one.endsWith('.csv')).sort();
  return Promise.all(
    files.map(async (one) => [
      one,
      createHash('sha256')
        .update(await readFile(join(out, batch, one)))
        .digest('hex'),
    ]),
  );
}
