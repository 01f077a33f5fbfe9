import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** A Redis of the bench's own. `safe` is how almoner wants it: every write on disk before the reply. */
export async function startRedis({ safe = true, more = [] } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-bench-redis-'));
  const port = await freePort();
  const durable = safe
    ? ['--appendonly', 'yes', '--appendfsync', 'always', '--auto-aof-rewrite-percentage', '0']
    : ['--appendonly', 'no'];
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder, ...durable, ...more],
    { stdio: 'ignore' },
  );
  const client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null });
  client.on('error', () => {});
  await client.ping();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: child.pid,
    client,
    async memoryBytes() {
      return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
    },
    cpuSeconds: () => cpuSecondsOf(child.pid),
    async stop() {
      client.disconnect();
      child.kill('SIGKILL');
      await once(child, 'close');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** User and system time of a process so far. */
export async function cpuSecondsOf(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Asks for PING every few milliseconds and keeps the slowest answers: what a blocked Redis looks like. */
export function startLatencyProbe(url) {
  const client = new Redis(url);
  client.on('error', () => {});
  let running = true;
  let worstMs = 0;
  let asked = 0;
  const loop = (async () => {
    while (running) {
      const begin = performance.now();
      await client.ping();
      worstMs = Math.max(worstMs, performance.now() - begin);
      asked += 1;
      await sleep(5);
    }
  })();
  return {
    /** The worst since the last question. */
    take() {
      const taken = { worstMs, asked };
      worstMs = 0;
      asked = 0;
      return taken;
    },
    async stop() {
      running = false;
      await loop;
      client.disconnect();
    },
  };
}

/** What the server itself saw: its slowest commands, in milliseconds, since the last reset. */
export async function slowestCommands(client, most = 5) {
  const entries = await client.call('SLOWLOG', 'GET', '128');
  return entries
    .map(([, , micros, args]) => ({
      ms: micros / 1000,
      command: String(args[0]).toLowerCase(),
      script: String(args[1] ?? ''),
    }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, most);
}

export async function resetSlowLog(client) {
  await client.config('SET', 'slowlog-log-slower-than', '1000');
  await client.config('SET', 'slowlog-max-len', '1024');
  await client.call('SLOWLOG', 'RESET');
}
