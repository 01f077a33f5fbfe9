import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { AlmonerError, hasCode } from '../core/errors/error.js';
import { type BatchId, isBatchId } from '../core/ids.js';
import { syncFolder } from '../ledger/index.js';
import { type FileFacts, onDisk, WholeFile } from './whole-file.js';

/** Folders are made for their owner alone, like the data folder, whatever the umask. */
const PRIVATE = { recursive: true, mode: 0o700 };

/**
 * Where a report is made before anybody can see it: a hidden folder beside the batch's own, on the same
 * disk. A first report appears with one rename of the whole folder. A later one replaces file by file, each
 * by one rename, in the order in which the files were created; so a reader, or a process killed in between,
 * meets old files and new files but never half a file. The file created last (the summary) names the
 * checksums of the others, which tells a mixed set from a whole one.
 */
export class Staging {
  readonly #files: WholeFile[] = [];

  private constructor(
    readonly root: string,
    private readonly folder: string,
    /** Where the report will stand. */
    readonly target: string,
  ) {}

  /** `inside` names a folder within the batch's own, or that itself. */
  static async begin(at: { root: string; batch: BatchId; inside: string; now: number }): Promise<Staging> {
    // The id comes from a store or an archive; it is a folder's name here, so it is judged here again.
    if (!isBatchId(at.batch)) throw unsafe(`${JSON.stringify(at.batch)} cannot be a folder's name`);
    const root = resolve(at.root);
    await onDisk(root, () => mkdir(root, PRIVATE));
    await clearLeftovers(root, at.batch, at.now);
    const target = join(root, at.batch, at.inside);
    // `@` occurs in no batch id, so that the parts stay apart.
    const name = `.${at.batch}@${host()}@${process.pid}@${randomBytes(6).toString('hex')}${SUFFIX}`;
    const folder = join(root, name);
    const staging = new Staging(root, folder, target);
    await staging.#refuseLinks([]);
    await onDisk(folder, () => mkdir(folder, PRIVATE));
    return staging;
  }

  async create(name: string): Promise<WholeFile> {
    if (!/^[a-z]+\.[a-z]+$/.test(name)) throw new RangeError(`not a report file's name: ${name}`);
    const file = await WholeFile.create(join(this.folder, name));
    this.#files.push(file);
    return file;
  }

  /** A file whose text is at hand. */
  async write(name: string, text: string): Promise<FileFacts> {
    const file = await this.create(name);
    await file.add(text);
    return file.finish();
  }

  /** Shows the report; every file must be finished. */
  async publish(): Promise<string[]> {
    const names = this.#files.map((file) => basename(file.path));
    await this.#refuseLinks(names);
    await onDisk(this.target, async () => {
      await syncFolder(this.folder);
      const above = dirname(this.target);
      await mkdir(above, PRIVATE);
      if (!(await this.#renameWhole())) {
        // The folder may be of an earlier version, or made by hand. The reports folder itself is the operator's.
        await chmod(this.target, PRIVATE.mode);
        for (const name of names) await rename(join(this.folder, name), join(this.target, name));
      }
      await syncFolder(this.target);
      await syncFolder(above);
    });
    await rm(this.folder, { recursive: true, force: true });
    return names.map((name) => join(this.target, name));
  }

  /** After a failure: nothing of this attempt is left, and what stood before still stands. */
  async discard(): Promise<void> {
    for (const file of this.#files) await file.abandon();
    await rm(this.folder, { recursive: true, force: true }).catch(() => {});
  }

  /** True when the report did not exist and now does; false when it exists and is to be replaced. */
  async #renameWhole(): Promise<boolean> {
    try {
      await rename(this.folder, this.target);
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'EPERM')) return false;
      throw error;
    }
  }

  /**
   * The reports folder itself may be a link (an operator's choice); what lies inside may not, since a link
   * planted there would send members' data to a place nobody chose.
   */
  async #refuseLinks(names: readonly string[]): Promise<void> {
    for (let path = this.target; path !== this.root; path = dirname(path))
      await refuseUnless(path, (entry) => entry.isDirectory(), 'a folder');
    for (const name of names)
      await refuseUnless(join(this.target, name), (entry) => entry.isFile(), 'a plain file');
  }
}

async function refuseUnless(path: string, good: (entry: Stats) => boolean, what: string): Promise<void> {
  const entry = await lstat(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
  if (entry && !good(entry)) throw unsafe(`${path} is not ${what}`);
}

function unsafe(found: string): AlmonerError {
  return new AlmonerError(
    'ALM_BATCH_REPORT_FOLDER',
    `The report was not written: ${found}. Nothing was changed, and no payment is affected.`,
  );
}

const FOREIGN_LEFTOVER_AGE_MS = 24 * 60 * 60 * 1000;
const SUFFIX = '.partial';

/**
 * Removes what killed processes left of this batch's reports. Another writer may be at work on the same
 * batch right now, so a folder goes only when its process is gone; the processes of another machine cannot
 * be asked, and theirs go after a day. A wrong guess costs one report that is written again, never money.
 */
async function clearLeftovers(root: string, batch: string, now: number): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(`.${batch}@`) || !name.endsWith(SUFFIX)) continue;
    const [, owner = '', pid = ''] = name.split('@');
    const path = join(root, name);
    const abandoned = owner === host() ? !isAlive(Number(pid)) : await isOlder(path, now);
    if (abandoned) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

function host(): string {
  return hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-');
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return hasCode(error, 'EPERM');
  }
}

async function isOlder(path: string, now: number): Promise<boolean> {
  const entry = await stat(path).catch(() => undefined);
  return entry !== undefined && now - entry.mtimeMs > FOREIGN_LEFTOVER_AGE_MS;
}
