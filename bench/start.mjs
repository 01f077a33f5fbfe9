// What a command takes before and beside its work: each as a process of its own on a store that runs already, in turn
// with a bare `node`. BENCH_BEFORE names an earlier build to be measured in turn with this one.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openOperator } from './stage/almoner.mjs';
import { DIST } from './stage/dist.mjs';
import { writeCsv } from './stage/files.mjs';
import { memberId, startRealm } from './stage/realm.mjs';
import { startRedis } from './stage/redis.mjs';
import { median, printTable, QUICK, saveResult } from './stage/results.mjs';

const ROUNDS = QUICK ? 5 : 25;
const realm = await startRealm({ members: 100 });
const redis = await startRedis();
const operator = await openOperator({ realm, redisUrl: redis.url });
const paid = await writeCsv(join(operator.folder, 'paid.csv'), 100, { label: 'paid' });
const planned = await writeCsv(join(operator.folder, 'planned.csv'), 100, { label: 'planned' });
await operator.json('run', paid, '--yes');

const COMMANDS = {
  '--version': ['--version'],
  '--help': ['--help'],
  status: ['status'],
  'doubt list': ['doubt', 'list'],
  history: ['history', memberId(0)],
  'plan of 100 rows': ['plan', planned],
};
const { BENCH_BEFORE } = process.env;
const builds = { ...(BENCH_BEFORE && { before: resolve(BENCH_BEFORE) }), now: DIST };
const contestants = [
  { command: 'node -e 0', build: '', args: ['-e', '0'] },
  ...Object.entries(COMMANDS).flatMap(([command, args]) =>
    Object.entries(builds).map(([build, dist]) => ({
      command,
      build,
      args: [join(dist, 'cli', 'main.js'), ...args],
    })),
  ),
].map((one) => ({ ...one, ms: [], cpuMs: 0 }));

for (let round = 0; round <= ROUNDS; round += 1)
  for (const one of contestants) {
    const [cpuBefore, begin] = [childrenCpuMs(), performance.now()];
    const { status, stderr } = spawnSync(process.execPath, one.args, {
      cwd: operator.folder,
      env: operator.env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${one.command} ended with ${status}: ${stderr}`);
    // The first round warms the caches of the disk.
    if (round === 0) continue;
    one.ms.push(performance.now() - begin);
    one.cpuMs += (childrenCpuMs() - cpuBefore) / ROUNDS;
  }

const bareMs = median(contestants[0].ms);
const rows = contestants.map(({ command, build, ms, cpuMs }) => ({
  command,
  ...(BENCH_BEFORE && { build }),
  ms: median(ms),
  'times node': median(ms) / bareMs,
  'above node ms': median(ms) - bareMs,
  'CPU ms': cpuMs,
}));
await operator.close();
await redis.stop();
await realm.stop();
printTable(`Start: medians of ${ROUNDS} processes each, in turn`, rows);
saveResult('start', { rows });
process.exit(0);

/** Processor time of all children that have ended; its unit is a hundredth of a second. */
function childrenCpuMs() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
