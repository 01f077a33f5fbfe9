import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealmAndWorkers } from '../support/realm-and-workers.js';
import { uniqueRows } from '../support/unique-rows.js';
import { until } from '../support/until.js';

/**
 * A process is killed with a window's worth of requests under way, whose time-out is a minute. Whoever comes
 * next must not wait for it: the pace knows whose slots they were, and that nobody answers them any more.
 */
const ROWS = 90;
const TIMEOUT_MS = 60_000;
/** The window, 5 s, and more for a busy machine: still a third of the time-out. */
const GOES_ON_MS = 20_000;
let world: RealmAndWorkers;

beforeAll(async () => {
  world = await RealmAndWorkers.open({
    certainty: 'idempotent',
    members: uniqueRows(2 * ROWS).seeds,
    rate: '20/s',
    totalMs: TIMEOUT_MS,
    realmFaults: ['latency:1:1500'],
  });
});
afterAll(() => world.close());

/** Pays until every slot of a window is taken and not answered, kills, and lets arrive what was under way. */
async function killedInTheMiddle(worker: ReturnType<RealmAndWorkers['start']>): Promise<number> {
  const { scripts, keyPrefix } = world.ledger();
  await until(
    `a window full of requests: ${worker.stderr()}`,
    async () => (await scripts.redis.hlen(`${keyPrefix}:pace:o`)) >= 20,
  );
  worker.child.kill('SIGKILL');
  await worker.ended;
  return world.appliedWhenQuiet(2_000);
}

async function msUntilMore(than: number): Promise<number> {
  const startedAt = performance.now();
  await until('payments to go on', async () => (await world.appliedCount()) > than, TIMEOUT_MS + 30_000);
  return performance.now() - startedAt;
}

test('a run that is killed and started again goes on at once, not after the time-out of what it left', async () => {
  await world.file('run.csv', uniqueRows(ROWS).csv);
  const paid = await killedInTheMiddle(world.start(['run', 'run.csv', '--yes', '--json']));
  const again = world.start(['run', 'run.csv', '--yes', '--json']);
  expect(await msUntilMore(paid), again.stderr()).toBeLessThan(GOES_ON_MS);
  expect(await again.ended, again.stderr()).toBe(0);
  expect(JSON.parse(again.stdout()).counts).toEqual({ paid: ROWS });
});

test('the worker that comes after one that was killed does not wait for it either', async () => {
  const before = await world.appliedCount();
  await world.file('import.csv', uniqueRows(ROWS, ROWS).csv);
  const dying = world.start(['worker']);
  const imported = await world.run('import', 'import.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const paid = await killedInTheMiddle(dying);
  expect(paid).toBeGreaterThan(before);
  const next = world.start(['worker']);
  expect(await msUntilMore(paid), next.stderr()).toBeLessThan(GOES_ON_MS);
  await until('all to be paid', async () => (await world.appliedCount()) === before + ROWS, 60_000);
});
