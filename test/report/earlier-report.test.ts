import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepEarlierReport } from '../../src/report/earlier-report.js';
import { writeReport } from '../../src/report/write-report.js';
import { recordOf, rowOf, START } from '../support/ledger/batch-record.js';
import { tempFolder } from '../support/temp-folder.js';

const recordAt = (createdAt: number, over = {}) =>
  recordOf([rowOf('paid', 1)], { manifest: { createdAt, ...over } });

test('another run of the same batch id leaves the report of the earlier run as it is', async () => {
  const folder = await tempFolder();
  const first = await writeReport(recordAt(START), { folder, now: START });
  await writeFile(join(first.folder, 'mine.txt'), 'a note of the operator');
  const results = await readFile(join(first.folder, 'results.csv'), 'utf8');
  const second = await writeReport(recordAt(START + 60_000), { folder, now: START });
  expect(second.folder).toBe(first.folder);
  const kept = `${first.folder}@2026-03-01T09-00-00.000Z`;
  expect(await readFile(join(kept, 'results.csv'), 'utf8')).toBe(results);
  expect(await readFile(join(kept, 'mine.txt'), 'utf8')).toBe('a note of the operator');
  expect((await readdir(folder)).length).toBe(2);
});

test('the same run replaces its own report', async () => {
  const folder = await tempFolder();
  for (const now of [START, START + 1]) await writeReport(recordAt(START), { folder, now });
  expect((await readdir(folder)).length).toBe(1);
});

test('a batch of another realm under the same name, at the same moment, keeps both reports', async () => {
  const folder = await tempFolder();
  for (const realmId of ['one', 'two', 'one', 'two'])
    await writeReport(recordAt(START, { realmId }), { folder, now: START });
  expect((await readdir(folder)).length).toBe(4);
});

test('a folder without a summary is nobody’s report and stays', async () => {
  const root = await tempFolder();
  await keepEarlierReport(root, recordAt(START).batch.manifest);
  expect(await readdir(root)).toEqual([]);
});
