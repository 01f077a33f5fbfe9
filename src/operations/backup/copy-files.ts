import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../../core/errors/error.js';
import { recovery, syncFolder } from '../../ledger/index.js';
import type { BackupFile } from './manifest.js';
import { isBackedUp } from './manifest.js';

/** Copies one file durably, and tells what was copied. A file that grows meanwhile is copied as far as it was read. */
async function copyFile(from: string, to: string, signal: AbortSignal): Promise<Omit<BackupFile, 'path'>> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const digest = createHash('sha256');
  let bytes = 0;
  // Opened before the target: a file that is gone leaves no empty copy behind.
  const input = createReadStream(from, { signal });
  await new Promise<void>((opened, failed) => input.once('open', () => opened()).once('error', failed));
  const output = await open(to, 'wx', 0o600);
  try {
    for await (const piece of input) {
      digest.update(piece);
      await output.writeFile(piece);
      bytes += piece.length;
    }
    await output.sync();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await output.close();
  }
  return { bytes, sha256: digest.digest('hex') };
}

/** Puts a file where none is, whole or not at all; false where one is there, which stays as it is. */
export async function addFile(from: string, to: string, signal: AbortSignal): Promise<boolean> {
  if (await isThere(to)) return false;
  const aside = asideOf(to);
  try {
    await copyFile(from, aside, signal);
    await link(aside, to);
    await syncFolder(dirname(to));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

/**
 * Puts the backup's journal in the place of a shorter one that is its beginning, as an older backup has left it. Every line
 * that was here is then still here.
 */
export async function extendFile(from: string, to: string, signal: AbortSignal): Promise<boolean> {
  const [{ size: longer }, { size }] = await Promise.all([stat(from), stat(to)]);
  if (size >= longer || (await hashOf(from, size, signal)) !== (await hashOf(to, size, signal))) return false;
  const aside = asideOf(to);
  try {
    await copyFile(from, aside, signal);
    await rename(aside, to);
    await syncFolder(dirname(to));
    return true;
  } finally {
    await rm(aside, { force: true });
  }
}

/** Puts the backup's file in the place of another one, which is kept beside under the name `kept`. */
export async function swapFile(from: string, to: string, kept: string): Promise<void> {
  const aside = asideOf(to);
  try {
    await copyFile(from, aside, new AbortController().signal);
    await link(to, kept);
    await rename(aside, to);
    await syncFolder(dirname(to));
  } finally {
    await rm(aside, { force: true });
  }
}

async function hashOf(path: string, bytes: number, signal: AbortSignal): Promise<string> {
  const digest = createHash('sha256');
  if (bytes > 0)
    for await (const piece of createReadStream(path, { end: bytes - 1, signal })) digest.update(piece);
  return digest.digest('hex');
}

function asideOf(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.new`;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    },
  );
}

/** Files of the data folder that belong into a backup, by their path in both. */
async function listFiles(
  dataFolder: string,
): Promise<{ journals: string[]; notes: string[]; others: string[] }> {
  const names = await readdir(join(dataFolder, recovery.journals.folder)).catch(ifMissing);
  const kept = names.map((name) => `${recovery.journals.folder}/${name}`).filter(isBackedUp);
  const realms = await readdir(join(dataFolder, 'archive')).catch(ifMissing);
  const others = (await readdir(join(dataFolder, 'references')).catch(ifMissing)).map(
    (name) => `references/${name}`,
  );
  for (const realm of realms)
    for (const name of await readdir(join(dataFolder, 'archive', realm)).catch(ifMissing))
      others.push(`archive/${realm}/${name}`);
  return {
    journals: kept.filter((path) => path.endsWith('.journal')),
    notes: kept.filter((path) => !path.endsWith('.journal')),
    others: others.filter(isBackedUp),
  };
}

function ifMissing(error: unknown): string[] {
  if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
  throw error;
}

export type CopyProgress = (doneFiles: number, ofFiles: number) => void;

/**
 * Copies journals, notes and archives while processes write them. A journal that is removed meanwhile was settled, and its
 * `.floor` note tells that: it is written before the file goes, so notes are copied last. A note that another session takes
 * over vanishes, and stands in a new one: then the folder is listed again.
 */
export async function copyDataFiles(
  dataFolder: string,
  to: string,
  signal: AbortSignal,
  onProgress: CopyProgress,
): Promise<BackupFile[]> {
  const copied = new Map<string, BackupFile>();
  const take = async (path: string): Promise<boolean> => {
    if (copied.has(path)) return true;
    try {
      copied.set(path, { path, ...(await copyFile(join(dataFolder, path), join(to, path), signal)) });
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  };
  for (;;) {
    const { journals, others } = await listFiles(dataFolder);
    const first = [...journals, ...others];
    for (const [done, path] of first.entries()) {
      await take(path);
      onProgress(done + 1, first.length);
    }
    const { notes } = await listFiles(dataFolder);
    // A note is rewritten in place of the older one: what an earlier round has copied may be out of date.
    for (const path of notes) {
      copied.delete(path);
      await rm(join(to, path), { force: true });
    }
    let isWhole = true;
    for (const path of notes) isWhole = (await take(path)) && isWhole;
    if (isWhole) return [...copied.values()];
  }
}
