import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { AlmonerError, isAlmonerError, messageOf } from '../../core/errors/error.js';
import { syncFolder } from '../sync-folder.js';

/**
 * The file of one archived batch: everything a report, a history or an undo needs.
 *
 *   'ALMONER ARCHIVE 1\n' · a chunk for each plan block · footer (JSON, compressed) · trailer
 *   chunk    4 bytes length of the plan block · the plan block as it was · records and details (JSON, compressed)
 *   trailer  offset and length of the footer, 8 bytes each · sha-256 of everything before it, 32 bytes
 */
const MAGIC = Buffer.from('ALMONER ARCHIVE 1\n');
const PLACE_BYTES = 16;
const DIGEST_BYTES = 32;

const texts = z.record(z.string(), z.string());
const chunkRest = z.object({
  /** The record hashes of the block's orders, as the ledger packs them. */
  records: z.array(texts),
  /** What orders met, by index; only those that met something. */
  details: z.record(z.string(), z.array(z.string())),
});

const footer = z.object({
  batch: z.string(),
  meta: texts,
  counters: texts,
  audit: z.array(z.string()),
  latency: texts,
  run: texts,
  chunks: z.array(z.tuple([z.number(), z.number()])),
});
type ArchiveFooter = z.infer<typeof footer>;
export type ArchiveChunk = { readonly plan: Buffer } & z.infer<typeof chunkRest>;

/** Writes the file under another name and puts it into its place when it is whole and on disk. */
export async function writeArchive(
  path: string,
  batch: Omit<ArchiveFooter, 'chunks'>,
  chunks: AsyncIterable<ArchiveChunk>,
): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    const digest = createHash('sha256');
    let offset = 0;
    const append = async (bytes: Buffer) => {
      digest.update(bytes);
      await file.writeFile(bytes);
      offset += bytes.length;
    };
    const places: [number, number][] = [];
    await append(MAGIC);
    for await (const chunk of chunks) {
      const bytes = encodeChunk(chunk);
      places.push([offset, bytes.length]);
      await append(bytes);
    }
    const last = deflateRawSync(JSON.stringify({ ...batch, chunks: places }));
    const place = Buffer.alloc(16);
    place.writeBigUInt64BE(BigInt(offset), 0);
    place.writeBigUInt64BE(BigInt(last.length), 8);
    await append(last);
    await append(place);
    const sha256 = digest.digest();
    await file.writeFile(sha256);
    await file.sync();
    await file.close();
    await rename(temporary, path);
    await syncFolder(dirname(path));
    return sha256.toString('hex');
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
}

export class ArchiveFile {
  private constructor(
    private readonly path: string,
    readonly footer: ArchiveFooter,
    readonly sha256: string,
  ) {}

  /**
   * Reads the whole file once and checks it; what is read later is what was checked. Piece by piece: the archive of a
   * million rows must not stand in memory, nor its checksum keep everybody else waiting.
   */
  static async open(path: string): Promise<ArchiveFile> {
    const file = await open(path, 'r').catch((error: unknown) => {
      throw missing(path, error);
    });
    try {
      const end = (await file.stat()).size - DIGEST_BYTES;
      if (end < MAGIC.length + PLACE_BYTES) throw damaged(path);
      const digest = createHash('sha256');
      for await (const piece of file.createReadStream({ end: end - 1, autoClose: false }))
        digest.update(piece);
      const sha256 = digest.digest('hex');
      const isWhole = sha256 === (await bytesAt(file, end, DIGEST_BYTES)).toString('hex');
      if (!isWhole || !(await bytesAt(file, 0, MAGIC.length)).equals(MAGIC)) throw damaged(path);
      const place = await bytesAt(file, end - PLACE_BYTES, PLACE_BYTES);
      const [offset, length] = [place.readBigUInt64BE(0), place.readBigUInt64BE(8)].map(Number);
      const json = inflateRawSync(await bytesAt(file, offset ?? 0, length ?? 0)).toString('utf8');
      return new ArchiveFile(path, footer.parse(JSON.parse(json)), sha256);
    } finally {
      await file.close();
    }
  }

  /** The rows of one plan block; undefined beyond the last. */
  async chunk(block: number): Promise<ArchiveChunk | undefined> {
    const place = this.footer.chunks[block];
    if (place === undefined) return undefined;
    const [offset, length] = place;
    const file = await open(this.path, 'r').catch((error: unknown) => {
      throw missing(this.path, error);
    });
    try {
      return decodeChunk(await bytesAt(file, offset, length));
    } finally {
      await file.close();
    }
  }
}

/** Other files of the same batch lie beside under its name and a further ending; these are not whole yet. */
const UNFINISHED = /\.(tmp|new)$/;

/**
 * The archive of this hash: under the batch's own name, or beside it. A restore keeps the file that it replaces as
 * `BATCH.alm.before-TIME`, and a person who puts the former store back does not put back its archives. Null where the file
 * that is there is another one.
 */
export async function openNamedArchive(path: string, sha256: string): Promise<ArchiveFile | null> {
  const names: string[] = await readdir(dirname(path)).catch(() => []);
  const beside = names.filter((name) => name.startsWith(`${basename(path)}.`) && !UNFINISHED.test(name));
  const first = await ArchiveFile.open(path).catch((error: unknown) => ({ error }));
  if (!('error' in first) && first.sha256 === sha256) return first;
  for (const name of beside) {
    const other = await ArchiveFile.open(join(dirname(path), name)).catch(() => null);
    if (other?.sha256 === sha256) return other;
  }
  if ('error' in first) throw first.error;
  return null;
}

export function anotherArchive(path: string): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_ARCHIVE_DAMAGED',
    `The archive ${path} is another one than the ledger names: it was written by another store. Nothing was read from it.`,
  );
}

/** The hash by which the store names an archive; null where the file is missing or damaged. */
export async function archiveHash(path: string): Promise<string | null> {
  try {
    return (await ArchiveFile.open(path)).sha256;
  } catch {
    return null;
  }
}

async function bytesAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  if (bytesRead !== length) throw new Error('the archive is shorter than it was');
  return bytes;
}

function encodeChunk({ plan, records, details }: ArchiveChunk): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(plan.length);
  return Buffer.concat([length, plan, deflateRawSync(JSON.stringify({ records, details }))]);
}

function decodeChunk(bytes: Buffer): ArchiveChunk {
  const end = 4 + bytes.readUInt32BE(0);
  const rest: unknown = JSON.parse(inflateRawSync(bytes.subarray(end)).toString('utf8'));
  return { plan: bytes.subarray(4, end), ...chunkRest.parse(rest) };
}

/** The rows of a batch whose archive is missing or damaged cannot be read, and those of all others can. */
export function isArchiveAway(error: unknown): error is AlmonerError {
  return (
    isAlmonerError(error) && ['ALM_LEDGER_ARCHIVE_MISSING', 'ALM_LEDGER_ARCHIVE_DAMAGED'].includes(error.code)
  );
}

function missing(path: string, error: unknown): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_ARCHIVE_MISSING',
    `Batch ${basename(path, '.alm')} is archived, and its file ${path} cannot be read (${messageOf(error)}). Its summary is in the store; its rows are only there.`,
    { cause: error },
  );
}

function damaged(path: string): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_ARCHIVE_DAMAGED',
    `The archive ${path} is not what was written: its checksum differs. Nothing was read from it.`,
  );
}
