// npm test: audit, format, lint, types, nothing unused, build, all tests. Arguments go on to vitest: npm test -- test/core
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { auditAll } from './audit.mjs';
import { ensureChromium } from './install-chromium.mjs';
import { ensureRedis } from './install-redis.mjs';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));

/** Runs one step and says how long it took. */
function step(title, work) {
  console.log(`\n== ${title}`);
  const startedAt = performance.now();
  const exitCode = work();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`== ${title}: ${exitCode === 0 ? 'ok' : `failed (exit ${exitCode})`}, ${seconds} s`);
  return exitCode;
}

/** The first step that fails ends everything with its exit code. */
function mustPass(title, work) {
  const exitCode = step(title, work);
  if (exitCode !== 0) process.exit(exitCode);
}

const node = (args, env = {}) =>
  spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1;

let chromium = '';
mustPass('redis and chromium', () => {
  try {
    console.log(ensureRedis());
    chromium = ensureChromium();
    console.log(chromium);
    return 0;
  } catch (error) {
    console.error(error.message);
    return 2;
  }
});
mustPass('audit of the dependencies', () => auditAll('.'));
mustPass('format and lint', () =>
  node(['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']),
);
const types = (project) => node(['node_modules/typescript/bin/tsc', '-p', project, '--noEmit']);
mustPass('types', () => types('tsconfig.json') || types('src/desk/web/tsconfig.json'));
mustPass('nothing unused', () => node(['node_modules/knip/bin/knip.js']));
mustPass('build', () => node(['scripts/build.mjs']));

// Left over from a build environment, these would change what the tests see. ALMONER_TEST_ is for the tests.
for (const name of Object.keys(process.env))
  if (/^(ALMONER_(?!TEST_)|REDIS_URL$)/.test(name)) delete process.env[name];
const folder = mkdtempSync(join(tmpdir(), 'almoner-vitest-'));

function vitest(title, ...args) {
  const file = join(folder, 'summary.json');
  rmSync(file, { force: true });
  const exitCode = step(title, () =>
    node(
      [
        'node_modules/vitest/vitest.mjs',
        'run',
        '--reporter=default',
        '--reporter=./scripts/test-summary.mjs',
        ...args,
      ],
      {
        ALMONER_TEST_NO_BUILD: '1',
        ALMONER_TEST_SUMMARY: file,
        CHROMIUM_PATH: chromium,
      },
    ),
  );
  if (!existsSync(file)) {
    console.log('no test report was written');
    process.exit(exitCode || 1);
  }
  return { exitCode, ...JSON.parse(readFileSync(file, 'utf8')) };
}

const chosen = process.argv.slice(2);
const parts =
  chosen.length > 0
    ? [vitest('tests', ...chosen)]
    : [vitest('tests', '--project=quick'), vitest('long tests', '--project=long')];
rmSync(folder, { recursive: true, force: true });

const SLOWEST = 20;
const sum = (count) => parts.reduce((total, part) => total + count(part), 0);
const slowest = parts.flatMap(({ files }) => files).sort((one, other) => other.ms - one.ms);
list(
  `the ${SLOWEST} slowest files`,
  slowest.slice(0, SLOWEST).map(({ name, ms }) => `${(ms / 1000).toFixed(1)} s  ${name}`),
);
list(
  'NEEDED A SECOND TRY, and has to be mended',
  parts.flatMap(({ retried }) => retried),
);
list(
  'NOT RUN, because the process that would have run them ended',
  parts.flatMap(({ notRun }) => notRun),
);
const skipped = parts.flatMap((part) => part.skipped);
list('SKIPPED', skipped);
console.log(`\n${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed`);
process.exitCode =
  parts.find(({ exitCode }) => exitCode !== 0)?.exitCode ??
  (skipped.length > 0 && chosen.length === 0 ? 1 : 0);

function list(title, lines) {
  if (lines.length > 0) console.log(`\n${title}:\n  ${lines.join('\n  ')}`);
}
