// Vitest transforms what a test imports, but not what a thread runs: a thread of src is started as its built file,
// which is there already and loads in half the time of sources that would be stripped of their types for each.
const Module = require('node:module');
const { existsSync } = require('node:fs');
const { join, relative, resolve } = require('node:path');
const { isMainThread } = require('node:worker_threads');

const root = join(__dirname, '../..');
const dist = resolve(root, process.env.ALMONER_TEST_DIST ?? 'dist');
const { runMain } = Module;

if (!isMainThread)
  Module.runMain = (file) => runMain(existsSync(file) ? file : join(dist, relative(join(root, 'src'), file)));
