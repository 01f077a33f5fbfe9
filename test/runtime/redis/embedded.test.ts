import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { dataFolders } from '../../support/data-folder.js';
import { onDisk } from '../../support/on-disk.js';
import { isAlive, startStoreProgram } from '../../support/store-program.js';
import { until } from '../../support/until.js';
import { oneServerForAll, open, openAcrossShutdowns, serverPidOf } from './embedded-commands.js';

onDisk();

const newFolder = dataFolders();

/** Bytes of each file with what was written since the store's file was last written anew. */
async function writtenSince(folder: string): Promise<number[]> {
  const aof = join(folder, 'redis', 'appendonlydir');
  const found = (await readdir(aof)).filter((name) => name.endsWith('.incr.aof'));
  return Promise.all(found.map(async (name) => (await stat(join(aof, name))).size));
}

describe('the embedded Redis', () => {
  it('is one for 6 commands started at once on an empty folder, and the last one ends it', async () => {
    await oneServerForAll(await newFolder(), 6);
  });

  it('serves every command that starts while the last one shuts it down', async () => {
    await openAcrossShutdowns(await newFolder(), 6);
  });

  it('outlives a kill -9 of the command that started it, and is adopted by the next', async () => {
    const folder = await newFolder();
    const starter = startStoreProgram(folder);
    const { serverPid } = await starter.opened;
    await starter.kill();
    expect(isAlive(serverPid)).toBe(true);

    const next = startStoreProgram(folder);
    expect(await next.opened).toMatchObject({ count: 2, serverPid });
    expect(await next.close()).toEqual({ step: 'closed' });
    expect(isAlive(serverPid)).toBe(false);
  });

  it('comes back with all data after a kill -9 of the command and the server together', async () => {
    const folder = await newFolder();
    const starter = startStoreProgram(folder);
    const { serverPid } = await starter.opened;
    process.kill(serverPid, 'SIGKILL');
    await starter.kill();

    const store = await open(folder);
    expect(await store.ledger.incr('commands')).toBe(2);
    expect(await serverPidOf(store)).not.toBe(serverPid);
    await store.close();
  });

  it('is started again by a command that is still working when the server alone is killed', async () => {
    const folder = await newFolder();
    const store = await open(folder);
    const service = store.connect('service');
    await store.ledger.set('kept', 'yes');
    process.kill(await serverPidOf(store), 'SIGKILL');

    expect(await service.get('kept')).toBe('yes');
    expect(await until('the ledger to be back', () => store.ledger.get('kept').catch(() => false))).toBe(
      'yes',
    );
    await store.close();
  });

  it('leaves a file that is quick to read after much was written, and one with little as it is', async () => {
    const folder = await newFolder();
    const files = () => writtenSince(folder);
    const store = await open(folder);
    await store.ledger.set('much', 'x'.repeat(9 * 1024 * 1024));
    await store.close();
    expect(await files()).toEqual([0]);
    const again = await open(folder);
    expect(await again.ledger.strlen('much')).toBe(9 * 1024 * 1024);
    await again.ledger.set('little', 'y');
    await again.close();
    const [left] = await files();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(1_000);
  });

  it('does not write its file anew at every leave where that came to nothing: first as much again is written', async () => {
    const folder = await newFolder();
    const tried = join(folder, 'redis', 'rewrite-tried');
    for (const [key, isRewritten] of [
      ['one', false],
      ['two', true],
    ] as const) {
      const store = await open(folder);
      if (key === 'one') await writeFile(tried, String(8 * 1024 * 1024));
      await store.ledger.set(key, 'x'.repeat(9 * 1024 * 1024));
      await store.close();
      const files = await writtenSince(folder);
      expect([files.every((size) => size === 0), existsSync(tried)]).toEqual([isRewritten, !isRewritten]);
    }
  });

  it('cuts a torn tail and keeps everything that was acknowledged before it', async () => {
    const folder = await newFolder();
    const store = await open(folder);
    await store.ledger.set('first', 'kept');
    await store.ledger.set('second', 'torn');
    process.kill(await serverPidOf(store), 'SIGKILL');
    // Closed before the server is gone would end it cleanly; gone first, there is nothing to close.
    await store.close();
    const aof = join(folder, 'redis', 'appendonlydir');
    for (const name of await readdir(aof))
      if (name.endsWith('.incr.aof')) await truncate(join(aof, name), (await stat(join(aof, name))).size - 3);

    const again = await open(folder);
    expect(await again.ledger.mget('first', 'second')).toEqual(['kept', null]);
    await again.close();
  });

  it('is for its owner only: password needed, nothing readable by others, no secret in argv', async () => {
    const folder = await newFolder();
    const store = await open(folder);
    const home = join(folder, 'redis');
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    for (const name of ['port', 'password', 'redis.conf', 'server.log', 'server.pid'])
      expect((await stat(join(home, name))).mode & 0o077, name).toBe(0);

    const port = Number(await readFile(join(home, 'port'), 'utf8'));
    const stranger = new Redis({ host: '127.0.0.1', port, retryStrategy: () => null });
    stranger.on('error', () => {});
    await expect(stranger.get('x')).rejects.toThrow();
    stranger.disconnect();

    const password = (await readFile(join(home, 'password'), 'utf8')).trim();
    const shown = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout;
    expect(password.length).toBeGreaterThan(30);
    expect(shown).not.toContain(password);
    expect(store.address).not.toContain(password);
    await store.close();
  });

  it('of a copied folder is not the one of the original, which goes on', async () => {
    const folder = await newFolder();
    const store = await open(folder);
    await store.ledger.set('first', 'kept');
    const copy = await newFolder();
    spawnSync('cp', ['-a', `${folder}/.`, copy]);
    await expect(open(copy)).rejects.toMatchObject({
      code: 'ALM_STORE_PORT_TAKEN',
      message: expect.stringContaining('the store of the original'),
      next: expect.stringContaining('redis/port'),
    });
    expect(await store.ledger.get('first')).toBe('kept');
    await rm(join(copy, 'redis/port'));
    const other = await open(copy);
    await other.ledger.set('first', 'other');
    expect(await store.ledger.get('first')).toBe('kept');
    await other.close();
    await store.close();
  });

  it('has the settings that the laws rest on', async () => {
    const store = await open(await newFolder());
    const setting = async (name: string) => (await store.ledger.config('GET', name)) as unknown;
    expect(await setting('appendonly')).toEqual(['appendonly', 'yes']);
    expect(await setting('appendfsync')).toEqual(['appendfsync', 'always']);
    expect(await setting('maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    expect(await setting('save')).toEqual(['save', '']);
    expect(await setting('bind')).toEqual(['bind', '127.0.0.1']);
    await store.close();
  });
});
