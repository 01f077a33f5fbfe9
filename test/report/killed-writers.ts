import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { expect, onTestFinished } from 'vitest';
import { writeReport } from '../../src/report/write-report.js';
import { START } from '../support/ledger/batch-record.js';
import { checksums } from '../support/program/report-files.js';
import { tempFolder } from '../support/temp-folder.js';
import { lateVersion, soonVersion } from './two-versions.js';

const now = START;

/** Kills a writer after so many files were staged, and after so many were replaced: only whole files may be left. */
export async function killedWriters(kills: {
  readonly staged: readonly number[];
  readonly replaced: readonly number[];
}): Promise<void> {
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

  for (const count of kills.staged) {
    await writeReport(soonVersion(), { folder, now });
    await killAt('staged', count);
    expect(await checksums(place)).toEqual(old);
  }
  for (const count of kills.replaced) {
    await writeReport(soonVersion(), { folder, now });
    await killAt('replaced', count);
    const found = await checksums(place);
    const replaced = Object.keys(found).filter((name) => found[name] === fresh[name]);
    expect(found).toEqual({ ...old, ...Object.fromEntries(replaced.map((name) => [name, fresh[name]])) });
    expect(replaced.length).toBeGreaterThanOrEqual(count);
  }

  await writeReport(lateVersion(), { folder, now });
  expect(await checksums(folder)).toEqual(await checksums(join(scratch, 'late')));
}

async function programOf(entry: string, folder: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: { ssr: entry, outDir: folder, rollupOptions: { output: { entryFileNames: 'program.mjs' } } },
  });
  return join(folder, 'program.mjs');
}
