// Loaded before the program by tests only: writes the address of every file that the program loads to LOADED_FILES.
import { appendFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const note = (address) => appendFileSync(process.env.LOADED_FILES, `${address}\n`);

// The hooks run in a thread of their own, from this same file. They do not see what is required: of that the cache tells.
if (isMainThread) {
  register(import.meta.url);
  process.on('exit', () => {
    for (const file of Object.keys(createRequire(import.meta.url).cache)) note(pathToFileURL(file));
  });
}

export function load(url, context, next) {
  note(url);
  return next(url, context);
}
