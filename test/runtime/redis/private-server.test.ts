import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPrivateStore } from '../../../src/runtime/redis/private-server.js';
import { dataFolders } from '../../support/data-folder.js';
import { startRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const newFolder = dataFolders();

/** Redis writes over its command line; the folder that it works in tells. */
async function processesIn(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_, i) => folders[i]?.startsWith(folder));
}

// Redis tries again a minute after its third failure, and says until then that a rewrite is scheduled.
test('where the append-only file cannot be written, keeping it fails at once', async () => {
  const source = await startRedis();
  try {
    const client = source.client();
    for (let i = 0; i < 20; i++) await client.set(`key:${i}`, 'value');
    await client.save();
    const folder = await newFolder();
    const { signal } = new AbortController();
    const copy = join(source.folder, 'dump.rdb');
    const store = await openPrivateStore({ folder, copy, db: 0, archives: null, signal });
    await store.scripts.ask('slow down', (redis) => redis.config('SET', 'rdb-key-save-delay', '1000000'));
    let failed: unknown = null;
    const kept = store.keepOnDisk(signal).catch((error: unknown) => {
      failed = error;
    });
    // What a full disk does to the child that writes the file: it fails, and so does each further one.
    const ended = new Set<string>();
    await until('the file to be given up', async () => {
      const log = await readFile(join(folder, 'server.log'), 'utf8');
      for (const [, pid = ''] of log.matchAll(/rewriting started by pid ([0-9]+)/g))
        if (!ended.has(pid) && ended.add(pid)) process.kill(Number(pid), 'SIGKILL');
      return failed !== null;
    });
    await kept;
    expect(failed).toMatchObject({ code: 'ALM_BACKUP_FAILED' });
    expect(ended.size).toBeLessThanOrEqual(3);
    await store.end();
  } finally {
    await source.stop();
  }
}, 30_000);

// Redis answers SIGTERM with "Writing initial AOF, can't exit" there.
test('a private server that writes its first append-only file ends within seconds, with its children', async () => {
  const source = await startRedis();
  try {
    const client = source.client();
    for (let i = 0; i < 100; i++) await client.set(`key:${i}`, 'value');
    await client.save();
    const folder = await newFolder();
    const stop = new AbortController();
    const store = await openPrivateStore({
      folder,
      copy: join(source.folder, 'dump.rdb'),
      db: 0,
      archives: null,
      signal: stop.signal,
    });
    // A second for each key: the file takes 100 s.
    await store.scripts.ask('slow down', (redis) => redis.config('SET', 'rdb-key-save-delay', '1000000'));
    const kept = store.keepOnDisk(stop.signal);
    await until('the file to be written', async () =>
      (await readFile(join(folder, 'server.log'), 'utf8')).includes('rewriting started'),
    );
    // The shell, its reader, the server and the child that writes.
    expect(await processesIn(folder)).toHaveLength(4);
    stop.abort();
    await expect(kept).rejects.toThrow('aborted');
    await store.end();
    await until('every process of it to be gone', async () => (await processesIn(folder)).length === 0);
  } finally {
    await source.stop();
  }
}, 15_000);
