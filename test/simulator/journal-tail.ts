import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What survives of a killed process's last journal lines: all of them, none, or a torn piece. */
export type JournalTail = 'written' | 'lost' | 'torn';

/**
 * Called at the moment of death. The returned function, called when the file is closed, removes what the death cut off.
 */
export function lostTail(folder: string, session: string, tail: JournalTail): () => void {
  const sizes = new Map(filesOf(folder, session).map((path) => [path, statSync(path).size]));
  return () => {
    const now = filesOf(folder, session);
    // The session has begun another file, so the cut is no longer at the end of one.
    if (now.length !== sizes.size) return;
    for (const path of now) {
      const [was, is] = [sizes.get(path) ?? 0, statSync(path).size];
      if (is > was) truncateSync(path, tail === 'torn' ? Math.min(is - 1, was + TORN_BYTES) : was);
    }
  };
}

/** Makes a line in the middle of a journal unreadable. Journals of live sessions are spared. */
export function damageJournal(folder: string, living: readonly string[], nth: number): void {
  if (!existsSync(folder)) return;
  const paths = readdirSync(folder)
    .filter((name) => name.endsWith('.journal') && !living.some((session) => name.startsWith(session)))
    .sort()
    .map((name) => join(folder, name));
  const path = paths[nth % Math.max(1, paths.length)];
  if (path === undefined) return;
  const lines = readFileSync(path, 'utf8').split('\n');
  // Spares the head, which identifies the journal, and the last line, which a death may tear.
  const at = 1 + (nth % Math.max(1, lines.length - 3));
  if (lines.length < 4) return;
  writeFileSync(path, lines.with(at, '#'.repeat(20)).join('\n'));
}

const TORN_BYTES = 40;

function filesOf(folder: string, session: string): string[] {
  // The folder is gone if the machine was lost with its disk.
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(session) && name.endsWith('.journal'))
    .map((name) => join(folder, name));
}
