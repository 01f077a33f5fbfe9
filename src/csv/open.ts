import { createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { AlmonerError, hasCode, messageOf } from '../core/errors/error.js';
import { oneLine } from '../core/one-line.js';
/**
 * A file that can be read several times: once for its shape, once for the plan, once to store it. What can be
 * read only once (stdin, a pipe) is put into a temporary file first, which is gone with its handle.
 */
export type Source = {
  /** The file's name for people, or `-`. */
  readonly name: string;
  readonly bytes: number;
  /** The raw bytes from the beginning, each chunk good until the next is asked for; throws ALM_FILE_CHANGED when the file is no longer the one opened. */
  chunks(): AsyncIterable<Buffer>;
  close(): Promise<void>;
};

type OpenOptions = {
  readonly limits?: Partial<IntakeLimits>;
  /** What `-` reads. */
  readonly stdin?: Readable;
};

/** Rows of one chunk live together: with 64 kB they outlived the young generation, 60 MB more and a tenth slower. */
const CHUNK_BYTES = 16 * 1024;

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

/** A name is for people: it may hold anything but a `/`, line ends included. */
function nameFor(file: string): string {
  return oneLine(basename(file)) || 'file';
}

/** The handle stays open between readings, so that a file replaced by a rename is still the one planned. */
async function source(name: string, handle: FileHandle): Promise<Source> {
  const opened = await handle.stat();
  return {
    name,
    bytes: opened.size,
    async *chunks() {
      let position = 0;
      // One piece of memory for all: a new one for each chunk was garbage of tens of megabytes.
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

/** Open without a name: whatever ends the process, nothing stays behind. */
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

/** A limit on everything a file can grow in: what is beyond is refused with a clear fault, never tried. */
export type IntakeLimits = {
  readonly fileBytesMax: number;
  /** One record, quoted line breaks included. Also what an unclosed quote can swallow before it is noticed. */
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
