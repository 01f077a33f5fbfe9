import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { AlmonerError, hasCode, messageOf } from '../../core/errors/error.js';
import { allLedgers, lists, recovery, storeFacts, syncFolder } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { maskUrl, placeOf } from '../../runtime/config/describe.js';
import { copyDataFiles } from './copy-files.js';
import { type BackupFile, MANIFEST, type Manifest, STORE_FILE } from './manifest.js';

/**
 * A backup while everything runs: the store first, then journals and archives. In that order every payment that the copied
 * store knows has its archive, because an archive is on disk before the store says so, and the journals know at least what
 * the store knows of this machine. The other way round the store could know payments whose journal lines were not copied.
 *
 * It is made under another name beside, fsynced, and renamed when it is whole.
 */
export type BackupWatch = {
  readonly signal: AbortSignal;
  readonly onProgress: (what: 'wait' | 'store' | 'files', done: number, of: number) => void;
};

export async function makeBackup(
  app: App,
  wanted: string,
  version: string,
  watch: BackupWatch,
): Promise<Manifest> {
  const folder = await placeFor(wanted, app.config.dataFolder);
  // Without the name of the folder, which may be as long as the disk allows.
  const draft = join(dirname(folder), `.almoner-backup.${randomBytes(6).toString('hex')}.partial`);
  try {
    await mkdir(draft, { mode: 0o700 });
    const made = await fill(app, draft, version, watch);
    watch.signal.throwIfAborted();
    await rename(draft, folder);
    await syncFolder(dirname(folder));
    return made;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (watch.signal.aborted)
      throw new AlmonerError('ALM_BACKUP_INTERRUPTED', `The backup was stopped. ${folder} was not made.`);
    if (error instanceof AlmonerError) throw error;
    if (hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST')) throw notEmpty(folder);
    if (hasCode(error, 'EBUSY') || hasCode(error, 'ENOTDIR')) throw unusable(folder, messageOf(error));
    throw new AlmonerError(
      'ALM_BACKUP_FAILED',
      `The backup failed (${messageOf(error)}). ${folder} was not made.`,
      {
        cause: error,
      },
    );
  }
}

/** Looked at before anything is copied or made; the rename looks again. */
async function placeFor(wanted: string, dataFolder: string): Promise<string> {
  const given = resolve(wanted);
  try {
    // A link to a folder cannot be replaced by a rename, and the folder that it leads to can.
    const folder = await truePath(given);
    const way = relative(await realpath(dataFolder), folder);
    if (way === '' || !(way.startsWith('..') || isAbsolute(way)))
      throw new AlmonerError(
        'ALM_BACKUP_INSIDE',
        `${folder} lies inside the data folder ${dataFolder}. No backup was made.`,
      );
    const names = await readdir(folder).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    });
    if (names !== null && names.length > 0) throw notEmpty(folder);
    await mkdir(dirname(folder), { recursive: true });
    const isMount = names !== null && (await stat(folder)).dev !== (await stat(dirname(folder))).dev;
    if (isMount)
      throw unusable(folder, 'it is a mount point, and a folder takes its name when the backup is whole');
    return folder;
  } catch (error) {
    if (error instanceof AlmonerError) throw error;
    throw unusable(given, messageOf(error));
  }
}

/** The real path of the part that exists, and the rest as given. */
async function truePath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error;
    return join(await truePath(dirname(path)), basename(path));
  }
}

function unusable(folder: string, why: string): AlmonerError {
  return new AlmonerError(
    'ALM_BACKUP_PLACE',
    `${folder} cannot hold the backup (${why}). No backup was made.`,
  );
}

function notEmpty(folder: string): AlmonerError {
  return new AlmonerError('ALM_BACKUP_NOT_EMPTY', `${folder} is there and not empty. No backup was made.`);
}

async function fill(app: App, draft: string, version: string, watch: BackupWatch): Promise<Manifest> {
  const { config, store } = app;
  const { signal, onProgress } = watch;
  // Before the copy: the copied store has come at least so far.
  const ledgers = await allLedgers(app.scripts);
  const realms = await Promise.all(
    ledgers.map(async (ledger) => {
      const [{ seq }, { batches }] = await Promise.all([
        recovery.fence.read(ledger),
        lists.countBatches(ledger),
      ]);
      const { name, baseUrl, realmId } = ledger.realm;
      return { name, baseUrl: maskUrl(baseUrl), realmId, ledger: ledger.id, batches, seq };
    }),
  );
  const at = new Date().toISOString();
  const copied = await store.copyTo(join(draft, STORE_FILE), {
    signal,
    onWait: (keys, of) => onProgress('wait', keys, of),
    onProgress: (done, of) => onProgress('store', done, of),
  });
  const files: BackupFile[] = [
    { path: STORE_FILE, ...copied },
    ...(await copyDataFiles(config.dataFolder, draft, signal, (done, of) => onProgress('files', done, of))),
  ];
  const manifest: Manifest = {
    almonerBackup: 1,
    at,
    version,
    format: storeFacts.format,
    store: { embedded: store.embedded, address: store.address, db: store.db },
    machine: hostname(),
    dataFolder: config.dataFolder,
    realms,
    configuration: {
      file: config.configFile,
      realms: config.profiles.map(({ name, baseUrl, realmId, key }) => ({
        name,
        baseUrl: maskUrl(baseUrl),
        realmId,
        key: key.from === 'embedded' ? 'the embedded realm’s own' : placeOf(key),
      })),
    },
    files,
  };
  await writeFile(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
    flush: true,
    mode: 0o600,
  });
  await syncTree(draft);
  return manifest;
}

/** Files are fsynced as they are written; their names are durable once their folders are. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) {
      const file = await open(path, 'r');
      await file.sync().finally(() => file.close());
    }
  }
  await syncFolder(folder);
}
