// From a file to a settled report without a limit, beside a plain script without any safety and the usual
// BullMQ worker without a ledger: same service, same machine, interleaved runs.
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openOperator } from './stage/almoner.mjs';
import { measured, runPeer } from './stage/child.mjs';
import { cpuShares } from './stage/cpu-shares.mjs';
import { writeCsv } from './stage/files.mjs';
import { REALM_ID, startRealm } from './stage/realm.mjs';
import { startRedis } from './stage/redis.mjs';
import { median, printTable, QUICK, saveResult } from './stage/results.mjs';

const ROWS = QUICK ? 3_000 : 20_000;
const ROUNDS = QUICK ? 1 : 5;
const CONCURRENCY = 64;
const realm = await startRealm({ members: 2_000 });
const peerRealm = { url: realm.url, key: realm.key, realmId: REALM_ID };
const runs = new Map();

function note(name, seen, redisCpuSeconds) {
  const list = runs.get(name) ?? [];
  list.push({ seconds: seen.seconds, cpuSeconds: seen.cpuSeconds, redisCpuSeconds, peakMb: seen.peakMb });
  runs.set(name, list);
  console.error(name, `${(ROWS / seen.seconds).toFixed(0)} rows/s`);
}

async function withRedis(work) {
  const redis = await startRedis();
  try {
    return await work(redis);
  } finally {
    await redis.stop();
  }
}

async function ours(round, nodeArgs = []) {
  return withRedis(async (redis) => {
    const operator = await openOperator({ realm, redisUrl: redis.url });
    const file = await writeCsv(join(operator.folder, 'rows.csv'), ROWS, {
      members: 2_000,
      label: `round-${round}`,
    });
    const profiles = join(operator.folder, 'profiles');
    await mkdir(profiles);
    const { child } = operator.start(['run', file, '--yes', '--json'], {
      nodeArgs: nodeArgs.map((arg) => arg.replace('PROFILES', profiles)),
    });
    const seen = await measured(child);
    if (seen.status !== 0) throw new Error(`the run ended with ${seen.status}: ${seen.stdout}`);
    const shares = nodeArgs.length === 0 ? null : await sharesIn(profiles);
    const redisCpuSeconds = await redis.cpuSeconds();
    await operator.close();
    return { ...seen, redisCpuSeconds, shares };
  });
}

async function sharesIn(folder) {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'));
  const profiles = await Promise.all(
    files.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8'))),
  );
  return cpuShares(profiles.sort((a, b) => b.samples.length - a.samples.length)[0]);
}

for (let round = 1; round <= ROUNDS; round++) {
  const plain = await openOperator({ realm });
  const file = await writeCsv(join(plain.folder, 'rows.csv'), ROWS, { members: 2_000 });
  note(
    'plain script (got, 64 at once, no safety)',
    await runPeer('plain-script', { file, realm: peerRealm, concurrency: CONCURRENCY }),
    0,
  );
  await withRedis(async (redis) => {
    const seen = await runPeer('usual-bullmq', {
      file,
      redisUrl: redis.url,
      realm: peerRealm,
      concurrency: CONCURRENCY,
    });
    note('usual BullMQ worker (no ledger)', seen, await redis.cpuSeconds());
  });
  const seen = await ours(round);
  note('almoner run (every law kept)', seen, seen.redisCpuSeconds);
  await plain.close();
}

const usual = median(runs.get('usual BullMQ worker (no ledger)').map(({ seconds }) => ROWS / seconds));
const rows = [...runs].map(([name, list]) => {
  const perSecond = median(list.map(({ seconds }) => ROWS / seconds));
  return {
    way: name,
    'rows/s': perSecond,
    'of usual': perSecond / usual,
    'CPU µs/row': median(list.map(({ cpuSeconds }) => (cpuSeconds * 1e6) / ROWS)),
    'Redis CPU µs/row': median(list.map(({ redisCpuSeconds }) => (redisCpuSeconds * 1e6) / ROWS)),
    'peak MB': median(list.map(({ peakMb }) => peakMb)),
  };
});
const { shares } = await ours('profile', ['--cpu-prof', '--cpu-prof-dir=PROFILES']);
await realm.stop();
printTable(`Throughput: ${ROWS.toLocaleString('en')} rows, file to report, median of ${ROUNDS}`, rows);
const split = Object.entries(shares).map(([part, micros]) => ({ part, 'µs/row': micros / ROWS }));
printTable('Where the processor time of almoner run goes', split);
saveResult('throughput', { rows, split });
process.exit(0);
