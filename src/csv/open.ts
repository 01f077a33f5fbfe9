import { createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { AlmonerError, hasCode, messageOf } from '../core/errors/error.js';
import { oneLine } from '../core/one-line.js';
/**
 * A file that can be read several times: for its shape, for the plan, and to store it. Input that can be read only
 * once (stdin, a pipe) is first copied to a temporary file, which disappears when its handle closes.
 */
export type Source = {
  /** The file's name in messages, or `-`. */
  readonly name: string;
  readonly bytes: number;
  /**
   * Reads the raw bytes from the beginning. Each chunk is valid until the next one is requested. Throws
   * ALM_FILE_CHANGED if the file is no longer the one that was opened.
   */
  chunks(): AsyncIterable<Buffer>;
  close(): Promise<void>;
};

type OpenOptions = {
  readonly limits?: Partial<IntakeLimits>;
  /** The stream that `-` reads. */
  readonly stdin?: Readable;
};

/**
 * The rows of one chunk stay in memory together. With 64 kB they outlived the young generation: 60 MB more memory,
 * and a tenth slower.
 */
const CHUNK_BYTES = 16 * 1024;

/** Opens a file, or stdin for `-`, for several readings. */
export async function openSource(file: string, options: OpenOptions = {}): Promise<Source> {
  const fileBytesMax = options.limits?.fileBytesMax ?? INTAKE_LIMITS.fileBytesMax;
  if (file === '-') return spool('-', options.stdin ?? process.stdin, fileBytesMax);
  const refuse = (error: unknown) => {
    throw cannotOpen(file, error);
  };
  const found = await stat(file).catch(refuse);
  if (found.isDirectory())
    throw new AlmonerError(
      'ALM_FILE_UNREADABLE',
      `${file} is a folder, expected a CSV file. Nothing was done.`,
    );
  if (!found.isFile()) return spool(nameFor(file), createReadStream(file), fileBytesMax);
  if (found.size > fileBytesMax) throw tooLarge(file, fileBytesMax);
  return source(nameFor(file), await open(file, 'r').catch(refuse));
}

/** The name for messages. It may contain any character except `/`, even line ends. */
function nameFor(file: string): string {
  return oneLine(basename(file)) || 'file';
}

/** Keeps the handle open between readings, so that a file replaced by a rename is still the one that was planned. */
async function source(name: string, handle: FileHandle): Promise<Source> {
  const opened = await handle.stat();
  return {
    name,
    bytes: opened.size,
    async *chunks() {
      let position = 0;
      // All chunks share one buffer. A new buffer per chunk made tens of megabytes of garbage.
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      for (;;) {
        const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
        if (bytesRead === 0) break;
        position += bytesRead;
        yield chunk.subarray(0, bytesRead);
      }
      const now = await handle.stat();
      if (now.size !== opened.size || now.mtimeMs !== opened.mtimeMs || position !== opened.size)
        throw new AlmonerError(
          'ALM_FILE_CHANGED',
          `${name} was changed while it was read; nothing was sent.`,
        );
    },
    close: () => handle.close(),
  };
}

/** Copies input that can be read only once into a temporary file. */
async function spool(name: string, input: Readable, fileBytesMax: number): Promise<Source> {
  let handle: FileHandle | undefined;
  try {
    handle = await unnamedFile();
    await copy(input, handle, name, fileBytesMax);
    return await source(name, handle);
  } catch (error) {
    await handle?.close();
    throw error instanceof AlmonerError ? error : cannotOpen(name, error);
  }
}

/** Opens a temporary file and removes its name, so that no file stays behind, however the process ends. */
async function unnamedFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-in-'));
  try {
    return await open(join(folder, 'input.csv'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copy(input: Readable, handle: FileHandle, name: string, fileBytesMax: number): Promise<void> {
  let bytes = 0;
  for await (const piece of input) {
    const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(String(piece));
    bytes += chunk.length;
    if (bytes > fileBytesMax) throw tooLarge(name, fileBytesMax);
    await handle.writeFile(chunk);
  }
}

function tooLarge(name: string, fileBytesMax: number): AlmonerError {
  const what = name === '-' ? 'Standard input' : name;
  return new AlmonerError(
    'ALM_FILE_TOO_LARGE',
    `${what} is larger than ${fileBytesMax} bytes; it was not read, and nothing was sent.`,
  );
}

function cannotOpen(file: string, error: unknown): AlmonerError {
  const options = { cause: error };
  if (hasCode(error, 'ENOENT', 'ENOTDIR'))
    return new AlmonerError('ALM_FILE_NOT_FOUND', `There is no file ${file}. Nothing was done.`, options);
  const message = `${file} cannot be read: ${messageOf(error)}. Nothing was done.`;
  return new AlmonerError('ALM_FILE_UNREADABLE', message, options);
}

/** The limits on every dimension in which a file can grow. A file beyond a limit is refused with a clear fault. */
export type IntakeLimits = {
  readonly fileBytesMax: number;
  /** One record, including quoted line breaks. It also bounds how much an unclosed quote can swallow. */
  readonly recordBytesMax: number;
  readonly columnsMax: number;
  readonly rowsMax: number;
};

export const INTAKE_LIMITS: IntakeLimits = {
  fileBytesMax: 1024 ** 3,
  recordBytesMax: 1024 ** 2,
  columnsMax: 200,
  rowsMax: 5_000_000,
};
