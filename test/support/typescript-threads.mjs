// Lets the worker threads of a test run src as it is: Vitest transforms what a test imports, but not what a
// thread does. Only in threads, so that the tests themselves are loaded as always.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (!isMainThread) register('./typescript-hooks.mjs', import.meta.url);
