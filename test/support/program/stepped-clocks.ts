import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BatchRef } from '../../../src/ledger/realm-ledger.js';
import { auditByContent } from './auditor.js';
import type { Program } from './program.js';

/** Workers with wall clocks that a test sets while they send. Their monotonic clocks stay right. */
const PRELOAD = fileURLToPath(new URL('../stepped-clock-preload.mjs', import.meta.url));
export const HOUR_MS = 3_600_000;

export function steppedClocks(world: () => Program) {
  const fileOf = (name: string) => join(world().folder, `${name}.clock`);
  return {
    worker: (name: string) =>
      world().start(['worker', '--concurrency', '4'], { CLOCK_FILE: fileOf(name) }, ['--import', PRELOAD]),

    async setClock(name: string, offsetMs: number): Promise<void> {
      const path = fileOf(name);
      await writeFile(`${path}.new`, String(offsetMs));
      await rename(`${path}.new`, path);
    },

    /** Compares the report's state of each order with the realm's records. */
    async verdicts({ id }: BatchRef) {
      await world().run('report', id, '--json');
      return auditByContent(await world().applied(), join(world().folder, 'reports'), id);
    },
  };
}
