// npm run sabotage [-- NAME…]: tests the tests. It applies each small sabotage to a copy of the tree; the named test
// file must then fail. The tree itself is not touched.
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformWithOxc } from 'vite';
import { buildIsCurrent } from './build-age.mjs';
import { ensureChromium } from './install-chromium.mjs';
import { ensureRedis } from './install-redis.mjs';
import { endWithNpm, makeRunFolders, sweep } from './leftovers.mjs';
import { SABOTAGES } from './sabotages.mjs';
import { orExit } from './system-packages.mjs';

const HELP = `npm run sabotage [-- NAME…]

Applies each sabotage of scripts/sabotages*.mjs to a copy of the tree and runs the test file that it names: first in
the quick suite, and where that has no such file or does not fail, in the long one. Two run at once. Names choose
single sabotages; without names all of them run.

Ends with 1 where a sabotage is missed, or where the quick suite notices less than 90 % of all.`;

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Two cores are the smallest machine this runs on, and a test waits for a part of its time. */
const AT_ONCE = 2;
const QUICK_SHARE_MIN = 0.9;
/** Longer than the longest test file; a test that waits for ever ends after two minutes. */
const RUN_LIMIT_MS = 600_000;
/** Everything that the tests read. */
const COPIED = [
  'src',
  'test',
  'scripts',
  'jobs',
  'docs',
  'dist',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
];

process.chdir(ROOT);
const wanted = process.argv.slice(2);
if (wanted.includes('--help')) {
  console.log(HELP);
  process.exit(0);
}
const unknown = wanted.filter((name) => !SABOTAGES.some((sabotage) => sabotage.name === name));
if (unknown.length > 0) {
  console.error(`There is no sabotage ${unknown.join(', ')}.\n\n${HELP}`);
  process.exit(2);
}

// These would change what the tests see. ALMONER_TEST_ is for the tests.
for (const name of Object.keys(process.env))
  if (/^(ALMONER_(?!TEST_)|REDIS_URL$)/.test(name)) delete process.env[name];

/** Folders of this run: the copies of the tree, and those of the tests. Processes belong to them by their paths. */
const folders = new Set();
const children = new Set();

function end(exitCode) {
  for (const child of children) child.kill('SIGKILL');
  // A process that was about to start another may have done so before it was killed.
  for (let time = 0; time < 2; time++) sweep([...folders]);
  process.exit(exitCode);
}
process.once('SIGINT', () => end(130));
process.once('SIGTERM', () => end(143));
process.once('SIGHUP', () => end(129));
endWithNpm(() => end(143));
process.once('uncaughtException', (error) => {
  console.error(error);
  end(1);
});

/**
 * A copy outside of the tree, where neither git nor vitest looks. Its program is not bundled, so that a sabotage of one
 * module changes one file.
 */
async function copyTree() {
  const tree = mkdtempSync(join(tmpdir(), 'almoner-sabotage-'));
  folders.add(tree);
  const isNeeded = (from) => !/\.(map|d\.ts)$/.test(from);
  for (const name of COPIED)
    cpSync(name, join(tree, name), { recursive: true, preserveTimestamps: true, filter: isNeeded });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  rmSync(join(tree, 'dist/cli'), { recursive: true });
  for (const name of readdirSync(join(tree, 'src/cli'), { recursive: true }))
    if (/\.\w+$/.test(name))
      await writeSource(tree, join('src/cli', name), readFileSync(join('src/cli', name), 'utf8'));
  return tree;
}

/** Writes a file of src and what the build makes of it. Types may not survive a sabotage; the program must run. */
async function writeSource(tree, file, text) {
  writeFileSync(join(tree, file), text);
  const built = join(tree, file.replace(/^src/, 'dist').replace(/\.ts$/, '.js'));
  mkdirSync(dirname(built), { recursive: true });
  writeFileSync(
    built,
    file.endsWith('.ts') ? (await transformWithOxc(text, file, { sourcemap: false })).code : text,
  );
}

