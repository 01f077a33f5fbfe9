// npm run sabotage [-- NAME…]
// Tests the tests: each small sabotage is applied to a copy of the tree, and the test file that is there to
// notice it must fail. Nothing of the tree itself is touched.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SABOTAGES } from './sabotages.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

const COPIED = [
  'src',
  'test',
  'scripts',
  'jobs',
  'docs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
];

function attempt(sabotage) {
  const tree = mkdtempSync(join(ROOT, '.build-sabotage-'));
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(tree, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    const path = join(tree, sabotage.file);
    const text = readFileSync(path, 'utf8');
    if (text.split(sabotage.find).length !== 2) return 'the place to sabotage is not there exactly once';
    writeFileSync(
      path,
      text.replace(sabotage.find, () => sabotage.put),
    );
    const env = { ...process.env, ALMONER_TEST_DIST: 'dist', ALMONER_TEST_NO_BUILD: '1' };
    if (sabotage.build) {
      // Types may not survive a sabotage; what counts is that the program runs.
      spawnSync('npx', ['tsc', '-p', 'tsconfig.build.json', '--outDir', 'dist'], { cwd: tree });
      cpSync(join(tree, 'src'), join(tree, 'dist'), {
        recursive: true,
        filter: (from) => !/\.tsx?$/.test(from),
      });
    } else symlinkSync(join(ROOT, 'dist'), join(tree, 'dist'));
    const run = spawnSync('npx', ['vitest', 'run', '--bail=1', sabotage.test], {
      cwd: tree,
      env,
      encoding: 'utf8',
    });
    const ran = /Tests\s+.*(failed|passed)/.test(run.stdout.replaceAll(/\u001b\[[0-9;]*m/g, ''));
    if (!ran) return `the test did not run:\n${run.stdout.slice(-2_000)}${run.stderr.slice(-2_000)}`;
    return run.status === 0 ? 'NOT noticed' : null;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

// What is sabotaged in the sources only meets a sound build, so that no test fails for the lack of one.
const build = spawnSync(process.execPath, [join(ROOT, 'scripts/build.mjs')], { stdio: 'inherit' });
if (build.status !== 0) process.exit(1);

const wanted = process.argv.slice(2);
let missed = 0;
for (const sabotage of SABOTAGES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const fault = attempt(sabotage);
  if (fault !== null) missed += 1;
  console.log(
    `${fault === null ? 'noticed' : 'MISSED '}  ${sabotage.name.padEnd(28)} by ${sabotage.test}${fault === null ? '' : `: ${fault}`}`,
  );
}
console.log(missed === 0 ? 'Every sabotage was noticed.' : `${missed} sabotages were not noticed.`);
process.exit(missed === 0 ? 0 : 1);
