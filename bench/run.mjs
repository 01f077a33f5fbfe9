// npm run bench [-- --quick] [-- names…]: every bench in turn, each in a process of its own.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ALL = [
  'intake',
  'pace',
  'refusals',
  'throughput',
  'scale',
  'resume',
  'archive',
  'planning',
  'start',
  'realms',
];
const args = process.argv.slice(2);
const named = args.filter((arg) => !arg.startsWith('--'));
const unknown = named.filter((name) => !ALL.includes(name));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}; there are ${ALL.join(', ')}.`);
  process.exit(2);
}
let failed = 0;
for (const name of named.length > 0 ? named : ALL) {
  const script = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const flags = args.filter((arg) => arg.startsWith('--'));
  const { status } = spawnSync(process.execPath, [script, ...flags], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) {
    failed += 1;
    console.error(`bench ${name} ended with ${status}`);
  }
}
process.exit(failed === 0 ? 0 : 1);
