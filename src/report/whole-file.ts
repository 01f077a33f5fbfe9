import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { AlmonerError, isAlmonerError, messageOf } from '../core/errors/error.js';

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
    readonly name: string,
    readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  static async create(name: string, path: string): Promise<WholeFile> {
    // `wx` never follows or reuses what already stands there. Who got what is for the owner's eyes.
    return new WholeFile(name, path, await onDisk(path, () => open(path, 'wx', 0o600)));
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
    return { name: this.name, bytes: this.#bytes, sha256: this.#hash.digest('hex') };
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

export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT');
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
