import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { counted } from '../../core/counted.js';
import { AlmonerError, messageOf } from '../../core/errors/error.js';

/**
 * A backup is a folder:
 *
 *   manifest.json                 every other file with its size and hash; what the backup is of
 *   store.rdb                     the store at one instant, as Redis loads it
 *   journal/…                     the journals of the data folder and the notes beside them, read after that instant
 *   references/<file>.json        references that `almoner references add` marked as spent
 *   archive/<realm>/<batch>.alm   the archives, read after that instant; with a further ending those that lie beside
 */
export const MANIFEST = 'manifest.json';
export const STORE_FILE = 'store.rdb';

/** Names are checked before anything is read or written by them: a manifest may come from anywhere. */
const FILE_NAME =
  /^(store\.rdb|journal\/[0-9a-f]{12}(\.[1-9][0-9]{0,6}\.journal|\.floor|\.position)|references\/[0-9a-f]{12}\.json|archive\/[0-9a-f]{12}\/[\w.-]+\.alm(\.(before|by)-[\w-]+)?)$/;

export function isBackedUp(path: string): boolean {
  return FILE_NAME.test(path);
}

const file = z.object({
  path: z.string().regex(FILE_NAME),
  bytes: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type BackupFile = Readonly<z.infer<typeof file>>;

const manifest = z.object({
  almonerBackup: z.literal(1),
  /** When the store was copied. */
  at: z.iso.datetime(),
  version: z.string(),
  /** The format of the ledgers. */
  format: z.number(),
  store: z.object({ embedded: z.boolean(), address: z.string(), db: z.number().int().nonnegative() }),
  machine: z.string(),
  dataFolder: z.string(),
  realms: z.array(
    z.object({
      name: z.string(),
      baseUrl: z.string(),
      realmId: z.string(),
      ledger: z.string(),
      batches: z.number(),
      /** The store has come at least so far: it was read just before the copy. */
      seq: z.number(),
    }),
  ),
  /** What is configured, by name. Neither keys nor values of secrets. */
  configuration: z.object({
    file: z.string().nullable(),
    realms: z.array(
      z.object({ name: z.string(), baseUrl: z.string(), realmId: z.string(), key: z.string() }),
    ),
  }),
  files: z.array(file),
});
export type Manifest = Readonly<z.infer<typeof manifest>>;

export async function readManifest(folder: string): Promise<Manifest> {
  try {
    const read = manifest.parse(JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')));
    if (!read.files.some(({ path }) => path === STORE_FILE)) throw new Error(`it lists no ${STORE_FILE}`);
    return read;
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new AlmonerError(
      'ALM_BACKUP_INVALID',
      `${join(folder, MANIFEST)} is not the manifest of a backup (${why}). Nothing was changed.`,
      { cause: error },
    );
  }
}

export type FileProgress = (doneBytes: number, ofBytes: number) => void;

/** Every file that is not what the manifest says, in words. */
export async function checkFiles(
  folder: string,
  { files }: Manifest,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: FileProgress },
): Promise<string[]> {
  const of = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const wrong: string[] = [];
  let done = 0;
  for (const { path, bytes, sha256 } of files) {
    const found = await stat(join(folder, path)).catch(() => null);
    if (found === null) wrong.push(`${path} is not there`);
    else if (found.size !== bytes)
      wrong.push(`${path} has ${counted(found.size, 'byte')}, the manifest says ${bytes}`);
    else {
      const digest = createHash('sha256');
      try {
        for await (const piece of createReadStream(join(folder, path), { signal })) {
          digest.update(piece);
          done += piece.length;
          onProgress(done, of);
        }
        if (digest.digest('hex') !== sha256) wrong.push(`${path} has another content than was written`);
      } catch (error) {
        signal.throwIfAborted();
        wrong.push(`${path} cannot be read: ${messageOf(error)}`);
      }
    }
  }
  return wrong;
}
