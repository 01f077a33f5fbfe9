// npm start: installs what is missing, then rehearses the sample job. It makes no call outside this machine.
import { spawn, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIsCurrent } from './build-age.mjs';
import { ensureRedis } from './install-redis.mjs';
import { orExit } from './system-packages.mjs';

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));

if ((process.env.REDIS_URL ?? '') === '') orExit(ensureRedis);
if (!buildIsCurrent()) {
  const build = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
  if (build.status !== 0) process.exit(build.status ?? 1);
}

const child = spawn(
  process.execPath,
  ['dist/cli/main.js', 'rehearse', 'jobs/airdrop.csv', ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
// The program decides what a signal means; we only wait for it. A terminal sends SIGINT to both of us.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});
