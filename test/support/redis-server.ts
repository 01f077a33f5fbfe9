import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** A real redis-server in its own folder. By default it persists every write, as the ledger requires. */
export type TestRedis = {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly pid: number;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
  /** Sends SIGKILL; the folder and its append-only file stay. */
  kill(): Promise<void>;
  /** Starts the server again on the same port and folder. */
  restart(): Promise<void>;
  client(): Redis;
};

/**
 * A port that stays free until the test uses it. It lies below the range that the kernel gives to outgoing connections,
 * and in a range of this test process's own, so that no other test takes it.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS; tries++) {
    at = (at + 1) % PORTS;
    const port = FIRST_PORT + WORKER * PORTS + at;
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

const FIRST_PORT = 12_000;
const PORTS = 1_000;
const WORKER = Number(process.env.VITEST_POOL_ID ?? 0) % 20;
let at = Math.floor(Math.random() * PORTS);

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** The Redis server under test: `redis-server`, or the project's own build (see scripts/test-servers.mjs). */
export const SERVER_PROGRAM = process.env.ALMONER_TEST_SERVER ?? 'redis-server';

const SAFE = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];

export async function startRedis(settings: readonly string[] = []): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-redis-'));
  const clients = new Set<Redis>();
  const port = await freePort();
  let child = await launch(port, folder, settings);

  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    get pid() {
      return child.pid ?? -1;
    },
    async stop() {
      for (const client of clients) client.disconnect();
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
    kill: () => end('SIGKILL'),
    async restart() {
      child = await launch(port, folder, settings);
    },
    client() {
      const client = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null });
      client.on('error', () => {});
      clients.add(client);
      return client;
    },
  };
}

async function launch(port: number, folder: string, settings: readonly string[]): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...SAFE];
  const child = spawn(SERVER_PROGRAM, [...args, ...settings], { stdio: ['ignore', 'pipe', 'inherit'] });
  const out = child.stdout;
  if (out === null) throw new Error('redis-server has no stdout');
  let seen = '';
  for await (const chunk of out) {
    seen += String(chunk);
    if (seen.includes('Ready to accept connections')) {
      out.on('data', () => {});
      return child;
    }
  }
  throw new Error(`redis-server did not start:\n${seen}`);
}
