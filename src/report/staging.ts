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

/** Folders are for their owner only, like the data folder, whatever the umask. */
const PRIVATE = { recursive: true, mode: 0o700 };

/**
 * The hidden folder where a report is written, beside the batch's own folder on the same disk. A first report appears
 * with one rename of the whole folder. A later report replaces file by file, each by one rename, in the order in
 * which the files were created. A reader, or a process killed in between, may find old and new files, but never half
 * a file. The file created last (the summary) holds the checksums of the others, so a mixed set can be recognized.
 */
export class Staging {
  readonly #files: WholeFile[] = [];

  private constructor(
    readonly root: string,
    private readonly folder: string,
    /** The final folder of the report. */
    readonly target: string,
  ) {}

  /** Creates the staging folder. `inside` names a folder within the batch's own, or that folder itself. */
  static async begin(at: { root: string; batch: BatchId; inside: string; now: number }): Promise<Staging> {
    // The batch id comes from a store or an archive and is used as a folder name here, so check it again.
    if (!isBatchId(at.batch)) throw unsafe(`${JSON.stringify(at.batch)} cannot be a folder's name`);
    const root = resolve(at.root);
    await onDisk(root, () => mkdir(root, PRIVATE));
    await clearLeftovers(root, at.batch, at.now);
    const target = join(root, at.batch, at.inside);
    // `@` occurs in no batch id, so the parts of the name stay separate.
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

  /** Writes a file from a complete text. */
  async write(name: string, text: string): Promise<FileFacts> {
    const file = await this.create(name);
    await file.add(text);
    return file.finish();
  }

  /** Makes the report visible. Every file must be finished. */
  async publish(): Promise<string[]> {
    const names = this.#files.map((file) => basename(file.path));
    await this.#refuseLinks(names);
    await onDisk(this.target, async () => {
      await syncFolder(this.folder);
      const above = dirname(this.target);
      await mkdir(above, PRIVATE);
      if (!(await this.#renameWhole())) {
        // The folder may come from an earlier version or a person, so restrict its mode. The reports folder itself
        // belongs to the operator and keeps its mode.
        await chmod(this.target, PRIVATE.mode);
        for (const name of names) await rename(join(this.folder, name), join(this.target, name));
      }
      await syncFolder(this.target);
      await syncFolder(above);
    });
    await rm(this.folder, { recursive: true, force: true });
    return names.map((name) => join(this.target, name));
  }

  /** Removes this attempt after a failure. The former report remains. */
  async discard(): Promise<void> {
    for (const file of this.#files) await file.abandon();
    await rm(this.folder, { recursive: true, force: true }).catch(() => {});
  }

  /** Returns true if it created the report, and false if a report exists that must be replaced file by file. */
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
   * Refuses symbolic links inside the reports folder: a planted link would send members' data to another place. The
   * reports folder itself may be a link, because the operator chose it.
   */
  async #refuseLinks(names: readonly string[]): Promise<void> {
    for (let path = this.target; path !== this.root; path = dirname(path))
      await refuseUnless(path, (entry) => entry.isDirectory(), 'a folder');
    for (const name of names)
      await refuseUnless(join(this.target, name), (entry) => entry.isFile(), 'a plain file');
  }
}

/** Throws unless the path is absent or of the expected kind. */
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
 * Removes what killed processes left of this batch's reports. Another process may be writing the same report now, so
 * a folder is removed only when its process is gone. Processes of another machine cannot be checked; their folders
 * are removed after a day. A wrong guess costs one report that is written again, never money.
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
    // EPERM: the process lives and belongs to another user.
    return hasCode(error, 'EPERM');
  }
}

async function isOlder(path: string, now: number): Promise<boolean> {
  const entry = await stat(path).catch(() => undefined);
  return entry !== undefined && now - entry.mtimeMs > FOREIGN_LEFTOVER_AGE_MS;
}

const BUFFER_CHARS_MAX = 128 * 1024;

/** Size and checksum, so that a reader can verify the file. */
export type FileFacts = {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
};

/**
 * One file of a report, written in order into the staging folder. Text is collected and written in large pieces, so
 * memory does not grow with the number of rows. `finish` returns only after fsync, because a rename may reach the
 * disk before the data.
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
    // `wx` never follows or reuses an existing file. The mode restricts the file to its owner, because it says who
    // got what.
    return new WholeFile(path, await onDisk(path, () => open(path, 'wx', 0o600)));
  }

  /** Returns a promise only when the buffer is full, because awaiting each of a million rows is slow. */
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

  /** Closes the file after a failure. The staging folder is removed with it. */
  async abandon(): Promise<void> {
    await this.handle.close().catch(() => {});
  }

  async #flush(): Promise<void> {
    const data = Buffer.from(this.#text, 'utf8');
    this.#text = '';
    this.#hash.update(data);
    this.#bytes += data.length;
    await onDisk(this.path, async () => {
      // A write may accept only part of the data (a nearly full disk); the loop offers the rest again.
      for (let from = 0; from < data.length; )
        from += (await this.handle.write(data, from, data.length - from)).bytesWritten;
    });
  }
}

/** Runs one step on the disk. A system error becomes an error with a remedy. */
async function onDisk<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (isAlmonerError(error)) throw error;
    throw new AlmonerError(
      'ALM_BATCH_REPORT_NOT_WRITTEN',
      `The report could not be written at ${path}: ${messageOf(error)}. No payment is affected, and all existing report files are still complete.`,
      { cause: error },
    );
  }
}

/**
 * Writes the rows that `fill` adds into a file at a path that a person chose. The file appears completely or not at
 * all, and never replaces another: a person must not confuse an undo file that was already run with a newer one. A
 * file without rows is removed, because running it would be refused.
 */
export async function writeRows<T extends { readonly rows: number }>(
  path: string,
  fill: (add: (text: string) => Promise<void> | undefined) => Promise<T>,
): Promise<{ readonly written: T; readonly file: string | null }> {
  // Check early only to report quickly; `appear` makes the guarantee.
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

/** Uses a link, because a link refuses an existing name and a rename does not. Some file systems have no links. */
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
