import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { openStoreFolder } from '../../../src/runtime/redis/folder.js';
import { ensureServer, findServerBinary } from '../../../src/runtime/redis/server.js';
import { openStore, type Store } from '../../../src/runtime/redis/store.js';
import { dataFolders } from '../../support/data-folder.js';
import { onDisk } from '../../support/on-disk.js';
import { startRedis } from '../../support/redis-server.js';

onDisk();

const newFolder = dataFolders();
const open = (dataFolder: string): Promise<Store> =>
  openStore({ redisUrl: null, dataFolder, clientName: 'test', logger: pino({ level: 'silent' }) });

const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

/** A program that was on the folder's port before us. */
async function hold(port: number, onConnection: (socket: Socket) => void): Promise<void> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  ended.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

async function usedFolder(): Promise<{ folder: string; port: number }> {
  const folder = await newFolder();
  const store = await open(folder);
  await store.ledger.set('kept', 'yes');
  await store.close();
  return { folder, port: Number(await readFile(join(folder, 'redis', 'port'), 'utf8')) };
}

describe('the embedded Redis says what is wrong', () => {
  it('when a program that is no Redis holds its port', async () => {
    const { folder, port } = await usedFolder();
    await hold(port, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await expect(open(folder)).rejects.toMatchObject({
      code: 'ALM_STORE_PORT_TAKEN',
      message: expect.stringMatching(new RegExp(`Port ${port} .*HTTP/1.1 400`)),
      next: expect.stringContaining('redis/port'),
    });
  });

  it('when a Redis without password, or with another one, holds its port', async () => {
    for (const settings of [[], ['--requirepass', 'another']]) {
      const stranger = await startRedis(settings);
      const folder = await newFolder();
      await mkdir(join(folder, 'redis'));
      await writeFile(join(folder, 'redis', 'port'), `${stranger.port}\n`);
      await expect(open(folder)).rejects.toMatchObject({ code: 'ALM_STORE_PORT_TAKEN' });
      await stranger.stop();
    }
  });

  it('when the program on its port never says a word', async () => {
    const { folder, port } = await usedFolder();
    await hold(port, () => {});
    const storeFolder = await openStoreFolder(folder);
    const limits = { limitMs: 1, answerMs: 200 };
    await expect(ensureServer(storeFolder, pino({ level: 'silent' }), limits)).rejects.toMatchObject({
      code: 'ALM_STORE_PORT_TAKEN',
      message: expect.stringContaining('accepts the connection but does not answer'),
    });
  });

  it('and finds its data on a new port after the remedy was followed', async () => {
    const { folder, port } = await usedFolder();
    await hold(port, (socket) => socket.end('220 mail\r\n'));
    await expect(open(folder)).rejects.toMatchObject({ code: 'ALM_STORE_PORT_TAKEN' });
    await rm(join(folder, 'redis', 'port'));
    const store = await open(folder);
    expect(await store.ledger.get('kept')).toBe('yes');
    await store.close();
  });

  it('when the data folder cannot be used', async () => {
    const folder = await newFolder();
    const file = join(folder, 'file');
    await writeFile(file, '');
    await expect(open(file)).rejects.toMatchObject({
      code: 'ALM_STORE_FOLDER',
      message: expect.stringContaining(file),
      next: expect.stringContaining('ALMONER_DATA'),
    });
    await mkdir(join(folder, 'redis'));
    await writeFile(join(folder, 'redis', 'port'), 'nonsense\n');
    await expect(open(folder)).rejects.toMatchObject({ code: 'ALM_STORE_FOLDER' });
  });

  it('when the append-only file is damaged in the middle, and leaves the file as it is', async () => {
    const { folder } = await usedFolder();
    const aof = join(folder, 'redis', 'appendonlydir');
    const names = await readdir(aof);
    const incremental = names.find((name) => name.endsWith('.incr.aof')) ?? '';
    await appendFile(join(aof, incremental), '\0\0\0\0garbage\r\n');
    const before = await readFile(join(aof, incremental));
    await expect(open(folder)).rejects.toMatchObject({
      code: 'ALM_STORE_DAMAGED',
      next: expect.stringContaining('redis-check-aof'),
    });
    expect(await readFile(join(aof, incremental))).toEqual(before);
  });

  it('when no server is installed, naming every way to get one', async () => {
    const empty = await newFolder();
    await expect(findServerBinary(empty, [])).rejects.toMatchObject({
      code: 'ALM_STORE_NO_SERVER',
      next: expect.stringMatching(/apt-get.*brew.*docker compose.*REDIS_URL/),
    });
  });

  it('and takes valkey-server, also from a place that the PATH does not name', async () => {
    const folder = await newFolder();
    const valkey = join(folder, 'valkey-server');
    await symlink(process.execPath, valkey);
    expect(await findServerBinary('', [folder])).toBe(valkey);
    expect(await findServerBinary(folder, [])).toBe(valkey);
  });

  it('and works in a folder whose name holds blanks, quotes and backslashes', async () => {
    const folder = join(await newFolder(), 'my "data" \\ folder');
    const store = await open(folder);
    await store.ledger.set('x', '1');
    await store.close();
    expect(await readdir(join(folder, 'redis'))).toContain('appendonlydir');
  });
});
