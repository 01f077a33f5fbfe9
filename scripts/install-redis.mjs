// Makes sure that redis-server or valkey-server is there for the embedded store.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureProgram, findProgram, orExit } from './system-packages.mjs';

// The same places as src/runtime/redis/server.ts, which this runs before the build of.
const FURTHER_FOLDERS = [
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/redis/bin',
  '/usr/local/opt/redis/bin',
  '/home/linuxbrew/.linuxbrew/bin',
];

const WAYS = `Any one of these will do:
  - Debian, Ubuntu:  sudo apt-get install redis-server
  - macOS:           brew install redis
  - Docker:          docker compose up
  - your own Redis:  set REDIS_URL, e.g. REDIS_URL=redis://localhost:6379`;

export function ensureRedis() {
  const result = ensureProgram({
    title: 'Redis',
    find: () => findProgram(['redis-server', 'valkey-server'], FURTHER_FOLDERS),
    apt: ['redis-server', 'redis-tools'],
    brew: ['redis'],
    ways: WAYS,
  });
  if (result.installed && process.platform === 'linux') stopSystemService(result.prefix);
  return result.path;
}

/**
 * Debian's package sets up a service on port 6379. Nobody asked for one: we installed the package for the
 * program in it, so the service that came along is stopped and does not come back at the next boot.
 */
function stopSystemService(prefix) {
  const quietly = (...command) => {
    const [program, ...args] = [...prefix, ...command];
    spawnSync(program, args, { stdio: 'ignore' });
  };
  if (existsSync('/run/systemd/system')) quietly('systemctl', 'disable', '--now', 'redis-server.service');
  else if (existsSync('/run/redis/redis-server.pid')) quietly('service', 'redis-server', 'stop');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(`Redis: ${orExit(ensureRedis)}`);
