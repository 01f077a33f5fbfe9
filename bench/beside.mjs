// Compares this build with an earlier one (BENCH_BEFORE) and with a plain script, in turn and in both orders, so that
// other work on the machine affects all alike. Trust the ratios: they are medians over the rounds.
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openOperator } from './stage/almoner.mjs';
import { measured, runPeer } from './stage/child.mjs';
import { DIST } from './stage/dist.mjs';
import { writeCsv } from './stage/files.mjs';
import { REALM_ID, startRealm } from './stage/realm.mjs';
import { startRedis } from './stage/redis.mjs';
import { median, printTable, QUICK, saveResult } from './stage/results.mjs';

const { BENCH_BEFORE, BENCH_CASE } = process.env;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? (QUICK ? 1 : 10));
const MEMBERS = 2_000;
const NOW = 'now';
const BEFORE = 'before';
const SCRIPT = 'plain script';
const builds = { [NOW]: DIST, ...(BENCH_BEFORE && { [BEFORE]: resolve(BENCH_BEFORE) }) };

/** Each case measures a build in a world of its own: a Redis that fsyncs every write, and empty folders. */
const CASES = {
  start: { rows: 100, work: (world) => world.command(['status']) },
  plan: { rows: QUICK ? 10_000 : 100_000, work: (world) => world.command(['plan', world.file]) },
  import: { rows: QUICK ? 10_000 : 100_000, work: (world) => world.command(['import', world.file, '--yes']) },
  run: {
    rows: QUICK ? 3_000 : 12_000,
    script: true,
    work: (world) => world.command(['run', world.file, '--yes']),
  },
  pace: { rows: 2_000, rate: { requests: 50, windowMs: 1_000 }, work: paceOf },
};

const PACE_SECONDS = QUICK ? 4 : 12;
for (const name of BENCH_CASE?.split(',') ?? Object.keys(CASES)) await measureCase(name, CASES[name]);
process.exit(0);

async function measureCase(name, given) {
  const loads = [];
  const realm = await startRealm({ members: MEMBERS, rate: given.rate ?? null });
  const contestants = [...(given.script ? [SCRIPT] : []), ...Object.keys(builds).reverse()];
  const runs = Object.fromEntries(contestants.map((one) => [one, []]));
  // The first round warms the caches of the disk.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const one of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const seen = one === SCRIPT ? await runScript(realm, given) : await runBuild(realm, given, builds[one]);
      if (round > 0) runs[one].push(seen);
    }
    loads.push(Number(loadavg()[0].toFixed(2)));
    const said = contestants.map((one) => `${one} ${runs[one].at(-1)?.seconds.toFixed(2)} s`);
    console.error(`${name}, round ${round} of ${ROUNDS}, load ${loads.at(-1)}: ${said.join(', ')}`);
  }
  await realm.stop();
  const rows = contestants.map((one) => rowOf(one, runs, given.rows));
  printTable(`${name}: ${given.rows.toLocaleString('en')} rows, medians of ${ROUNDS} rounds in turn`, rows);
  saveResult(`beside-${name}`, { rounds: ROUNDS, loads, rows });
}

/** Rates (rows a second, share of a pace) are better where they are higher, processor time where it is lower. */
function rowOf(one, runs, rows) {
  const ratio = (other, of) =>
    runs[other] && median(runs[one].map((run, at) => of(run) / of(runs[other][at])));
  const speed = ({ share, seconds }) => share ?? 1 / seconds;
  const cpu = ({ cpuSeconds, redisCpuSeconds }) => cpuSeconds + redisCpuSeconds;
  return {
    who: one,
    seconds: median(runs[one].map(({ seconds }) => seconds)),
    'rows/s': median(runs[one].map(({ seconds }) => rows / seconds)),
    'CPU ms': median(runs[one].map(({ cpuSeconds }) => cpuSeconds * 1_000)),
    'Redis CPU ms': median(runs[one].map(({ redisCpuSeconds }) => redisCpuSeconds * 1_000)),
    ...(runs[one][0].share !== undefined && {
      'of allowed %': median(runs[one].map(({ share }) => share * 100)),
      '429s': median(runs[one].map(({ limited }) => limited)),
    }),
    'speed of script': ratio(SCRIPT, speed) ?? null,
    'CPU of script': ratio(SCRIPT, cpu) ?? null,
    'speed of before': ratio(BEFORE, speed) ?? null,
    'CPU of before': ratio(BEFORE, cpu) ?? null,
  };
}

async function runScript(realm, { rows }) {
  const operator = await openOperator({ realm });
  const file = await writeCsv(join(operator.folder, 'rows.csv'), rows, { members: MEMBERS });
  const peerRealm = { url: realm.url, key: realm.key, realmId: REALM_ID };
  const before = endedChildrenCpu();
  const { seconds } = await runPeer('plain-script', { file, realm: peerRealm, concurrency: 64 });
  await operator.close();
  return { seconds, cpuSeconds: endedChildrenCpu() - before, redisCpuSeconds: 0 };
}

async function runBuild(realm, given, dist) {
  const redis = await startRedis();
  const rate = given.rate ? `${given.rate.requests}/${given.rate.windowMs / 1_000}s` : 'none';
  const operator = await openOperator({ realm, redisUrl: redis.url, rate });
  const world = {
    realm,
    rate: given.rate,
    operator,
    file: await writeCsv(join(operator.folder, 'rows.csv'), given.rows, { members: MEMBERS }),
    main: join(dist, 'cli', 'main.js'),
    /** Runs a command to its end. */
    async command(args) {
      const { child, stderr } = operator.start([...args, '--json'], { main: world.main });
      const { status, stdout, seconds } = await measured(child);
      if (status !== 0) throw new Error(`${args[0]} ended with ${status}: ${stderr()}${stdout}`);
      return { seconds };
    },
  };
  const [cpuBefore, redisBefore] = [endedChildrenCpu(), await redis.cpuSeconds()];
  const seen = await given.work(world);
  const cpuSeconds = endedChildrenCpu() - cpuBefore;
  const redisCpuSeconds = (await redis.cpuSeconds()) - redisBefore;
  await operator.close();
  await redis.stop();
  return { cpuSeconds, redisCpuSeconds, ...seen };
}

/** The share of an allowed rate that a run uses once it has begun. */
async function paceOf(world) {
  const { rate, realm, operator, main, file } = world;
  const before = await realm.seen();
  const begin = performance.now();
  const running = operator.start(['run', file, '--yes', '--json'], { main });
  const newTimes = async () => (await realm.seen()).times.slice(before.times.length);
  while ((await newTimes()).length < rate.requests) await sleep(50);
  await sleep(PACE_SECONDS * 1_000);
  running.child.kill('SIGTERM');
  await running.ended;
  const times = await newTimes();
  // Without the first window: it is the start, and takes what the limit allows at once.
  const [from, until] = [times[0] + rate.windowMs, times[0] + PACE_SECONDS * 1_000];
  const inside = times.filter((at) => at >= from && at < until).length;
  const allowed = (rate.requests * (until - from)) / rate.windowMs;
  const limited = (await realm.seen()).limited - before.limited;
  return { seconds: (performance.now() - begin) / 1_000, share: inside / allowed, limited };
}

/** User and system time of all children that have ended, theirs included; a hundredth of a second is its unit. */
function endedChildrenCpu() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
