import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, open, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AlmonerError, hasCode, isAlmonerError, messageOf } from '../core/errors/error.js';

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