/** Applies a sabotage, runs its test and reverts it. Returns the failed test, or why none failed. */
async function attempt(sabotage, tree) {
  const { file, find, put, test } = sabotage;
  const sound = readFileSync(join(tree, file), 'utf8');
  if (sound.split(find).length !== 2) return { fault: 'the text to replace is not in the file exactly once' };
  if (/^src\/desk\/web\//.test(file)) return { fault: 'pages are bundled, and this script does not bundle' };
  await writeSource(
    tree,
    file,
    sound.replace(find, () => put),
  );
  try {
    const suites = test.endsWith('.long.test.ts') ? ['long'] : ['quick', 'long'];
    let fault = null;
    for (const suite of suites) {
      const result = await runTest(tree, suite, test);
      if (result.noticedBy !== undefined) return { suite, ...result };
      // A file that only one suite has is not a fault of the other.
      if (result.fault !== NO_FILE) fault ??= result.fault;
    }
    return { fault: fault ?? NO_FILE };
  } finally {
    await writeSource(tree, file, sound);
  }
}

const NO_FILE = 'no suite has the test file';

async function runTest(tree, suite, test) {
  const { memory, disk } = makeRunFolders();
  for (const folder of [memory, disk]) folders.add(folder);
  const report = join(disk, 'report.json');
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    `--project=${suite}`,
    '--bail=1',
    '--no-cache',
    '--reporter=json',
    `--outputFile=${report}`,
    test,
  ];
  try {
    const output = await run(args, {
      cwd: tree,
      env: {
        ...process.env,
        ALMONER_TEST_DIST: 'dist',
        ALMONER_TEST_NO_BUILD: '1',
        ALMONER_TEST_MEMORY: memory,
        ALMONER_TEST_DISK: disk,
        CHROMIUM_PATH: chromium,
      },
    });
    if (output.includes('No test files found')) return { fault: NO_FILE };
    return judge(report, output);
  } finally {
    sweep([memory, disk]);
    for (const folder of [memory, disk]) folders.delete(folder);
  }
}

/** Runs Node to its end, and not for ever. Returns what it printed. */
function run(args, options) {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  const limit = setTimeout(() => child.kill('SIGKILL'), RUN_LIMIT_MS);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  return new Promise((resolve) => {
    child.once('close', () => {
      clearTimeout(limit);
      children.delete(child);
      resolve(output);
    });
  });
}

/** A test that failed has noticed; a file that could not be loaded, or that only left something behind, has not. */
function judge(report, output) {
  let files;
  try {
    files = JSON.parse(readFileSync(report, 'utf8')).testResults;
  } catch {
    return { fault: `the test did not run:\n${output.slice(-4_000)}` };
  }
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed !== undefined) return { noticedBy: failed.fullName };
  const broken = files.find(({ status, message }) => status === 'failed' && !/left behind/.test(message));
  if (broken === undefined) return { fault: 'NOT noticed' };
  if (tests.length === 0) return { fault: `the test did not run: ${broken.message}` };
  return { noticedBy: `its set-up: ${broken.message.split('\n')[0]}` };
}

function printTable(results, isWhole) {
  const bySuite = (suite) => results.filter((result) => result.suite === suite);
  const missed = results.filter(({ fault }) => fault !== undefined);
  const quickShare = bySuite('quick').length / results.length;
  const line = (title, list) =>
    console.log(
      `${title.padEnd(18)} ${String(list.length).padStart(4)} ${((100 * list.length) / results.length).toFixed(1).padStart(6)} %`,
    );
  console.log('');
  line('noticed by quick', bySuite('quick'));
  line('noticed by long', bySuite('long'));
  line('missed', missed);
  if (bySuite('long').length > 0)
    console.log(
      `\nby long alone: ${bySuite('long')
        .map(({ name }) => name)
        .join(', ')}`,
    );
  if (missed.length > 0) console.log(`\nmissed: ${missed.map(({ name }) => name).join(', ')}`);
  const isTooFew = isWhole && quickShare < QUICK_SHARE_MIN;
  if (isTooFew) console.log(`\nThe quick suite must notice at least ${100 * QUICK_SHARE_MIN} %.`);
  return missed.length === 0 && !isTooFew ? 0 : 1;
}

// Without them every test would fail, and every sabotage would look noticed.
orExit(ensureRedis);
const chromium = orExit(ensureChromium);
if (!buildIsCurrent()) {
  const build = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
  if (build.status !== 0) process.exit(1);
}
const chosen = SABOTAGES.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const left = [...chosen];
const results = [];

async function work() {
  const tree = await copyTree();
  for (let sabotage = left.shift(); sabotage !== undefined; sabotage = left.shift()) {
    const startedAt = performance.now();
    const result = { name: sabotage.name, ...(await attempt(sabotage, tree)) };
    results.push(result);
    const seconds = `${((performance.now() - startedAt) / 1000).toFixed(0)} s`.padStart(5);
    const how = result.fault === undefined ? result.suite.padEnd(6) : 'MISSED';
    console.log(
      `${how} ${seconds}  ${sabotage.name}: ${result.noticedBy ?? `${sabotage.test}: ${result.fault}`}`,
    );
  }
}

await Promise.all(Array.from({ length: Math.min(AT_ONCE, chosen.length) }, work));
end(printTable(results, wanted.length === 0));
