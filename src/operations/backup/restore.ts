import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import { failPoint } from '../../core/fail-point.js';
import { allLedgers, recovery, type ScriptClient, steering, storeFacts } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import type { Config } from '../../runtime/config/config.js';
import type { Logger } from '../../runtime/logger.js';
import { openPrivateStore } from '../../runtime/redis/private-server.js';
import {
  holdStore,
  inUse,
  refuseOtherDisk,
  replaceStore,
  stageFolder,
} from '../../runtime/redis/replace-store.js';
import { record } from '../people/audit.js';
import { revokeIn } from '../people/manage-tokens.js';
import { Tokens } from '../people/tokens.js';
import { putReferencesBack } from '../services/added-references.js';
import { syncTree } from './backup.js';
import { addFile, extendFile, swapFile } from './copy-files.js';
import { checkFiles, type FileProgress, type Manifest, readManifest, STORE_FILE } from './manifest.js';

/**
 * Puts the store of a backup beside the journals that are there. The journals know what was sent since the backup, so none
 * of them is replaced or removed, and recovery merges them before anything is sent.
 *
 *   check    every file against the manifest; no other process is at work on the data folder
 *   hold     the port of the store: from here on no other command starts it
 *   stage    the copy is loaded in a private server, noted as restored, and written as append-only files beside the store
 *   add      journals and archives of the backup that are missing here, and the rest of a journal that is cut here
 *   replace  the present store is moved aside and kept, the staged one takes its place (see replace-store.ts); so does an
 *            archive of the backup where the one here is not what the staged store names
 *
 * The staged store says itself that it was restored: whatever opens it first, first sends wait for a person. A kill before
 * the last step changes nothing of the store; given again, the restore begins anew.
 */
export type RestoreWatch = { readonly signal: AbortSignal; readonly onFiles: FileProgress };

export type Restored = {
  /** Where the former store is kept; null where there was none. */
  readonly aside: string | null;
  /** Where files are kept that stood in the store's place after an earlier restore was killed; null where none did. */
  readonly alsoKept: string | null;
  readonly journalsAdded: number;
  /** Journals here that were a beginning of the backup's. */
  readonly journalsExtended: number;
  readonly archivesAdded: number;
  /** Archives here that were others than the restored store names. They are kept beside, as `BATCH.alm.before-TIME`. */
  readonly archivesReplaced: number;
  /** Desk tokens of the backup that the former store did not have any more: they stay revoked. */
  readonly tokensRevoked: readonly string[];
  /** Desk tokens that the backup brings back and no former store could be asked about. */
  readonly tokensBack: readonly string[];
};

/** The desk tokens of the present store, by name and hash; null where there is no store that can be asked. */
export type FormerTokens = ReadonlyMap<string, string> | null;

/** What would be restored, checked. Nothing is changed. */
export async function checkRestore(config: Config, folder: string, watch: RestoreWatch): Promise<Manifest> {
  if (config.redisUrl !== null)
    throw new AlmonerError(
      'ALM_BACKUP_OUTSIDE',
      'REDIS_URL names an outside Redis. almoner replaces only the store in its data folder. Nothing was changed.',
    );
  const manifest = await readManifest(folder);
  await refuseWhileAtWork(config.dataFolder);
  const differences = await stoppable(watch.signal, () =>
    checkFiles(folder, manifest, { signal: watch.signal, onProgress: watch.onFiles }),
  );
  if (differences.length === 0) return manifest;
  throw new AlmonerError('ALM_BACKUP_DAMAGED', `The backup ${folder} is damaged. Nothing was changed.`, {
    details: differences,
  });
}

async function refuseWhileAtWork(dataFolder: string): Promise<void> {
  const sessions = await recovery.sessions.atWork(dataFolder);
  if (sessions.length > 0)
    throw inUse(
      dataFolder,
      sessions.map(({ kind, pid, session }) => `almoner ${kind}, pid ${pid} (session ${session})`),
    );
}

type FoundBackup = { readonly folder: string; readonly manifest: Manifest };

export async function restoreBackup(
  { config, logger }: { readonly config: Config; readonly logger: Logger },
  { folder, manifest }: FoundBackup,
  former: FormerTokens,
  { signal }: RestoreWatch,
): Promise<Restored> {
  const { dataFolder, operator } = config;
  const data = resolve(dataFolder);
  const held = await stoppable(signal, async () => {
    await mkdir(data, { recursive: true, mode: 0o700 });
    return holdStore(data, logger);
  });
  try {
    await refuseWhileAtWork(data);
    const staged = await stoppable(signal, () => stageFolder(data, randomBytes(6).toString('hex')));
    try {
      return await stoppable(signal, async () => {
        await refuseOtherDisk(held, staged);
        const { named, tokens } = await stageStore({ folder, manifest }, staged, signal, (scripts) =>
          keepRevoked(scripts, former, operator),
        );
        failPoint('restore-staged');
        const added = await addMissing(folder, data, manifest, signal);
        const others = await otherArchives(folder, data, manifest, named);
        signal.throwIfAborted();
        const at = new Date();
        const stamp = at.toISOString().replaceAll(/[:.]/g, '-');
        const replaced = await replaceStore(held, {
          dataFolder: data,
          staged,
          at,
          lookAgain: () => refuseWhileAtWork(data),
          async alongWith() {
            for (const path of others)
              await swapFile(join(folder, path), join(data, path), join(data, `${path}.before-${stamp}`));
          },
        });
        return { ...replaced, ...added, ...tokens, archivesReplaced: others.length };
      });
    } finally {
      await rm(staged, { recursive: true, force: true });
    }
  } finally {
    await held.release();
  }
}

