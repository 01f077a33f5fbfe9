// npm test: audit, format, lint, types, nothing unused, build, all tests. Arguments go on to vitest: npm test -- test/core
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
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

const folder = mkdtempSync(join(tmpdir(), 'almoner-vitest-'));
const reportFile = join(folder, 'report.json');
// Left over from a build environment, these would change what the tests see.
for (const name of Object.keys(process.env))
  if (/^(ALMONER_|REDIS_URL$)/.test(name)) delete process.env[name];
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
process.exitCode = step('tests', () =>
  node(['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...process.argv.slice(2)], {
    ALMONER_TEST_NO_BUILD: '1',
    CHROMIUM_PATH: chromium,
  }),
);
console.log(`\n${totals()}`);
rmSync(folder, { recursive: true, force: true });

/** A file that could not even be loaded has no failed test in the report, and counts as one. */
function totals() {
  try {
    const report = JSON.parse(readFileSync(reportFile, 'utf8'));
    const broken = report.testResults.filter(
      (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
    );
    return `${report.numPassedTests} passed, ${report.numFailedTests + broken.length} failed`;
  } catch {
    return 'no test report was written';
  }
}
