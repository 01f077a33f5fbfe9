import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeFaultsFile } from '../../src/operations/pay/plan-file.js';
import { Findings } from '../../src/planning/findings.js';
import { writeRows } from '../../src/report/staging.js';
import { writeReport } from '../../src/report/write-report.js';
import { START } from '../support/ledger/batch-record.js';
import { tempFolder } from '../support/temp-folder.js';
import { lateVersion, soonVersion } from './two-versions.js';

/** Payments are private on a shared machine, whatever its umask is. */
let umask: number;
beforeEach(() => {
  umask = process.umask(0);
});
afterEach(() => {
  process.umask(umask);
});

const now = START;
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

async function modesIn(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true });
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await modeOf(join(folder, name))])),
  );
}

test('a report and every folder made for it are private', async () => {
  const root = join(await tempFolder(), 'some', 'reports');
  await writeReport(soonVersion(), { folder: root, now });
  await writeReport(soonVersion(), { folder: root, public: true, now });
  expect([await modeOf(join(root, '..')), await modeOf(root)]).toEqual(['700', '700']);
  const modes = await modesIn(root);
  expect(Object.keys(modes).length).toBeGreaterThan(10);
  for (const [name, mode] of Object.entries(modes))
    expect([name, mode]).toEqual([name, /\.[a-z]+$/.test(name) ? '600' : '700']);
});

test('a report that was open is closed when it is written again; a folder that others chose keeps its mode', async () => {
  const root = await tempFolder();
  await chmod(root, 0o755);
  const place = join(root, soonVersion().batch.manifest.batch);
  await mkdir(place, { mode: 0o755 });
  await writeFile(join(place, 'paid.csv'), 'old', { mode: 0o644 });
  await writeReport(lateVersion(), { folder: root, now });
  expect([await modeOf(root), await modeOf(place)]).toEqual(['755', '700']);
  expect(new Set(Object.values(await modesIn(place)))).toEqual(new Set(['600']));
});

test('so are a file that somebody asked for and the list of faults', async () => {
  const folder = await tempFolder();
  await writeRows(join(folder, 'undo.csv'), async (add) => {
    await add('x\n');
    return { rows: 1 };
  });
  expect(await modeOf(join(folder, 'undo.csv'))).toBe('600');

  for (const count of [60, 1200]) {
    const findings = new Findings();
    for (let line = 1; line <= count; line += 1)
      findings.fault({ line, column: 'tokens', code: 'ALM_PLAN_NOT_EXPECTED', message: 'x' });
    const reports = join(folder, `reports-${count}`);
    // What a killed process left, open to all, is not written into.
    await mkdir(join(reports), { mode: 0o700 });
    await writeFile(join(reports, 'in.csv.faults.csv.part'), 'old', { mode: 0o666 });
    const written = writeFaultsFile({ source: 'in.csv', findings }, reports) ?? '';
    expect(await modesIn(reports)).toEqual({ 'in.csv.faults.csv': '600' });
    expect((await stat(written)).size).toBeGreaterThan(count);
    findings.close();
  }
  const findings = new Findings();
  for (let line = 1; line <= 60; line += 1)
    findings.fault({ line, column: 'tokens', code: 'ALM_PLAN_NOT_EXPECTED', message: 'x' });
  writeFaultsFile({ source: 'in.csv', findings }, join(folder, 'made'));
  expect(await modeOf(join(folder, 'made'))).toBe('700');
});
