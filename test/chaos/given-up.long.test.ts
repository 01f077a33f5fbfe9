import { rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { isStopped } from '../support/is-stopped.js';
import { MAIN } from '../support/program/almoner.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/**
 * A worker of another machine falls silent just before its first byte leaves, is given up, and wakes. The realm
 * honours no key: a request that it still sent would show.
 */
const ROWS = 24;
const FRESH_MS = 10_000;
const PRELOAD = fileURLToPath(new URL('../support/fail-point-preload.mjs', import.meta.url));
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({ certainty: 'manual', members: uniqueRows(ROWS).seeds, rate: '200/s' }),
  );
});
afterAll(() => world.end());

/** As if it ran on another machine: its folder is not here, and its kernel is another one. */
async function takeAway({ scripts: { redis }, keyPrefix }: RealmLedger): Promise<void> {
  await rename(join(world.folder, 'lost'), join(world.folder, 'out-of-reach'));
  for (const [id, entry] of Object.entries(await redis.hgetall(`${keyPrefix}:sessions`)))
    await redis.hset(`${keyPrefix}:sessions`, id, JSON.stringify({ ...JSON.parse(entry), boot: 'another' }));
}

test('exactly the orders it was sending become doubts; once awake it sends nothing, says why and ends', async () => {
  await world.file('pay.csv', uniqueRows(ROWS).csv);
  const imported = await world.run('import', 'pay.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const ref = await findBatch(world.ledger().scripts, String(JSON.parse(imported.stdout).batch));
  const points = resolve(dirname(MAIN), '../core/fail-point.js');
  const lost = world.start(
    ['worker', '--concurrency', '1'],
    { ...world.envOf('lost'), FAIL_AT: 'intent-written:SIGSTOP:3', FAIL_POINTS: points },
    ['--import', PRELOAD],
  );
  await until(`the worker to freeze: ${lost.stderr()}`, () => isStopped(lost.child.pid), 60_000);
  const frozenAt = performance.now();
  await takeAway(world.ledger());

  const other = world.start(['worker', '--concurrency', '4']);
  await until(
    `all others to be paid: ${other.stderr()}`,
    async () => (await readBatch(ref))?.counts.paid === ROWS - 1,
    60_000,
  );
  expect((await readBatch(ref))?.counts).toEqual({ paid: ROWS - 1, sending: 1 });
  const looked = JSON.parse((await world.run('recover', '--json')).stdout);
  const loss = looked.realms[0].losses[0];
  expect(loss).toMatchObject({ exact: true, orders: 1 });

  const accepted = await world.run('recover', '--accept-missing', loss.session, '--json');
  expect(accepted.status, accepted.stderr).toBe(0);
  expect(JSON.parse(accepted.stdout)).toMatchObject({
    accepted: { exact: true, orders: 1, tokens: loss.tokens },
  });
  await until('the batch to be done', async () => (await readBatch(ref))?.state === 'done', 30_000);
  expect((await readBatch(ref))?.counts).toEqual({ paid: ROWS - 1, doubt: 1 });

  await until('it to have slept for long', () => performance.now() - frozenAt > FRESH_MS + 500, 30_000);
  lost.child.kill('SIGCONT');
  expect(await lost.ended, lost.stderr()).toBe(1);
  expect(lost.stdout() + lost.stderr()).toContain('ALM_LEDGER_GIVEN_UP');
  expect(await world.appliedWhenQuiet()).toBe(ROWS - 1);
  expect((await readBatch(ref))?.counts).toEqual({ paid: ROWS - 1, doubt: 1 });
}, 120_000);
