import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { AlmonerError, hasCode } from '../../core/errors/error.js';
import { replaceFile, type StoreFolder } from './folder.js';
import { lives, probePort } from './probe.js';

/**
 * Two notes in the store's folder announce a restore to other commands.
 *
 *   restore-holds.json   A restore holds the port and has not changed the store yet. The note is valid while that process
 *                        lives and holds the port, so a killed restore blocks no command.
 *   restoring.json       The files are being replaced. The note is valid until a restore has ended: a server that starts
 *                        between two steps would find no files and begin an empty ledger.
 */
export const RESTORING = 'restoring.json';
const HOLDS = 'restore-holds.json';

const holds = z.object({ pid: z.number().int(), port: z.number().int(), at: z.string() });

/** Writes the note that this process holds the store's port. */
export async function noteHold({ path, port }: StoreFolder, at: Date): Promise<void> {
  await replaceFile(join(path, HOLDS), JSON.stringify({ pid: process.pid, port, at: at.toISOString() }));
}

export async function removeHoldNote({ path }: StoreFolder): Promise<void> {
  await rm(join(path, HOLDS), { force: true });
}

/** Refuses to start a server while a restore replaces the files. */
export async function refuseWhileRestoring(folder: StoreFolder): Promise<void> {
  await refuseWhileHeld(folder);
  const note = await readNote(folder.path, RESTORING);
  if (note === null) return;
  throw new AlmonerError(
    'ALM_BACKUP_RESTORE_UNFINISHED',
    `The store in ${folder.path} is being replaced by a backup, or a restore was killed half-way (${note}). Nothing was started.`,
  );
}

/**
 * Checks the port of the note, not that of the folder. If a person removed the file `port`, the folder would choose
 * another one.
 */
export async function refuseWhileHeld({ path, password }: StoreFolder): Promise<void> {
  const note = await readNote(path, HOLDS);
  const held = note === null ? null : parsed(note);
  if (held === null || !lives(held.pid)) return;
  const { kind } = await probePort(held.port, password);
  if (kind === 'absent' || kind === 'ours') return;
  throw new AlmonerError(
    'ALM_BACKUP_RESTORE_UNFINISHED',
    `A restore of the store in ${path} is running (pid ${held.pid}, since ${held.at}). Nothing was started.`,
    { next: 'Wait until the restore has ended, then run the same command again.' },
  );
}

function parsed(text: string): z.infer<typeof holds> | null {
  try {
    return holds.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

async function readNote(path: string, name: string): Promise<string | null> {
  try {
    return (await readFile(join(path, name), 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
