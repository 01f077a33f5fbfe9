import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a killed process had given to the kernel: all of it, none of the last lines, or a piece of one. */
export type JournalTail = 'written' | 'lost' | 'torn';

/** Called at the moment of death. The answer, called when the file is closed, takes away what came after. */
export function lostTail(folder: string, session: string, tail: JournalTail): () => void {
  const sizes = new Map(filesOf(folder, session).map((path) => [path, statSync(path).size]));
  return () => {
    const now = filesOf(folder, session);
    // A file begun since: what the death cut off is not at the end of a file any more.
    if (now.length !== sizes.size) return;
    for (const path of now) {
      const [was, is] = [sizes.get(path) ?? 0, statSync(path).size];
      if (is > was) truncateSync(path, tail === 'torn' ? Math.min(is - 1, was + TORN_BYTES) : was);
    }
  };
}

/** A line in the middle of a journal cannot be read; those of living sessions stay as they are. */
export function damageJournal(folder: string, living: readonly string[], nth: number): void {
  if (!existsSync(folder)) return;
  const paths = readdirSync(folder)
    .filter((name) => name.endsWith('.journal') && !living.some((session) => name.startsWith(session)))
    .sort()
    .map((name) => join(folder, name));
  const path = paths[nth % Math.max(1, paths.length)];
  if (path === undefined) return;
  const lines = readFileSync(path, 'utf8').split('\n');
  // Neither its head, by which it is known, nor its last line, which a death may cut off.
  const at = 1 + (nth % Math.max(1, lines.length - 3));
  if (lines.length < 4) return;
  writeFileSync(path, lines.with(at, '#'.repeat(20)).join('\n'));
}

const TORN_BYTES = 40;

function filesOf(folder: string, session: string): string[] {
  // The machine may be lost with its disk.
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(session) && name.endsWith('.journal'))
    .map((name) => join(folder, name));
}
