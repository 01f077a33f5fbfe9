// Does anything grow with the file? 10k, 100k, 1M rows: the large ones are worked for a while and cancelled.
// A probe watches whether any command keeps Redis from answering.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openOperator, peakMegabytes } from './stage/almoner.mjs';
import { measured } from './stage/child.mjs';
import { writeCsv } from './stage/files.mjs';
import { startRealm } from './stage/realm.mjs';
import { resetSlowLog, slowestCommands, startLatencyProbe, startRedis } from './stage/redis.mjs';
import { printTable, QUICK, saveResult } from './stage/results.mjs';

const SIZES = QUICK ? [2_000, 20_000] : [10_000, 100_000, 1_000_000];
const WORK_SECONDS = QUICK ? 8 : 60;
const realm = await startRealm({ members: 2_000 });
const rows = [];
const commands = [];

for (const size of SIZES) {
  const redis = await startRedis();
  await resetSlowLog(redis.client);
  const operator = await openOperator({ realm, redisUrl: redis.url });
  const file = await writeCsv(join(operator.folder, 'rows.csv'), size, {
    members: 2_000,
    label: `size-${size}`,
  });
  const probe = startLatencyProbe(redis.url);
  const timed = async (name, ...args) => {
    probe.take();
    const { child } = operator.start([...args, '--json']);
    const seen = await measured(child);
    const { worstMs } = probe.take();
    commands.push({
      rows: size,
      command: name,
      seconds: seen.seconds,
      'peak MB': seen.peakMb,
      'slowest PING ms': worstMs,
    });
    console.error(commands.at(-1));
    return JSON.parse(seen.stdout);
  };
  const { batch } = await timed('import', 'import', file, '--yes');
  const worker = operator.start(['worker']);
  const begin = performance.now();
  let status;
  do {
    await sleep(1_000);
    status = await operator.json('status', batch);
  } while (status.state !== 'done' && performance.now() - begin < WORK_SECONDS * 1000);
  const seconds = (performance.now() - begin) / 1000;
  const workerMb = await peakMegabytes(worker.child.pid);
  await timed('status', 'status', batch);
  if (status.state !== 'done') {
    await timed('pause', 'pause', batch);
    await timed('cancel', 'cancel', batch);
  }
  await timed('report', 'report', batch);
  worker.child.kill('SIGTERM');
  await worker.ended;
  await probe.stop();
  const paid = status.counts.paid ?? 0;
  const [slowest] = await slowestCommands(redis.client, 1);
  rows.push({
    rows: size,
    worked: paid,
    'rows/s while working': paid / seconds,
    'worker peak MB': workerMb,
    'bytes/row in Redis': (await redis.memoryBytes()) / size,
    'slowest command ms': slowest?.ms ?? 0,
  });
  console.error(rows.at(-1));
  await operator.close();
  await redis.stop();
}
await realm.stop();
printTable('Scale: what grows with the file', rows);
printTable('Commands on batches of these sizes (start of the process included)', commands);
saveResult('scale', { rows, commands });
process.exit(0);
