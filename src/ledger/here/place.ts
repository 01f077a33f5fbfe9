import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { link, open, readFile, readlink, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { syncFolder } from '../sync-folder.js';

/**
 * A place is a data folder, whatever the host is called and whatever path leads to it. Its note,
 * `place.json`, holds a random number; the id is made of that number, of the inode and the birth of the very
 * file that holds it, and of the folder's inode. So a copy (cp -a, rsync, tar, hard links) is another place at
 * once and for every reader, without anything being written, and an id that is still the same proves that
 * the folder was not copied. A folder that was moved or mounted under another path stays what it is.
 */
export type Place = {
  readonly id: string;
  /** The random number of the note, which a copy has as well; empty where the note is torn. */
  readonly number: string;
  /** Whether one kernel at a time has this file system: once it is seen from another boot, the former is gone. */
  readonly isLocal: boolean;
};

const NOTE = 'place.json';

/** Undefined where there is none, or none that could be told from others. */
export async function readPlace(dataFolder: string): Promise<Place | undefined> {
  const file = await open(join(dataFolder, NOTE), 'r').catch(() => undefined);
  try {
    if (file === undefined) return undefined;
    const { ino, birthtimeNs } = await file.stat({ bigint: true });
    const text = await file.readFile('utf8');
    // A torn note will do where the file system knows births; nothing is written into it, so that all agree.
    if (!WHOLE.test(text) && birthtimeNs === 0n) return undefined;
    const folder = await stat(dataFolder, { bigint: true });
    const id = createHash('sha256').update(`${ino}\n${birthtimeNs}\n${folder.ino}\n${text}`).digest('hex');
    const number = WHOLE.exec(text)?.[1] ?? '';
    return { id: id.slice(0, 16), number, isLocal: LOCAL.has((await statfs(dataFolder)).type) };
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}

/** One of several processes writes the note, and all read the same. A folder that takes none has no id. */
export async function ensurePlace(dataFolder: string): Promise<void> {
  const note = join(dataFolder, NOTE);
  const isThere = await stat(note).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  const aside = `${note}.${randomBytes(6).toString('hex')}`;
  try {
    // Written aside and linked, which keeps its inode and fails where there is one: it appears whole or not at all.
    const text = `${JSON.stringify({ place: randomBytes(16).toString('hex') })}\n`;
    await writeFile(aside, text, { flag: 'wx', mode: 0o600, flush: true });
    await link(aside, note);
    await syncFolder(dataFolder);
  } catch {
    // Another was first, or the disk refuses, which the journal will say.
  } finally {
    await rm(aside, { force: true });
  }
}

const WHOLE = /^\{"place":"([0-9a-f]{32})"\}\n$/;

/** As statfs(2) numbers them. What is not listed may be served to several machines at once. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0xca451a4e, // bcachefs
  0x794c7630, // overlayfs
  0x01021994, // tmpfs
]);

/** What is known of the machine, or container, that this process runs on. Handed in, so that tests have many. */
export type Machine = {
  /** The host's name, for people. Nothing is concluded from it: a container is given another each time. */
  readonly name: string;
  /** Which run of which kernel this is, the same in all its containers; empty where that cannot be told. */
  readonly boot: string;
  /** Whose process numbers are seen from here; empty where that cannot be told. */
  readonly space: string;
  readonly placeAt: (dataFolder: string) => Promise<Place | undefined>;
};

export async function thisMachine(): Promise<Machine> {
  const namespace = (kind: string) => readlink(`/proc/self/ns/${kind}`).catch(() => '');
  const [boot, numbers, time] = await Promise.all([
    kernelBoot().catch(() => ''),
    namespace('pid'),
    namespace('time'),
  ]);
  return { name: hostname(), boot, space: numbers === '' ? '' : `${numbers} ${time}`, placeAt: readPlace };
}

async function kernelBoot(): Promise<string> {
  if (process.platform === 'darwin')
    return (await promisify(execFile)('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'])).stdout.trim();
  const { type } = await statfs(BOOT_ID);
  // Some containers (LXC, nspawn) get a file of their own put over it: two that live would seem two boots.
  return type === PROC ? (await readFile(BOOT_ID, 'utf8')).trim() : '';
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const PROC = 0x9fa0;
