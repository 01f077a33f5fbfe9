import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { openStoreFolder } from '../../../src/runtime/redis/folder.js';
import { ensureServer } from '../../../src/runtime/redis/server.js';
import { openStore, type Store } from '../../../src/runtime/redis/store.js';
import { dataFolders } from '../../support/data-folder.js';
import { TcpProxy } from '../../support/program/tcp-proxy.js';
import { startRedis } from '../../support/redis-server.js';

/** A store that neither answers nor closes the connection: frozen, or its host has vanished. */

/** Each is seconds long in the program. */
const LIMITS = { answerMs: 400, blockingMaxMs: 600, readyLimitMs: 400, quitLimitMs: 200 };
/** A sabotaged limit keeps a test waiting for ever. */
const timeout = 20_000;
const logger = pino({ level: 'silent' });
const newFolder = dataFolders();
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function open(): Promise<{ store: Store; scripts: ScriptClient; net: TcpProxy; pid: number }> {
  const server = await startRedis();
  ended.push(() => server.stop());
  const net = await TcpProxy.open(server.port);
  ended.push(() => net.close());
  const redisUrl = `redis://127.0.0.1:${net.port}`;
  const options = { dataFolder: '/nowhere', clientName: 'test', logger, ...LIMITS };
  const store = await openStore({ redisUrl, ...options });
  ended.push(() => store.close());
  return { store, scripts: new ScriptClient(store.ledger, 10_000, () => {}), net, pid: server.pid };
}

const freeze = (pid: number) => {
  process.kill(pid, 'SIGSTOP');
  ended.push(() => process.kill(pid, 'SIGCONT'));
};

describe('a store that says nothing and keeps the connection', { timeout }, () => {
  it('is given up after a while: a new connection is made, and the call is asked again on it', async () => {
    const { store, scripts, net } = await open();
    const first = await store.ledger.client('ID');
    net.silence();
    await scripts.ask('count', () => store.ledger.incr('n'));
    expect(await store.ledger.client('ID')).not.toBe(first);
  });

  it('frozen for longer than one call waits: the call is asked again and answered when it is back', async () => {
    const { store, pid } = await open();
    const patient = new ScriptClient(store.ledger, Number.POSITIVE_INFINITY, () => {});
    const closed = new Promise((resolve) => store.ledger.once('close', resolve));
    freeze(pid);
    const name = patient.ask('name', () => store.ledger.set('name', 'a'));
    await closed;
    process.kill(pid, 'SIGCONT');
    expect(await name).toBe('OK');
  });

  it('ends a call that has only so much patience with the error that names the store', async () => {
    const { store, pid } = await open();
    const impatient = new ScriptClient(store.ledger, 1_000, () => {});
    freeze(pid);
    await expect(impatient.ask('read', () => store.ledger.get('n'))).rejects.toMatchObject({
      code: 'ALM_STORE_UNREACHABLE',
      exit: 5,
    });
  });

  it('is closed all the same', async () => {
    const { store, pid } = await open();
    store.connect('jobs');
    freeze(pid);
    await store.close();
  });

  it('and while it connects is told as one that cannot be reached', async () => {
    const net = await TcpProxy.open(1);
    ended.push(() => net.close());
    net.mode = 'silent';
    const redisUrl = `redis://127.0.0.1:${net.port}`;
    await expect(
      openStore({ redisUrl, dataFolder: '/nowhere', clientName: 'test', logger, ...LIMITS }),
    ).rejects.toMatchObject({ code: 'ALM_STORE_UNREACHABLE' });
  });

  it('services ask again on a new connection, once what they wait for cannot be a blocking command', async () => {
    const { store, net } = await open();
    const service = store.connect('jobs');
    await service.ping();
    net.silence();
    expect(await service.incr('jobs')).toBe(1);
  });
});

describe('the embedded store, frozen', { timeout }, () => {
  it('is named as such, with its process, and not as a stranger on its port', async () => {
    const folder = await newFolder();
    const store = await openStore({ redisUrl: null, dataFolder: folder, clientName: 'test', logger });
    ended.push(() => store.close());
    const pid = Number(await readFile(join(folder, 'redis', 'server.pid'), 'utf8'));
    freeze(pid);
    const limits = { limitMs: 1, answerMs: 200 };
    await expect(ensureServer(await openStoreFolder(folder), logger, limits)).rejects.toMatchObject({
      code: 'ALM_STORE_UNREACHABLE',
      message: expect.stringContaining(`pid ${pid}`),
      next: expect.stringContaining(`kill -CONT ${pid}`),
    });
  });
});
