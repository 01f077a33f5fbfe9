import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { parseFaults } from '../../src/realm/server/faults.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** The same file is run twice at once: one pays, the other watches, and each order is paid once. */
const ROWS = 40;
const { csv, seeds } = uniqueRows(ROWS);
const RUN = ['run', 'pay.csv', '--yes', '--json'];

const refs = (changes: readonly { readonly idempotencyKey: string | null }[]) =>
  changes.map(({ idempotencyKey }) => idempotencyKey);

describe('on a store that was just started', () => {
  test('the embedded one: both end well', async () => {
    const world: Program = await Program.start({
      members: seeds,
      store: 'embedded',
      faults: parseFaults(['latency:1:40']),
    });
    try {
      await world.file('pay.csv', csv);
      // A past that the store must be recovered from; the server ends with its last command.
      const first = await world.run(...RUN, '--first', '5');
      expect(first.stdout, first.stderr).toContain('"paid":5');
      const runs = [world.start(RUN), world.start(RUN)];
      for (const run of runs) expect(await run.ended, run.stdout() + run.stderr()).toBe(0);
      for (const run of runs) expect(JSON.parse(run.stdout())).toMatchObject({ counts: { paid: ROWS } });
      const applied = await world.applied();
      expect(applied).toHaveLength(ROWS);
      expect(new Set(refs(applied)).size).toBe(ROWS);
    } finally {
      await world.end();
    }
  }, 120_000);

  let world: Program;
  beforeAll(async () => {
    world = await Program.start(
      onBadNetwork({
        certainty: 'idempotent',
        members: seeds,
        faults: ['latency:1:60'],
        rate: '60/s',
      }),
    );
  });
  afterAll(() => world.end());

  test('the one that watches takes over when the one that pays is killed', async () => {
    const many = Array.from({ length: ROWS }, (_, i) => `${seeds[i % ROWS]?.member},1,again-${i}`);
    await world.file('more.csv', ['member,tokens,reference', ...many, ''].join('\n'));
    const before = await world.appliedCount();
    const run = ['run', 'more.csv', '--yes', '--json'];
    const first = world.start(run);
    await until(`payments: ${first.stderr()}`, async () => (await world.appliedCount()) > before + 2, 60_000);
    // No answer comes back, so that the first is not through before the second looks on.
    world.realmNet.mode = 'lose-answers';
    const second = world.start(run);
    await until(
      'the second to look on',
      () => Promise.resolve(second.stderr().includes(`/${many.length} `)),
      60_000,
    );
    // It begins nothing, so it has left the registry: nobody may have to wait for its journal.
    expect(await listSessions(world.ledger())).toHaveLength(1);
    expect(first.child.exitCode).toBe(null);
    first.child.kill('SIGKILL');
    world.realmNet.heal();
    expect(await second.ended, second.stderr()).toBe(0);
    const applied = (await world.applied()).slice(before);
    expect(applied).toHaveLength(many.length);
    expect(new Set(refs(applied)).size).toBe(many.length);
  }, 120_000);
});
