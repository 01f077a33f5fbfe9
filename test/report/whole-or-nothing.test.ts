import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import type { BatchRecord } from '../../src/ledger/views.js';
import { writeReport } from '../../src/report/write-report.js';
import { recordOf, rowOf, START } from '../support/batch-record.js';
import { checksums } from '../support/report-files.js';
import { tempFolder } from '../support/temp-folder.js';
import { lateVersion, soonVersion } from './two-versions.js';

const FILES = 9;
const now = START;

async function programOf(entry: string, folder: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: { ssr: entry, outDir: folder, rollupOptions: { output: { entryFileNames: 'program.mjs' } } },
  });
  return join(folder, 'program.mjs');
}

describe('report files appear whole or not at all', () => {
  test('a process killed between any two files leaves only whole files, old or new', async () => {
    const scratch = await tempFolder();
    const program = await programOf('test/report/doomed-writer.ts', join(scratch, 'program'));
    const soon = await writeReport(soonVersion(), { folder: join(scratch, 'soon'), now });
    const late = await writeReport(lateVersion(), { folder: join(scratch, 'late'), now });
    const old = await checksums(soon.folder);
    const fresh = await checksums(late.folder);
    const folder = join(scratch, 'reports');
    await mkdir(folder);
    const place = join(folder, soonVersion().batch.manifest.batch);
    const killAt = async (moment: 'staged' | 'replaced', count: number) => {
      const child = fork(program, [folder, 'late', moment, String(count)], { execArgv: [] });
      onTestFinished(() => void child.kill('SIGKILL'));
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    };

    await killAt('staged', 4);
    await expect(access(place), 'a first report is not seen before it is whole').rejects.toThrow();

    for (const count of [1, 7, 9]) {
      await writeReport(soonVersion(), { folder, now });
      await killAt('staged', count);
      expect(await checksums(place)).toEqual(old);
    }
    for (let count = 1; count < FILES; count += 1) {
      await writeReport(soonVersion(), { folder, now });
      await killAt('replaced', count);
      const found = await checksums(place);
      const replaced = Object.keys(found).filter((name) => found[name] === fresh[name]);
      expect(found).toEqual({ ...old, ...Object.fromEntries(replaced.map((name) => [name, fresh[name]])) });
      expect(replaced.length).toBeGreaterThanOrEqual(count);
    }

    await writeReport(lateVersion(), { folder, now });
    expect(await checksums(folder)).toEqual(await checksums(join(scratch, 'late')));
  });

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
