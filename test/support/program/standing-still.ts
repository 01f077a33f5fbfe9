import { expect } from 'vitest';
import { findBatch, readBatch } from '../../../src/ledger/read/batches.js';
import { until } from '../until.js';
import { onBadNetwork, Program, type ProgramOptions } from './program.js';
import { uniqueRows } from './unique-rows.js';

/** A file with orders that real processes leave waiting, and the reasons that `status` reports for them. */
export async function openStandingStill(rows: number, more: Partial<ProgramOptions>) {
  const world = await Program.start(
    onBadNetwork({ certainty: 'manual', members: uniqueRows(rows).seeds, ...more }),
  );
  await world.file('pay.csv', uniqueRows(rows).csv);
  return {
    world,

    async status() {
      const ran = await world.run('status', 'last', '--json');
      expect(ran.status, ran.stderr).toBe(0);
      return JSON.parse(ran.stdout);
    },

    sendingNow: (count: number, stderr: () => string) =>
      until(
        `${count} orders being sent: ${stderr()}`,
        async () => {
          const ref = await findBatch(world.ledger().scripts, 'last').catch(() => undefined);
          return ref !== undefined && ((await readBatch(ref))?.counts.sending ?? 0) >= count;
        },
        60_000,
      ),
  };
}
