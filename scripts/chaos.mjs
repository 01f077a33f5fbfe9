// Breaks everything in turn during payouts, then compares the realm's records with the reports.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { ensureRedis } from './install-redis.mjs';
import { orExit } from './system-packages.mjs';

const USAGE = 'npm run chaos -- --minutes N --seed S [--certainty idempotent|manual|readback]';
const HELP = `${USAGE}

Pays for N minutes (20) while workers, Redis and the realm are killed, frozen and cut off in turn, by seed S (a random
one, which is printed), and compares the realm's books with the reports. Ends with 1 where one of them is wrong.`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    certainty: { type: 'string', default: 'idempotent' },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const seconds = Math.round(Number(values.minutes) * 60);
if (!(seconds > 0) || !/^\d+$/.test(values.seed)) {
  console.error(`usage: ${USAGE}`);
  process.exit(2);
}
orExit(ensureRedis);
console.log(`chaos: ${seconds} s, seed ${values.seed}, certainty ${values.certainty}`);
const { status } = spawnSync('npx', ['vitest', 'run', '--project=long', 'test/chaos/chaos.long.test.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    CHAOS_SECONDS: String(seconds),
    CHAOS_SEED: values.seed,
    CHAOS_CERTAINTY: values.certainty,
  },
});
process.exit(status ?? 1);
