// Tells whether dist is a finished build of the current src.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** build.mjs writes this file last, so an interrupted build has none. */
export const BUILD_STAMP = 'dist/.built';
const INPUTS = [
  'src',
  'scripts/build.mjs',
  'scripts/bundle.mjs',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

export function buildIsCurrent() {
  if (!existsSync(BUILD_STAMP)) return false;
  return Math.max(...INPUTS.map(newestMs)) <= statSync(BUILD_STAMP).mtimeMs;
}

// Folders count as well: removing a file changes only its folder.
function newestMs(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}
