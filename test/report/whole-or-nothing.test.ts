import { access, chmod, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import type { BatchRecord } from '../../src/ledger/views.js';
import { writeReport } from '../../src/report/write-report.js';
import { recordOf, rowOf, START } from '../support/ledger/batch-record.js';
import { checksums } from '../support/program/report-files.js';
import { tempFolder } from '../support/temp-folder.js';
import { killedWriters } from './killed-writers.js';
import { lateVersion, soonVersion } from './two-versions.js';

const now = START;

describe('report files appear whole or not at all', () => {
  test('a process killed in the middle leaves only whole files, old or new', () =>
    killedWriters({ staged: [9], replaced: [1, 8] }));

  test('a failure while rows are read leaves what stood before, and nothing else', async () => {
    const folder = await tempFolder();
    await writeReport(recordOf([rowOf('paid', 1)]), { folder, now });
    const before = await checksums(folder);
    const broken: BatchRecord = {
      ...recordOf([rowOf('paid', 1), rowOf('paid', 2)]),
      rows: {
        async *[Symbol.asyncIterator]() {
          yield rowOf('paid', 1);
          throw new Error('the store went away');
        },
      },
    };
    await expect(writeReport(broken, { folder, now })).rejects.toThrow('the store went away');
    expect(await checksums(folder)).toEqual(before);
    expect(await readdir(folder)).toHaveLength(1);
  });

  test('two writers of one report at once leave a whole one', async () => {
    const folder = await tempFolder();
    await Promise.all([1, 2, 3].map(() => writeReport(soonVersion(), { folder, now })));
    const alone = await writeReport(soonVersion(), { folder: await tempFolder(), now });
    expect(await checksums(join(folder, soonVersion().batch.manifest.batch))).toEqual(
      await checksums(alone.folder),
    );
    expect(await readdir(folder)).toHaveLength(1);
  });

  test('files that a person put beside the report stay', async () => {
    const root = await tempFolder();
    const { folder } = await writeReport(soonVersion(), { folder: root, now });
    await writeFile(join(folder, 'notes.txt'), 'mine');
    await writeReport(lateVersion(), { folder: root, now });
    expect(await readdir(folder)).toContain('notes.txt');
  });

  test('a link in the place of the folder or of a file is refused, and nothing is written through it', async () => {
    const record = soonVersion();
    const [root, elsewhere] = [await tempFolder(), await tempFolder()];
    const place = join(root, record.batch.manifest.batch);
    await symlink(elsewhere, place);
    await expect(writeReport(record, { folder: root, now })).rejects.toMatchObject({
      code: 'ALM_BATCH_REPORT_FOLDER',
    });
    expect(await readdir(elsewhere)).toEqual([]);

    await rename(place, join(root, 'moved-away'));
    await mkdir(place);
    await symlink(join(elsewhere, 'target.csv'), join(place, 'paid.csv'));
    await expect(writeReport(record, { folder: root, now })).rejects.toMatchObject({
      code: 'ALM_BATCH_REPORT_FOLDER',
    });
    expect(await readdir(elsewhere)).toEqual([]);
    expect(await readdir(place)).toEqual(['paid.csv']);
  });

  test('a batch id that would leave the reports folder is refused', async () => {
    const folder = join(await tempFolder(), 'reports');
    const escaping = JSON.parse('"../../outside"');
    const record = recordOf([], { manifest: { batch: escaping } });
    await expect(writeReport(record, { folder, now })).rejects.toMatchObject({
      code: 'ALM_BATCH_REPORT_FOLDER',
    });
    await expect(access(folder)).rejects.toThrow();
  });

  test('a folder that cannot be written says what to do', async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, 'file'), '');
    await chmod(join(folder, 'file'), 0o600);
    await expect(
      writeReport(recordOf([]), { folder: join(folder, 'file', 'reports'), now }),
    ).rejects.toMatchObject({
      code: 'ALM_BATCH_REPORT_NOT_WRITTEN',
    });
  });

  test('what a killed process left is removed; what a living one makes is not', async () => {
    const folder = await tempFolder();
    const batch = batchId('spring-airdrop');
    const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-');
    const dead = `.${batch}@${host}@999999999@aa.partial`;
    const alive = `.${batch}@${host}@${process.pid}@bb.partial`;
    const foreign = `.${batch}@another-host@1@cc.partial`;
    for (const name of [dead, alive, foreign]) await mkdir(join(folder, name));
    await writeReport(recordOf([]), { folder, now: Date.now() });
    expect((await readdir(folder)).sort()).toEqual([foreign, alive, batch].sort());
    await writeReport(recordOf([]), { folder, now: Date.now() + 2 * 86_400_000 });
    expect((await readdir(folder)).sort()).toEqual([alive, batch].sort());
  });
});
