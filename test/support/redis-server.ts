import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** A real redis-server in a folder of its own, safe in the ledger's sense unless told otherwise. */
export type TestRedis = {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly pid: number;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
  /** SIGKILL; the folder and its append-only file stay. */
  kill(): Promise<void>;
  /** Starts the server again on the same port and folder. */
  restart(): Promise<void>;
  client(): Redis;
};

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** The server under test: `redis-server`, or the one of the project (see scripts/test-servers.mjs). */
export const SERVER_PROGRAM = process.env.ALMONER_TEST_SERVER ?? 'redis-server';

const SAFE = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];

export async function startRedis(settings: readonly string[] = []): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-redis-'));
  const clients = new Set<Redis>();
  const { port, ...started } = await launchSomewhere(folder, settings);
  let { child } = started;

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

/** A port that was free may be another's by the time the server wants it. */
async function launchSomewhere(folder: string, settings: readonly string[]) {
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    try {
      return { port, child: await launch(port, folder, settings) };
    } catch (error) {
      if (tries === 5 || !String(error).includes('Address already in use')) throw error;
    }
  }
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
