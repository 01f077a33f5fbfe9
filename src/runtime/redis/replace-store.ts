import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { z } from 'zod';
import { AlmonerError, hasCode, isAlmonerError, messageOf } from '../../core/errors/error.js';
import { failPoint } from '../../core/fail-point.js';
import { syncFolder } from '../../ledger/index.js';
import { endIfAlone, newPresenceToken } from './embedded.js';
import { openStoreFolder, portNow, replaceFile, type StoreFolder } from './folder.js';
import { probePort } from './probe.js';
import { noteHold, RESTORING, refuseWhileHeld, removeHoldNote } from './restore-notes.js';

/**
 * Replaces the files of the embedded store. Only the bound port keeps a server from opening them (see server.ts), so the
 * restore holds the port from before the first step to after the last.
 *
 *   hold     shut the server down if no other command uses it, bind the port, and write a note for other commands
 *   note     write `restoring.json`: from now on no command starts a server, even if a kill releases the port
 *   look     check that no process has begun to work and that the port is the same; with the note, none can begin now
 *   aside    move the present files into a folder beside, and keep them
 *   in       move the prepared files into their place
 *   done     remove the note, then release the port
 *
 * A kill at any step leaves the present files in their place, or aside in the folder that the note names. Running the
 * same restore again starts from the beginning.
 */
export type HeldStore = { readonly folder: StoreFolder; release(): Promise<void> };

const HOLD_LIMIT_MS = 10_000;
const ASK_EVERY_MS = 50;

/** Shuts the server down, binds its port and writes the note. Throws if another command uses the store. */
export async function holdStore(dataFolder: string, logger: Logger): Promise<HeldStore> {
  const folder = await openStoreFolder(dataFolder);
  const startedAt = performance.now();
  for (;;) {
    const probe = await probePort(folder.port, folder.password);
    if (probe.kind === 'absent') {
      const holder = await bound(folder.port);
      if (holder !== null) return held(folder, holder);
    }
    if (probe.kind === 'unclear') await refuseWhileHeld(folder);
    if (probe.kind === 'ours') {
      const others = await endIfAlone(folder, newPresenceToken(), logger);
      if (others.length > 0) throw inUse(dataFolder, others);
    }
    if (probe.kind === 'foreign' || performance.now() - startedAt > HOLD_LIMIT_MS)
      throw inUse(dataFolder, [
        `a program on port ${folder.port}${'seen' in probe ? ` (${probe.seen})` : ''}`,
      ]);
    await sleep(ASK_EVERY_MS);
  }
}

async function held(folder: StoreFolder, holder: Server): Promise<HeldStore> {
  const release = async () => {
    await removeHoldNote(folder);
    await closed(holder);
  };
  try {
    await noteHold(folder, new Date());
  } catch (error) {
    await closed(holder);
    throw error;
  }
  return { folder, release };
}

export function inUse(dataFolder: string, who: readonly string[]): AlmonerError {
  return new AlmonerError(
    'ALM_BACKUP_IN_USE',
    `The data folder ${dataFolder} is in use. Nothing was changed.`,
    { details: who },
  );
}

async function bound(port: number): Promise<Server | null> {
  const server = createServer((peer) => peer.destroy());
  server.listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE')) return null;
    throw error;
  }
}

async function closed(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  await once(server, 'close');
}

/** The files that Redis reads at its start: of 7.0 and later, and of 6.2. */
const STORE_FILES = ['appendonlydir', 'appendonly.aof'];
const STAGED = /^redis\.restoring-[0-9a-f]+$/;

/** Identifies a file. A rename changes neither number; a copy, or another folder with the same name, has others. */
const placed = z.object({ name: z.string(), ino: z.number(), mtimeMs: z.number() });
type Placed = z.infer<typeof placed>;

const note = z.object({
  at: z.string(),
  aside: z.string(),
  /**
   * The files of the backup that were about to replace the store. A repeated restore deletes only these, because a
   * person may have moved the former store back in between.
   */
  placed: z.array(placed).default([]),
});

/**
 * Creates a new, empty folder for the files that will replace the store, and removes the remains of killed restores.
 */
export async function stageFolder(dataFolder: string, name: string): Promise<string> {
  for (const entry of await readdir(dataFolder))
    if (STAGED.test(entry)) await rm(join(dataFolder, entry), { recursive: true, force: true });
  const staged = join(dataFolder, `redis.restoring-${name}`);
  await mkdir(staged, { mode: 0o700 });
  return staged;
}

/**
 * Checks before any change that all files are on one disk. Otherwise a rename would fail amid the replacement and
 * block the store.
 */
export async function refuseOtherDisk({ folder }: HeldStore, staged: string): Promise<void> {
  const [from, to] = [join(staged, 'same-disk'), join(folder.path, `same-disk.${process.pid}`)];
  await writeFile(from, '');
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    throw new AlmonerError(
      'ALM_BACKUP_OTHER_DISK',
      `${folder.path} is on another disk than the data folder, and a restore moves the store’s files between the two. Nothing was changed.`,
      { cause: error },
    );
  } finally {
    await rm(from, { force: true });
    await rm(to, { force: true });
  }
}

