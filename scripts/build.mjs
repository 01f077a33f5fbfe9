// Compiles src to dist, puts what tsc does not copy (Lua scripts and other assets) beside it, and bundles the
// desk's pages and the command line.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { BUILD_STAMP } from './build-age.mjs';
import { bundleCommandLine } from './bundle.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(root);
rmSync('dist', { recursive: true, force: true });

const tsc = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

const web = join('src', 'desk', 'web');
const isAsset = (path) => path !== web && !['.ts', '.tsx'].includes(extname(path));
cpSync('src', 'dist', { recursive: true, filter: isAsset });
await build({ configFile: join(web, 'vite.config.ts') });
await bundleCommandLine();
chmodSync('dist/cli/main.js', 0o755);
writeFileSync(BUILD_STAMP, '');
