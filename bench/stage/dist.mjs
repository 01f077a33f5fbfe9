import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The benches run the built program, as a user does; BENCH_DIST names another build of it. */
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const DIST = resolve(ROOT, process.env.BENCH_DIST ?? 'dist');
export const MAIN = resolve(DIST, 'cli', 'main.js');

if (!existsSync(MAIN)) {
  console.error(`There is no build at ${DIST}; run npm run build first.`);
  process.exit(2);
}

/** A module of the built program. */
export function load(path) {
  return import(pathToFileURL(resolve(DIST, path)).href);
}
