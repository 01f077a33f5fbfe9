// Plays histories of failing machines, people, a realm and a store over the real scripts, journals, recovery and
// read-back. Compares the program's report of each order with the realm's own log.
import { fork, spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureRedis } from './install-redis.mjs';
import { orExit } from './system-packages.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const BUILT = join(ROOT, '.build-simulate');
const CERTAINTIES = ['manual', 'idempotent', 'readback'];
const COUNTED = ['orders', 'histories', 'faults', 'twice', 'lost', 'wrong', 'unnamed', 'broken'];

const USAGE =
  'npm run simulate -- --orders N --seed S [--certainty manual|idempotent|readback|all] [--workers 2] [--theme NAME]';
const HELP = `${USAGE}

Plays N orders (10,000) through faults of machines, people, the realm and the store, in histories that begin at seed S
(a random one, which is printed), and compares every state with the realm's own log. --theme plays only histories of
one kind; test/simulator/themes.ts names them. Ends with 1 where a payment was made twice, lost or told wrong.`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    orders: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    certainty: { type: 'string', default: 'all' },
    workers: { type: 'string', default: '2' },
    theme: { type: 'string' },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const asked = values.certainty === 'all' ? CERTAINTIES : [values.certainty];
const [orders, seed, workers] = [values.orders, values.seed, values.workers].map(Number);
if (!asked.every((one) => CERTAINTIES.includes(one)) || !(orders > 0 && seed >= 0 && workers > 0)) {
  console.error(`usage: ${USAGE}`);
  process.exit(2);
}

orExit(ensureRedis);
const tsc = spawnSync('npx', ['tsc', '-p', 'tsconfig.simulate.json'], { cwd: ROOT, stdio: 'inherit' });
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
cpSync(join(ROOT, 'src'), join(BUILT, 'src'), { recursive: true, filter: (from) => !/\.tsx?$/.test(from) });

console.log(`simulate: ${orders} orders, seed ${seed}, ${values.certainty}, ${workers} processes`);
const rows = [];
let failed = false;
for (const certainty of asked) {
  const began = performance.now();
  const tallies = Array.from({ length: workers }, () => ({}));
  const sum = (name) => tallies.reduce((total, tally) => total + (tally[name] ?? 0), 0);
  const telling = setInterval(() => {
    console.error(
      `${certainty}: ${sum('orders')} of ${Math.round(orders / asked.length)} orders, ${sum('faults')} faults`,
    );
  }, 60_000);
  await Promise.all(
    tallies.map((_, i) => {
      const options = { seed: seed + i, every: workers, orders: orders / asked.length / workers, certainty };
      const child = fork(join(BUILT, 'test', 'simulator', 'worker.js'), [
        JSON.stringify({ ...options, theme: values.theme ?? null }),
      ]);
      child.on('message', ({ tally, failure }) => {
        tallies[i] = tally;
        if (failure === undefined) return;
        failed = true;
        console.log(`\n${certainty}, ${failure}`);
      });
      return new Promise((resolve) => {
        child.on('exit', (code) => {
          if (code !== 0) failed = true;
          resolve();
        });
      });
    }),
  );
  clearInterval(telling);
  const seconds = (performance.now() - began) / 1000;
  rows.push([certainty, ...COUNTED.map(sum), Math.round(sum('orders') / seconds)]);
}

const total = (at) => rows.reduce((sum, row) => sum + row[at], 0);
if (rows.length > 1) rows.push(['all', ...COUNTED.map((_, i) => total(i + 1)), '']);
const head = ['certainty', ...COUNTED, 'orders/s'];
const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => String(row[at]).length)));
console.log();
for (const row of [head, ...rows])
  console.log(row.map((cell, at) => String(cell)[at === 0 ? 'padEnd' : 'padStart'](widths[at])).join('  '));
process.exit(failed ? 1 : 0);
