import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { AlmonerError } from '../core/errors/error.js';
import { decodeEntry, type JournalHead } from './journal-line.js';

/** The journals of a data folder: whose files lie there, and how large they may become together. */

export type JournalFiles = {
  readonly session: string;
  /** Oldest first. */
  readonly paths: readonly string[];
  readonly bytes: number;
};

const NAME = /^([0-9a-f]{12})\.([1-9][0-9]{0,6})\.journal$/;
const FLOOR = 'floor.json';

export async function listJournals(folder: string): Promise<JournalFiles[]> {
  const names = await readdir(folder).catch(() => []);
  const bySession = new Map<string, { number: number; path: string; bytes: number }[]>();
  for (const name of names) {
    const [, session, number] = NAME.exec(name) ?? [];
    if (session === undefined) continue;
    const path = join(folder, name);
    const size = await stat(path).then(
      (found) => found.size,
      () => undefined,
    );
    if (size === undefined) continue;
    const files = bySession.get(session) ?? [];
    files.push({ number: Number(number), path, bytes: size });
    bySession.set(session, files);
  }
  return [...bySession].map(([session, files]) => {
    files.sort((a, b) => a.number - b.number);
    return {
      session,
      paths: files.map(({ path }) => path),
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  });
}

/** The head alone, without reading what follows. */
export async function readHead(path: string): Promise<JournalHead | undefined> {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES_MAX), 0, HEAD_BYTES_MAX, 0);
    const [first = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    const entry = decodeEntry(first);
    return entry?.kind === 'head' ? entry.head : undefined;
  } finally {
    await file.close();
  }
}

const HEAD_BYTES_MAX = 4096;

/**
 * Removes the oldest files until the folder is small enough; even an empty one counts some, so that their
 * number is bounded too. `keep` names files that must stay: those of the living, and the caller's last. What was removed is noted as a floor: a ledger that has forgotten more than the
 * journals still know must not be trusted by itself again.
 */
export async function boundJournals(
  folder: string,
  bytesMax: number,
  keep: (session: string, newest: boolean) => Promise<boolean> | boolean,
): Promise<number> {
  const all: { session: string; path: string; bytes: number; at: number; newest: boolean }[] = [];
  for (const { session, paths } of await listJournals(folder))
    for (const [position, path] of paths.entries()) {
      const found = await stat(path).catch(() => undefined);
      if (found !== undefined)
        all.push({
          session,
          path,
          bytes: Math.max(found.size, FILE_BYTES_MIN),
          at: found.mtimeMs,
          newest: position === paths.length - 1,
        });
    }
  let total = all.reduce((sum, { bytes }) => sum + bytes, 0);
  let removed = 0;
  for (const file of all.sort((a, b) => a.at - b.at)) {
    if (total <= bytesMax) break;
    if (await keep(file.session, file.newest)) continue;
    await raiseFloor(folder, await highestSeqs(file.path));
    await rm(file.path, { force: true });
    total -= file.bytes;
    removed += 1;
  }
  return removed;
}

const FILE_BYTES_MIN = 32 * 1024;

const floors = z.record(z.string(), z.number());

/** Per realm, the highest sequence in journal files that were removed. */
export async function readFloor(folder: string, realm: string): Promise<number> {
  return (await readFloors(folder))[realm] ?? 0;
}

/** A note that cannot be read is not "no note": a store that forgot too much would be trusted again. */
async function readFloors(folder: string): Promise<Record<string, number>> {
  const path = join(folder, FLOOR);
  try {
    return floors.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {};
    throw new AlmonerError(
      'ALM_LEDGER_FLOOR_DAMAGED',
      `${path}, which tells up to where journals were removed, cannot be read. Nothing is sent.`,
      { cause },
    );
  }
}

async function raiseFloor(folder: string, seqs: ReadonlyMap<string, number>): Promise<void> {
  const known = await readFloors(folder);
  for (const [realm, seq] of seqs) known[realm] = Math.max(known[realm] ?? 0, seq);
  const path = join(folder, FLOOR);
  await writeFile(`${path}.new`, JSON.stringify(known), { flush: true });
  await rename(`${path}.new`, path);
}

async function highestSeqs(path: string): Promise<Map<string, number>> {
  const seqs = new Map<string, number>();
  for (const text of (await readFile(path, 'utf8')).split('\n')) {
    const entry = decodeEntry(text);
    if (entry?.kind !== 'intent') continue;
    const { realm, seq } = entry.intent;
    seqs.set(realm, Math.max(seqs.get(realm) ?? 0, seq));
  }
  return seqs;
}