/** The first thing in the store that was put back. Answers how many references it had forgotten. */
export async function beginRestored(app: App, { at }: Pick<Manifest, 'at'>): Promise<number> {
  await record(app, { what: `restored the store from the backup of ${at}`, why: null });
  return putReferencesBack(app);
}

type KeptRevoked = Pick<Restored, 'tokensRevoked' | 'tokensBack'>;

/** A backup must not give somebody back what was taken from them since: it knows their token, and the approvals of then. */
async function keepRevoked(scripts: ScriptClient, former: FormerTokens, by: string): Promise<KeptRevoked> {
  const tokens = await new Tokens(scripts).hashes();
  if (former === null) return { tokensRevoked: [], tokensBack: [...tokens.keys()].sort() };
  const gone = [...tokens].filter(([name, hash]) => former.get(name) !== hash).map(([name]) => name);
  for (const name of gone) await revokeIn(scripts, name, by);
  return { tokensRevoked: gone.sort(), tokensBack: [] };
}

/** Answers the archives that the staged store names, by path. */
async function stageStore(
  { folder, manifest }: FoundBackup,
  staged: string,
  signal: AbortSignal,
  revoke: (scripts: ScriptClient) => Promise<KeptRevoked>,
): Promise<{ readonly named: ReadonlyMap<string, string>; readonly tokens: KeptRevoked }> {
  const { at, store: stored } = manifest;
  const { db } = stored;
  if (db !== 0)
    throw new AlmonerError(
      'ALM_BACKUP_INVALID',
      `The backup is of database ${db} of an outside Redis, and the store in a data folder has its ledger in database 0. Nothing was changed.`,
      { next: 'Load `store.rdb` of the backup with the means of an outside Redis.' },
    );
  const store = await openPrivateStore({
    folder: staged,
    copy: join(folder, STORE_FILE),
    db,
    archives: null,
    signal,
  });
  const named: [string, string][] = [];
  let tokens: KeptRevoked;
  try {
    await storeFacts.refuseOtherFormat(store.scripts);
    await store.keepOnDisk(signal);
    failPoint('restore-loaded');
    tokens = await revoke(store.scripts);
    for (const ledger of await allLedgers(store.scripts)) {
      await recovery.afterRollback.noteRestored(ledger, Date.parse(at));
      named.push(...(await steering.archives.named(ledger)));
    }
  } finally {
    await store.end();
  }
  await syncTree(staged);
  return { named: new Map(named), tokens };
}

/** After an older backup was restored, its batches may have been archived anew from less than the newer store knew. */
async function otherArchives(
  folder: string,
  data: string,
  { files }: Manifest,
  named: ReadonlyMap<string, string>,
): Promise<string[]> {
  const others: string[] = [];
  for (const { path } of files) {
    const wanted = named.get(path);
    if (wanted === undefined || (await steering.archives.hash(join(data, path))) === wanted) continue;
    if ((await steering.archives.hash(join(folder, path))) === wanted) others.push(path);
  }
  return others;
}

async function addMissing(folder: string, data: string, { files }: Manifest, signal: AbortSignal) {
  let [journalsAdded, journalsExtended, archivesAdded] = [0, 0, 0];
  for (const { path } of files) {
    if (path === STORE_FILE) continue;
    const [from, to] = [join(folder, path), join(data, path)];
    const isJournal = path.endsWith('.journal');
    if (await addFile(from, to, signal)) {
      if (isJournal) journalsAdded += 1;
      if (path.endsWith('.alm')) archivesAdded += 1;
    } else if (isJournal && (await extendFile(from, to, signal))) journalsExtended += 1;
  }
  return { journalsAdded, journalsExtended, archivesAdded };
}

async function stoppable<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted)
      throw new AlmonerError('ALM_BACKUP_INTERRUPTED', 'The restore was stopped. The store is as it was.');
    if (error instanceof AlmonerError) throw error;
    throw new AlmonerError(
      'ALM_BACKUP_FAILED',
      `The restore failed (${messageOf(error)}). The store is as it was.`,
      { cause: error },
    );
  }
}
