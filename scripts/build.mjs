// Compiles src to dist, puts what tsc does not copy (Lua scripts and other assets) beside it, and bundles the
// desk's pages and the command line. Of the declarations those stay that a program which imports the package meets.
// --no-types: without checking types, which `npm test` does beside it.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { BUILD_STAMP } from './build-age.mjs';
import { bundleCommandLine } from './bundle.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(root);
rmSync('dist', { recursive: true, force: true });

const compile = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'];
if (process.argv.includes('--no-types')) compile.push('--noCheck');
const tsc = spawnSync(process.execPath, compile, { stdio: 'inherit' });
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

const reached = new Set();
const reach = (file) => {
  if (reached.has(file)) return;
  reached.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)\.js'/g))
    reach(join(dirname(file), `${path}.d.ts`));
};
reach(join('dist', 'index.d.ts'));
for (const path of readdirSync('dist', { recursive: true }).map((name) => join('dist', name)))
  if (path.endsWith('.d.ts') && !reached.has(path)) rmSync(path);

const web = join('src', 'desk', 'web');
const isAsset = (path) => path !== web && !['.ts', '.tsx'].includes(extname(path));
cpSync('src', 'dist', { recursive: true, filter: isAsset });
await putScriptsTogether();
await build({ configFile: join(web, 'vite.config.ts') });
await bundleCommandLine();
chmodSync('dist/cli/main.js', 0o755);
writeFileSync(BUILD_STAMP, '');

/** Each script of the ledger is whole, and without what it does not use, so that no command has to do that. */
async function putScriptsTogether() {
  const ledger = join('dist', 'ledger');
  const { LEDGER_SCRIPTS } = await import('../dist/ledger/lua-scripts.js');
  const paths = readdirSync(ledger, { recursive: true }).filter((path) => path.endsWith('.lua'));
  for (const path of paths.filter((path) => dirname(path) !== 'includes'))
    writeFileSync(join(ledger, path), LEDGER_SCRIPTS.get(basename(path, '.lua')).text);
  rmSync(join(ledger, 'includes'), { recursive: true });
}
