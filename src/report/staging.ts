import { createHash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { AlmonerError, hasCode, isAlmonerError, messageOf } from '../core/errors/error.js';
import { type BatchId, isBatchId } from '../core/ids.js';
import { syncFolder } from '../ledger/index.js';

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

const BUFFER_CHARS_MAX = 128 * 1024;

/** What a reader can check a file against. */
export type FileFacts = {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
};

/**
 * One file of a report, written front to back into the staging folder. Text is gathered and written in
 * large pieces, so that memory does not grow with the number of rows; `finish` returns only after fsync,
 * because a rename may reach the disk before the data it names.
 */
export class WholeFile {
  readonly #hash = createHash('sha256');
  #text = '';
  #bytes = 0;

  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  static async create(path: string): Promise<WholeFile> {
    // `wx` never follows or reuses what already stands there. Who got what is for the owner's eyes.
    return new WholeFile(path, await onDisk(path, () => open(path, 'wx', 0o600)));
  }

  /** Returns a promise only when the buffer is full: awaiting on every one of a million rows is dear. */
  add(text: string): Promise<void> | undefined {
    this.#text += text;
    return this.#text.length >= BUFFER_CHARS_MAX ? this.#flush() : undefined;
  }

  async finish(): Promise<FileFacts> {
    await this.#flush();
    await onDisk(this.path, () => this.handle.sync());
    await this.handle.close();
    return { name: basename(this.path), bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  /** Lets go of the file after a failure; what was written goes away with the staging folder. */
  async abandon(): Promise<void> {
    await this.handle.close().catch(() => {});
  }

  async #flush(): Promise<void> {
    const data = Buffer.from(this.#text, 'utf8');
    this.#text = '';
    this.#hash.update(data);
    this.#bytes += data.length;
    await onDisk(this.path, async () => {
      // One write may take less than it was given (a nearly full disk); the rest is offered again.
      for (let from = 0; from < data.length; )
        from += (await this.handle.write(data, from, data.length - from)).bytesWritten;
    });
  }
}

/** Runs one step on the disk; what the system refuses becomes an error that a person can act on. */
export async function onDisk<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (isAlmonerError(error)) throw error;
    throw new AlmonerError(
      'ALM_BATCH_REPORT_NOT_WRITTEN',
      `The report could not be written at ${path}: ${messageOf(error)}. No payment is affected, and every report file that stood there is still whole.`,
      { cause: error },
    );
  }
}

/**
 * Writes the rows that `fill` adds into a file that a person asked for, at a place of their choice. It appears
 * whole or not at all, and never takes the place of another: an undo file that was already run must not be
 * confused with a newer one. A file without rows, which would only be refused, is not left.
 */
export async function writeRows<T extends { readonly rows: number }>(
  path: string,
  fill: (add: (text: string) => Promise<void> | undefined) => Promise<T>,
): Promise<{ readonly written: T; readonly file: string | null }> {
  // Asked first only to tell at once; `appear` is what makes it certain.
  if (await stat(path).catch(() => undefined)) throw exists(path);
  const nonce = randomBytes(6).toString('hex');
  const partial = await WholeFile.create(join(dirname(path), `.${basename(path)}.${nonce}.partial`));
  try {
    const written = await fill((text) => partial.add(text));
    if (written.rows === 0) return { written, file: null };
    await partial.finish();
    await onDisk(path, () => appear(partial.path, path));
    return { written, file: path };
  } finally {
    await partial.abandon();
    await rm(partial.path, { force: true });
  }
}

/** Unlike a rename, a link refuses a name that is taken; some file systems know no links. */
async function appear(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path).catch(async (error: unknown) => {
      if (hasCode(error, 'EEXIST')) throw error;
      await copyFile(partial, path, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    throw hasCode(error, 'EEXIST') ? exists(path) : error;
  }
}

function exists(path: string): AlmonerError {
  return new AlmonerError(
    'ALM_BATCH_FILE_EXISTS',
    `${path} exists already and was not touched. Nothing was written.`,
  );
}
