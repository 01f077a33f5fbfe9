import { afterAll, beforeAll, expect, test } from 'vitest';
import { beyondStore, loadedBy } from '../support/program/loaded-modules.js';
import { Program } from '../support/program/program.js';

/** Three commands of the table in loaded-modules.long.test.ts: the frame alone, a look at the store, a plan. */
let world: Program;
beforeAll(async () => {
  world = await Program.start();
  await world.file('rows.csv', 'member,tokens,reference\n1,5,a\n');
});
afterAll(() => world.end());

test('almoner --version loads the frame alone', async () => {
  expect(await loadedBy('--version', world.folder, world.env)).toEqual({
    packages: 'commander',
    folders: 'cli core runtime',
  });
});

test.each([
  ['status', '', 'csv queue report rules'],
  ['plan rows.csv', 'csv-parse', 'csv planning queue realm report'],
])('almoner %s loads the store and: %s', async (command, packages, folders) => {
  expect(beyondStore(await loadedBy(command, world.folder, world.env))).toEqual({ packages, folders });
});
