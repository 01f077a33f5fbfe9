import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startAlmoner } from '../support/almoner.js';
import { type RealmAndOperator, startRealmAndOperator } from '../support/realm-and-operator.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/**
 * What a command loads is most of the time it takes. Here is, for each, which of our dependencies and which folders of
 * src that is: a line that grows says that an import went where it is not needed.
 */

const PRELOAD = pathToFileURL(join(import.meta.dirname, '../support/loaded-files-preload.mjs')).href;
const { dependencies } = z
  .object({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

let store: TestRedis;
let world: RealmAndOperator;
beforeAll(async () => {
  store = await startRedis();
  world = await startRealmAndOperator({
    members: [{ member: '1', tokens: 100 }],
    env: { REDIS_URL: store.url },
  });
  await world.file('rows.csv', 'member,tokens,reference\n1,5,a\n');
  await world.file('more.csv', 'member,tokens,reference\n1,5,b\n');
  await world.file('c.yaml', 'logLevel: warn\n');
  const ran = await world.run('run', 'rows.csv', '--yes');
  expect(ran.status, ran.stderr).toBe(0);
});
afterAll(async () => {
  await world.end();
  await store.stop();
});

/** The modules in a file: a chunk of the bundled command line names each before it begins. */
function modulesIn(address: string): readonly string[] {
  const file = fileURLToPath(address);
  if (file.includes('/node_modules/')) return [file];
  if (!file.includes('/dist/cli/')) return [file.replace(/^.*\/dist\//, 'src/')];
  return [...readFileSync(file, 'utf8').matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(([, name = '']) => name);
}

async function loadedBy(command: string): Promise<{ packages: string; folders: string }> {
  const file = join(world.folder, `loaded-by-${command.replaceAll(/\W/g, '-')}`);
  const { ended, stderr } = startAlmoner(command.split(' '), {
    cwd: world.folder,
    env: { ...world.env, LOADED_FILES: file },
    nodeArgs: ['--import', PRELOAD],
  });
  expect(await ended, stderr()).toBe(0);
  const addresses = new Set(readFileSync(file, 'utf8').trim().split('\n'));
  const modules = [...addresses].filter((address) => address.startsWith('file:')).flatMap(modulesIn);
  const named = (found: RegExp) => [
    ...new Set(modules.flatMap((module) => found.exec(module)?.[1] ?? []).sort()),
  ];
  return {
    packages: named(/.*\/?node_modules\/((?:@[^/]+\/)?[^/]+)\//)
      .filter((name) => Object.hasOwn(dependencies, name))
      .join(' '),
    folders: named(/^src\/([^/]+)\//).join(' '),
  };
}

/** What every command loads that opens the store. */
const STORE = {
  packages: 'commander fastest-levenshtein ioredis lru-cache pino zod',
  folders: 'cli core ledger operations runtime words yaml',
};

/** What is loaded beyond a list; of the list, what is not, with a minus. */
function beyond(list: string, loaded: string): string {
  const [expected, found] = [list.split(' '), loaded.split(' ')];
  const missing = expected.filter((name) => !found.includes(name)).map((name) => `-${name}`);
  return [...found.filter((name) => !expected.includes(name)), ...missing].join(' ');
}

test.each(['--version', '--help'])('almoner %s loads the frame alone', async (command) => {
  expect(await loadedBy(command)).toEqual({ packages: 'commander', folders: 'cli core runtime' });
});

test.each([
  ['status', '', 'csv queue report rules'],
  ['status --config c.yaml', 'yaml', 'csv queue report rules'],
  ['status last', '', 'csv queue report rules'],
  ['doubt list', '', 'csv planning queue report'],
  ['dead list', '', 'csv report'],
  ['history 1', '', 'csv queue report'],
  ['find 1', '', 'csv report'],
  ['report last', '', 'csv queue report'],
  ['plan more.csv', 'csv-parse', 'csv planning queue realm report'],
  ['plan more.csv --check', 'csv-parse got lossless-json', 'csv planning queue realm report'],
  ['import more.csv --yes', 'csv-parse got lossless-json', 'csv planning queue realm report'],
  ['pause last', '', 'csv queue report rules'],
  ['member 1', 'got lossless-json', 'queue realm'],
  ['doctor', 'got lossless-json', 'queue realm'],
  ['desk token list', '', 'desk rules'],
  [
    'rules list',
    '@marcbachmann/cel-js cron-parser csv-parse lossless-json yaml',
    'csv planning queue report rules',
  ],
  [
    'rehearse more.csv',
    'bullmq cron-parser csv-parse fastify got lossless-json',
    'csv planning queue realm report',
  ],
])('almoner %s loads the store and: %s', { timeout: 60_000 }, async (command, packages, folders) => {
  const loaded = await loadedBy(command);
  expect({
    packages: beyond(STORE.packages, loaded.packages),
    folders: beyond(STORE.folders, loaded.folders),
  }).toEqual({ packages, folders });
});
