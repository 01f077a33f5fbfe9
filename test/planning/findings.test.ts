import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Findings } from '../../src/planning/findings.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-findings-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const fault = (line: number, message = 'wrong, "very" wrong') =>
  ({ line, column: 'tokens', code: 'ALM_ROW_TOKENS_INVALID', message }) as const;

async function written(findings: Findings): Promise<string[][]> {
  const path = join(folder, 'faults.csv');
  findings.writeFaults(path);
  expect(await readdir(folder)).toEqual(['faults.csv']);
  return parse(await readFile(path, 'utf8'));
}

describe('findings', () => {
  it.each([0, 1, 1000, 1001, 5000])(
    'of %i faults count all, show fifty and write every one',
    async (count) => {
      const findings = new Findings();
      for (let line = 1; line <= count; line++) findings.fault(fault(line));
      expect(findings.faultCount).toBe(count);
      expect(findings.faults()).toHaveLength(Math.min(50, count));
      const [header, ...lines] = await written(findings);
      expect(header).toEqual(['line', 'column', 'code', 'message']);
      expect(lines.map((cells) => Number(cells[0]))).toEqual(
        Array.from({ length: count }, (_, index) => index + 1),
      );
      findings.fault(fault(count + 1));
      expect(await written(findings)).toHaveLength(count + 2);
      findings.close();
    },
  );

  it('leave nothing in the temporary folder, whatever ends the process', async () => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = folder;
    try {
      const findings = new Findings();
      for (let line = 1; line <= 5000; line++) findings.fault(fault(line));
      expect(await readdir(folder)).toEqual([]);
      expect(await written(findings)).toHaveLength(5001);
      findings.close();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });

  it('keep warnings apart', async () => {
    const findings = new Findings();
    findings.warning({ line: 0, column: null, code: 'ALM_PLAN_MEMBER_REPEATED', message: 'odd' });
    expect([findings.faultCount, findings.warningCount]).toEqual([0, 1]);
    expect(await written(findings)).toHaveLength(1);
  });

  it('do not hand a spreadsheet a formula', async () => {
    const findings = new Findings();
    findings.fault({ ...fault(2), column: '=cmd()' });
    expect((await written(findings))[1]?.[1]).toBe("'=cmd()");
  });
});
