// npm run bench [-- NAMES…]: benches in turn, each in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ensureRedis } from '../scripts/install-redis.mjs';
import { orExit } from '../scripts/system-packages.mjs';
import { cleanUpAtExit } from './stage/clean-up.mjs';

const BENCHES = {
  intake:
    'plan and seal a file of a million rows: rows/s, memory, bytes in Redis; beside a BullMQ job for each row',
  pace: 'share of an allowed rate that two workers use, and refused requests; beside the limiter of BullMQ',
  refusals: 'cost of refusals where no header tells the limit; beside a script that obeys Retry-After',
  throughput:
    'rows/s and processor time from file to report without a limit; beside a script and a usual BullMQ worker',
  beside:
    'start, plan, intake, throughput and pace as ratios, in turn with an earlier build and with a plain script',
  begin: 'what the send script asks before a request leaves, and what each question costs the store',
  scale: 'what grows with the file: 10,000, 100,000 and 1,000,000 rows',
  resume: 'seconds until the next request after everything was killed, the store included',
  archive: 'bytes that an archived batch leaves in Redis, and whether its report stays the same',
  batches:
    'what 100,000 ended and 3,000 open batches cost desk, metrics, status and enqueue; beside a ledger with a few',
  planning: 'how fast the desk answers while it plans a rule over 200,000 members',
  start: 'time that a command takes beside its work; beside a bare node',
  realms: '30 realms on a Redis Cluster of three nodes: how they spread, what a row costs',
};
const HELP = `npm run bench [-- OPTIONS] [NAMES…]

Runs the named benches one after the other, or all of them, against the build in dist (npm run build).

${Object.entries(BENCHES)
  .map(([name, measured]) => `  ${name.padEnd(11)} ${measured}`)
  .join('\n')}

  --quick     a tenth of the rows or less: shows that a bench works; its figures are worth little
  --keep      write the figures to bench/results, which the documentation cites; otherwise to bench/latest
  --help      print this and run nothing

Environment:
  BENCH_DIST=FOLDER    another build than dist
  BENCH_BEFORE=FOLDER  beside, start: an earlier build to measure in turn with this one
  BENCH_RATE=RATE      pace: only the case of this rate
  BENCH_CASE=NAME      refusals: only this case; beside: only these, with commas between them
  BENCH_ROUNDS=N       beside: how many rounds each case takes`;

const args = process.argv.slice(2);
const flags = args.filter((arg) => arg.startsWith('-'));
const names = args.filter((arg) => !arg.startsWith('-'));
if (flags.includes('--help') || flags.includes('-h')) {
  console.log(HELP);
  process.exit(0);
}
refuse(
  [...names.filter((name) => !(name in BENCHES)), ...flags.filter((flag) => !/^--(quick|keep)$/.test(flag))],
  'There is no bench or option',
);
refuse(
  flags.includes('--quick') && flags.includes('--keep') ? ['--quick with --keep'] : [],
  'Figures are not kept of',
);

function refuse(wrong, why) {
  if (wrong.length === 0) return;
  console.error(`${why} ${wrong.join(', ')}.\n\n${HELP}`);
  process.exit(2);
}

orExit(ensureRedis);
cleanUpAtExit();
const failed = [];
for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const script = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const bench = spawn(process.execPath, [script, ...flags], { stdio: ['ignore', 'inherit', 'inherit'] });
  const [exitCode, signal] = await once(bench, 'close');
  if (exitCode === 0) continue;
  failed.push(name);
  console.error(`bench ${name} ended with ${exitCode ?? signal}`);
}
process.exit(failed.length === 0 ? 0 : 1);
