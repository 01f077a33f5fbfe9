import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { AlmonerError } from '../../core/errors/error.js';
import { syncFolder } from '../sync-folder.js';
import { decodeEntry, type JournalHead, parseJson } from './line.js';

/**
 * The journals of a data folder, and what is noted beside them. Every note has one writer, so that nothing needs
 * a lock, and appears whole or not at all:
 *
 *   <session>.<n>.journal   what the session was about to send, and what came of it
 *   <session>.merged        per realm, era and sequence at which the ledger was found to know all of an ended session
 *   <session>.floor         up to which sequence of which era the ledger had settled what that session removed. A ledger
 *                           that has forgotten more must not be trusted by itself again
 */
export type JournalFile = {
  readonly number: number;
  readonly path: string;
  readonly bytes: number;
  readonly writtenMs: number;
};

export type JournalFiles = {
  readonly session: string;
  /** Oldest first. */
  readonly files: readonly JournalFile[];
  readonly bytes: number;
};

const NAME = /^([0-9a-f]{12})\.([1-9][0-9]{0,6})\.journal$/;

export async function listJournals(folder: string): Promise<JournalFiles[]> {
  const names = await readdir(folder).catch(() => []);
  const bySession = new Map<string, JournalFile[]>();
  for (const name of names) {
    const [, session, number] = NAME.exec(name) ?? [];
    if (session === undefined) continue;
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) continue;
    const files = bySession.get(session) ?? [];
    files.push({ number: Number(number), path, bytes: found.size, writtenMs: found.mtimeMs });
    bySession.set(session, files);
  }
  return [...bySession].map(([session, files]) => ({
    session,
    files: files.sort((a, b) => a.number - b.number),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  }));
}

/** The head alone, without reading what follows; every file has it, and the oldest may be damaged or gone by now. */
export async function readHead({ files }: JournalFiles): Promise<JournalHead | undefined> {
  for (const { path } of files) {
    const file = await open(path, 'r').catch(() => undefined);
    if (file === undefined) continue;
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES_MAX), 0, HEAD_BYTES_MAX, 0);
      const [first = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
      const entry = decodeEntry(first);
      if (entry?.kind === 'head') return entry.head;
    } finally {
      await file.close();
    }
  }
  return undefined;
}

const HEAD_BYTES_MAX = 4096;

/** A moment of the ledger, its sequence in an era, by realm. `sent`: the session has sent an order of that realm. */
const merged = z.record(
  z.string(),
  z.object({ era: z.string(), seq: z.number(), sent: z.boolean().default(true) }),
);
type Merged = Readonly<z.infer<typeof merged>>;

/** A moment for each realm at which the ledger knew all of the session's attempts. */
export async function readMerged(folder: string, session: string): Promise<Merged> {
  const text = await readFile(join(folder, `${session}.merged`), 'utf8').catch(() => '{}');
  const found = merged.safeParse(parseJson(text));
  // Nothing is concluded from a damaged note: the journal is read once more.
  return found.success ? found.data : {};
}

export async function noteMerged(
  folder: string,
  session: string,
  realm: string,
  at: Merged[string],
): Promise<void> {
  const known = await readMerged(folder, session);
  if (known[realm]?.era !== at.era) await writeNote(folder, `${session}.merged`, { ...known, [realm]: at });
}

export async function forgetMerged(folder: string, session: string): Promise<void> {
  await rm(join(folder, `${session}.merged`), { force: true });
}

const removal = z.object({ seqs: z.record(z.string(), z.record(z.string(), z.number())) });
/** The sequence by which the ledger knew all that was in removed files, by realm and era. */
export type Removed = Readonly<Record<string, Highest>>;

const FLOOR = /^([0-9a-f]{12})\.floor$/;

/** All that was ever removed here. A note that cannot be read is not "no note": too little would be missed. */
export async function readRemoved(folder: string): Promise<Removed> {
  let all: Removed = {};
  for (const name of await readdir(folder).catch(() => [])) {
    if (!FLOOR.test(name)) continue;
    const path = join(folder, name);
    try {
      const json = JSON.parse(await readFile(path, 'utf8'));
      all = joined(all, removal.parse(json).seqs);
    } catch (cause) {
      // Taken over by another session in this moment, into a note that was not there yet: all are read again.
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return readRemoved(folder);
      throw new AlmonerError(
        'ALM_LEDGER_FLOOR_DAMAGED',
        `${path}, which tells up to where journals were removed, cannot be read. Nothing is sent.`,
        { cause },
      );
    }
  }
  return all;
}

/** Written before the files go. What dead sessions noted is taken along, so that notes do not pile up. */
export async function noteRemoved(
  folder: string,
  session: string,
  more: Removed,
  isDead: (session: string) => Promise<boolean>,
): Promise<void> {
  const all = joined(await readRemoved(folder), more);
  await writeNote(folder, `${session}.floor`, { seqs: all });
  for (const name of await readdir(folder).catch(() => [])) {
    const writer = FLOOR.exec(name)?.[1];
    const isTaken = writer !== undefined && writer !== session && (await isDead(writer));
    if (isTaken) await rm(join(folder, name), { force: true });
  }
}

function joined(a: Removed, b: Removed): Removed {
  const seqs: Record<string, Highest> = { ...a };
  for (const [realm, eras] of Object.entries(b)) seqs[realm] = highest(seqs[realm] ?? {}, eras);
  return seqs;
}

/** The highest sequence by era. */
export type Highest = Readonly<Record<string, number>>;

export function highest(a: Highest, b: Highest): Highest {
  const both: Record<string, number> = { ...a };
  for (const [name, value] of Object.entries(b)) both[name] = Math.max(both[name] ?? 0, value);
  return both;
}

/** The note is written under a name of its own first, and is durable before anything rests on it. */
export async function writeNote(folder: string, name: string, value: unknown): Promise<void> {
  const draft = join(folder, `${name}.${process.pid}.${++drafts}.new`);
  await writeFile(draft, JSON.stringify(value), { flush: true, mode: 0o600 });
  await rename(draft, join(folder, name));
  await syncFolder(folder);
}

let drafts = 0;