/** Where the former files are kept after a replacement. */
export type Replaced = {
  /** Where the former store is kept; null if there was none. */
  readonly aside: string | null;
  /**
   * Where files are kept that were in the store's place after an earlier restore was killed; null if there were none.
   */
  readonly alsoKept: string | null;
};

/** The parts of a replacement. */
export type Replacing = {
  readonly dataFolder: string;
  readonly staged: string;
  readonly at: Date;
  /** Throws if a process works on the data folder. */
  readonly lookAgain: () => Promise<void>;
  /**
   * Changes other files that belong to the new store. The note is present meanwhile, so no command sees a partial
   * change even after a kill.
   */
  readonly alongWith: () => Promise<void>;
};

/** Replaces the store's files with those of `staged`. */
export async function replaceStore(
  { folder }: HeldStore,
  { dataFolder, staged, at, lookAgain, alongWith }: Replacing,
): Promise<Replaced> {
  const data = resolve(dataFolder);
  try {
    const earlier = await readNote(folder);
    // With milliseconds, so that the files of two restores in one second stay separate.
    const stamp = at.toISOString().replaceAll(/[:.]/g, '-');
    const aside = earlier?.aside ?? join(data, `redis.before-${stamp}`);
    await writeNote(folder, { at: at.toISOString(), aside, placed: earlier?.placed ?? [] });
    failPoint('restore-noted');
    try {
      if ((await portNow(folder)) !== folder.port)
        throw inUse(dataFolder, [
          `the file ${join(folder.path, 'port')} was changed since the restore began`,
        ]);
      await lookAgain();
    } catch (error) {
      // This restore has moved no file yet. The note of an earlier restore stays.
      if (earlier === null) await rm(join(folder.path, RESTORING), { force: true });
      throw error;
    }
    await mkdir(aside, { recursive: true, mode: 0o700 });
    const alsoKept = await clearPlace(folder, { aside, beside: join(data, `redis.also-${stamp}`), earlier });
    await syncFolder(aside);
    await syncFolder(data);
    failPoint('restore-aside');
    await writeNote(folder, { at: at.toISOString(), aside, placed: await placedIn(staged) });
    for (const name of await filesIn(staged)) await rename(join(staged, name), join(folder.path, name));
    await alongWith();
    failPoint('restore-in');
    await rm(join(folder.path, 'rewrite-tried'), { force: true });
    await syncFolder(folder.path);
    await rm(join(folder.path, RESTORING));
    await syncFolder(folder.path);
    failPoint('restore-done');
    await rm(staged, { recursive: true, force: true });
    const isKept = (await filesIn(aside)).length > 0;
    if (!isKept) await rm(aside, { recursive: true, force: true });
    return { aside: isKept ? aside : null, alsoKept };
  } catch (error) {
    if (isAlmonerError(error, 'ALM_BACKUP_IN_USE')) throw error;
    throw new AlmonerError(
      'ALM_BACKUP_FAILED',
      `The files of the store in ${folder.path} could not be replaced (${messageOf(error)}). The former store is kept.`,
      { next: 'Repair the folder, then run the same `almoner restore DIR` again.', cause: error },
    );
  }
}

type Clearing = {
  readonly aside: string;
  /** The folder for files whose name already exists in `aside`. */
  readonly beside: string;
  readonly earlier: z.infer<typeof note> | null;
};

/** Empties the store's place. The backup's own files are deleted, all others are kept. */
async function clearPlace(
  { path }: StoreFolder,
  { aside, beside, earlier }: Clearing,
): Promise<string | null> {
  let alsoKept: string | null = null;
  const kept = await filesIn(aside);
  for (const here of await placedIn(path)) {
    const from = join(path, here.name);
    const isOfBackup = earlier?.placed.some((one) => isDeepStrictEqual(one, here)) === true;
    if (isOfBackup) await rm(from, { recursive: true, force: true });
    else if (!kept.includes(here.name)) await rename(from, join(aside, here.name));
    else {
      alsoKept = beside;
      await mkdir(beside, { recursive: true, mode: 0o700 });
      await rename(from, join(beside, here.name));
      await syncFolder(beside);
    }
  }
  return alsoKept;
}

async function placedIn(folder: string): Promise<Placed[]> {
  return Promise.all(
    (await filesIn(folder)).map(async (name) => {
      const { ino, mtimeMs } = await stat(join(folder, name));
      return { name, ino, mtimeMs };
    }),
  );
}

/** True if the data folder has a store. Connecting to one that does not exist would create an empty one. */
export async function hasStore(dataFolder: string): Promise<boolean> {
  const names: string[] = await readdir(join(dataFolder, 'redis')).catch(() => []);
  return STORE_FILES.some((name) => names.includes(name));
}

async function readNote({ path }: StoreFolder): Promise<z.infer<typeof note> | null> {
  const text = await readFile(join(path, RESTORING), 'utf8').catch(() => null);
  return text === null ? null : note.parse(JSON.parse(text));
}

async function writeNote({ path }: StoreFolder, content: z.infer<typeof note>): Promise<void> {
  await replaceFile(join(path, RESTORING), JSON.stringify(content));
  await syncFolder(path);
}

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => STORE_FILES.includes(name));
}
