// Lets the worker threads of a test run src as it is: Vitest transforms what a test imports, but not what a
// thread does. Only in threads, so that the tests themselves are loaded as always, and not in those of the built
// program, whose files are there under the names they are started by.
import { existsSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (!isMainThread && !existsSync(process.argv[1])) register('./typescript-hooks.mjs', import.meta.url);
