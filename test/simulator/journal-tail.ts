import { existsSync, readdirSync, statSync, truncateSync } from 'node:fs';
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

const TORN_BYTES = 40;

function filesOf(folder: string, session: string): string[] {
  // The machine may be lost with its disk.
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(session) && name.endsWith('.journal'))
    .map((name) => join(folder, name));
}
