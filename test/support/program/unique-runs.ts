import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../until.js';
import { auditByContent } from './auditor.js';
import type { Program } from './program.js';
import { uniqueRows } from './unique-rows.js';

/** Runs of files with unique rows: a test interrupts a run in the middle, then checks the outcome. */
export function uniqueRuns(world: () => Program, rows: number) {
  let files = 0;
  return {
    /** Starts a run and returns once some of it is paid. */
    async begin() {
      const name = `file-${files}.csv`;
      await world().file(name, uniqueRows(rows, files * rows).csv);
      files += 1;
      const applied = () => world().appliedCount();
      const before = await applied();
      const run = world().start(['run', name, '--yes', '--json']);
      await until(`payments: ${run.stderr()}`, async () => (await applied()) >= before + 30, 60_000);
      return { run, name };
    },

    async expectAllPaid(stdout: string): Promise<void> {
      const { batch, counts } = JSON.parse(stdout);
      expect(counts).toEqual({ paid: rows });
      const reports = join(world().folder, 'reports');
      const verdicts = await auditByContent(await world().applied(), reports, String(batch));
      expect(verdicts).toEqual({ states: { paid: rows }, wrong: [] });
    },
  };
}
