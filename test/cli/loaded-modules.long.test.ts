import { afterAll, beforeAll, expect, test } from 'vitest';
import { beyondStore, loadedBy } from '../support/program/loaded-modules.js';
import { Program } from '../support/program/program.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/**
 * Loading takes most of the time of a command. This table has, for each command, the dependencies and the folders of
 * src that it loads: a line that grows says that an import went where it is not needed.
 */
let store: TestRedis;
let world: Program;
beforeAll(async () => {
  store = await startRedis();
  world = await Program.start({
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

test('almoner --help loads the frame alone', async () => {
  expect(await loadedBy('--help', world.folder, world.env)).toEqual({
    packages: 'commander',
    folders: 'cli core runtime',
  });
});

test.each([
  ['status --config c.yaml', 'yaml', 'csv queue report rules'],
  ['status last', '', 'csv queue report rules'],
  ['doubt list', '', 'csv planning queue report'],
  ['dead list', '', 'csv report'],
  ['history 1', '', 'csv queue report'],
  ['find 1', '', ''],
  ['report last', '', 'csv queue report'],
  ['plan more.csv --check', 'csv-parse got lossless-json', 'csv planning queue realm report'],
  ['import more.csv --yes', 'csv-parse got lossless-json', 'csv planning queue realm report'],
  ['pause last', '', 'csv queue report rules'],
  ['member 1', 'got lossless-json', 'queue realm'],
  ['doctor', 'got lossless-json', 'queue realm'],
  ['desk token list', '', 'rules'],
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
  expect(beyondStore(await loadedBy(command, world.folder, world.env))).toEqual({ packages, folders });
});
