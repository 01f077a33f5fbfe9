import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { HOUR_MS, steppedClocks } from '../support/program/stepped-clocks.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/**
 * A worker's wall clock is set by an hour while its orders wait. They are few and wait for long, so that the clock is set
 * before twenty attempts have failed: a breaker that closes delivers everything again.
 */
const ROWS = 3;
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'idempotent',
      members: uniqueRows(ROWS * 2).seeds,
      profile: { attempts: { max: 100, backoffMs: 2000, backoffMaxMs: 2000 } },
      // A pace makes the ledger say when an order is due again.
      rate: '1000/s',
    }),
  );
});
afterAll(() => world.end());

const { worker, setClock, verdicts } = steppedClocks(() => world);

test.each([
  ['ahead', HOUR_MS, 0],
  ['back', 0, -HOUR_MS],
] as const)(
  'what was put off for a moment does not wait for an hour when the clock was %s',
  async (_, before, after) => {
    const first = before === 0 ? ROWS : 0;
    const ref = await world.imported(`put-off-${first}.csv`, uniqueRows(ROWS, first).csv);
    await setClock('lone', before);
    await world.realmNet.shut();
    const lone = worker('lone');
    // Every order that is tried is refused a connection, and put off.
    await until(
      `some to be put off: ${lone.stderr()}`,
      async () =>
        (await Promise.all([1, 2, 3].map((i) => readRecord(ref, i)))).every(
          ({ code, attempts }) => code === 'w' && attempts > 0,
        ),
      60_000,
    );
    await setClock('lone', after);
    await world.realmNet.reopen();
    await until(
      `the batch to be done: ${lone.stderr()}`,
      async () => (await readBatch(ref))?.state === 'done',
      60_000,
    );
    lone.child.kill('SIGTERM');
    expect(await lone.ended, lone.stderr()).toBe(0);
    const { wrong } = await verdicts(ref);
    expect(wrong).toEqual([]);
  },
  120_000,
);
