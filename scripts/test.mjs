// npm test: format, lint, types, nothing unused, audit, build, and every test that is not long by nature.
// npm run test:long: the long suite alone. npm run test:all: both. Further arguments go to vitest: npm test -- test/core
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIsCurrent } from './build-age.mjs';
import { ensureChromium } from './install-chromium.mjs';
import { ensureRedis } from './install-redis.mjs';
import { endWithNpm, makeRunFolders, processesOf, sweep } from './leftovers.mjs';
import { orExit } from './system-packages.mjs';
import { testServers } from './test-servers.mjs';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));

const HELP = `npm test [-- FILES…]        static checks, build and the quick suite
npm run test:long           the long suite
npm run test:all            both
ALMONER_TEST_REDIS=A:B      further redis-server programs, for the tests of ledger, queue and store
Files and options after -- go to vitest.`;
const SUITES = { quick: ['quick'], long: ['long'], all: ['quick', 'long'] };
const SLOWEST = 20;

const [first = '', ...others] = process.argv.slice(2);
const suiteNamed = /^--suite=(\w+)$/.exec(first)?.[1];
const suites = Object.hasOwn(SUITES, suiteNamed ?? 'quick') ? SUITES[suiteNamed ?? 'quick'] : undefined;
const chosen = (suiteNamed === undefined ? [first, ...others] : others).filter((argument) => argument !== '');
if (suites === undefined || chosen.includes('--help')) {
  console.log(HELP);
  process.exit(suites === undefined ? 2 : 0);
}

const running = new Set();
let folders = [];
let isEnding = false;

/** Ends everything that was started, removes the run's folders and leaves. */
function end(exitCode) {
  if (isEnding) return;
  isEnding = true;
  // With what they started: a check may be a program that starts another one.
  for (const { pid } of processesOf([], process.pid)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
  if (folders.length > 0) sweep(folders);
  process.exit(exitCode);
}
process.once('SIGINT', () => end(130));
process.once('SIGTERM', () => end(143));
process.once('SIGHUP', () => end(129));
endWithNpm(() => end(143));

/** Runs a program in the background; `output` is what it printed where it does not print here. */
function start(args, { env = {}, isQuiet = false } = {}) {
  const child = spawn(process.execPath, args, {
    stdio: isQuiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  return new Promise((resolve) => {
    child.once('close', (status) => {
      running.delete(child);
      resolve({ exitCode: status ?? 1, output });
    });
  });
}

/** Runs one step and says how long it took. The first step that fails ends the run with its exit code. */
async function step(title, work) {
  const startedAt = performance.now();
  const { exitCode, output = '' } = await work();
  if (isEnding) return new Promise(() => {});
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const verdict = exitCode === 0 ? 'ok' : `failed (exit ${exitCode})`;
  console.log(`${output.trimEnd()}${output.trim() === '' ? '' : '\n'}== ${title}: ${verdict}, ${seconds} s`);
  if (exitCode !== 0) end(exitCode);
}

const packageBin = (path) => join('node_modules', path);

/** One after the other, beside the build and the first tests: together they need some 25 s of one core. */
async function staticChecks() {
  const check = (title, ...args) => step(title, () => start(args, { isQuiet: true }));
  // Several checkers would know some types each for themselves: twice the work, for a second less.
  const tsc = [packageBin('typescript/bin/tsc'), '--noEmit', '--checkers', '1'];
  await check('types', ...tsc, '-p', 'tsconfig.json');
  await check('types of the desk', ...tsc, '-p', 'src/desk/web/tsconfig.json');
  await check('format and lint', packageBin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.');
  await check('nothing unused', packageBin('knip/bin/knip.js'));
  await check('audit of the dependencies', 'scripts/audit.mjs');
}

async function vitest(suite, chromium) {
  const { memory, disk } = makeRunFolders();
  folders = [memory, disk];
  const seed = process.env.ALMONER_TEST_SEED ?? String(Math.floor(Math.random() * 1e9));
  if (suite === 'long')
    console.log(`\nrandom seed of the long suite: ${seed} (ALMONER_TEST_SEED replays it)`);
  const file = join(disk, 'summary.json');
  const args = [
    packageBin('vitest/vitest.mjs'),
    'run',
    `--project=${suite}`,
    '--reporter=default',
    '--reporter=./scripts/test-summary.mjs',
    ...chosen,
  ];
  const startedAt = performance.now();
  const { exitCode } = await start(args, {
    env: {
      ALMONER_TEST_NO_BUILD: '1',
      ALMONER_TEST_SUMMARY: file,
      ALMONER_TEST_MEMORY: memory,
      ALMONER_TEST_DISK: disk,
      // vitest's own files go with the folder, also after Ctrl-C.
      TMPDIR: disk,
      CHROMIUM_PATH: chromium,
      ...(suite === 'long' ? { ALMONER_TEST_SEED: seed } : {}),
    },
  });
  if (isEnding) return new Promise(() => {});
  const seconds = (performance.now() - startedAt) / 1000;
  if (!existsSync(file)) {
    console.log('no test report was written');
    end(exitCode || 1);
  }
  const summary = JSON.parse(readFileSync(file, 'utf8'));
  const { processes, names } = sweep(folders);
  folders = [];
  const left = [
    ...processes.map(({ pid, name }) => `process ${pid}: ${name}`),
    ...names.filter((name) => name !== file),
  ];
  return { suite, exitCode, seconds, left, ...summary };
}

function list(title, lines) {
  if (lines.length > 0) console.log(`\n${title}:\n  ${lines.join('\n  ')}`);
}

function printSummary(parts) {
  for (const { suite, seconds, files } of parts) {
    const testSeconds = files.reduce((sum, { ms }) => sum + ms, 0) / 1000;
    console.log(
      `\n${suite} suite: ${seconds.toFixed(0)} s, ${testSeconds.toFixed(0)} s of test time in ${files.length} files`,
    );
    const slowest = files.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST);
    list(
      `the ${SLOWEST} slowest files`,
      slowest.map(({ name, ms }) => `${(ms / 1000).toFixed(1)} s  ${name}`),
    );
  }
  const all = (key) => parts.flatMap((part) => part[key]);
  list('NOT RUN, because the process that would have run them ended', all('notRun'));
  list('SKIPPED', all('skipped'));
  list('LEFT BEHIND by the run', all('left'));
  const sum = (key) => parts.reduce((total, part) => total + part[key], 0);
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
  const isWhole = chosen.length > 0 || all('skipped').length === 0;
  const failed = parts.find(({ exitCode }) => exitCode !== 0)?.exitCode;
  return failed ?? (isWhole && all('left').length === 0 ? 0 : 1);
}

console.log(orExit(ensureRedis));
const chromium = orExit(ensureChromium);
console.log(chromium);
const isChecked = suites.includes('quick');
const checks = isChecked ? staticChecks() : Promise.resolve();
if (isChecked || !buildIsCurrent())
  await step('build', () =>
    start(['scripts/build.mjs', ...(isChecked ? ['--no-types'] : [])], { isQuiet: true }),
  );

// These would change what the tests see. ALMONER_TEST_ is for the tests.
for (const name of Object.keys(process.env))
  if (/^(ALMONER_(?!TEST_)|REDIS_URL$)/.test(name)) delete process.env[name];
const parts = [];
const servers = suites.includes('quick') ? testServers() : [];
for (const { project, program } of servers) console.log(`${project}: ${program}`);
for (const suite of [...suites, ...servers.map(({ project }) => project)])
  parts.push(await vitest(suite, chromium));
await checks;
process.exitCode = printSummary(parts);
