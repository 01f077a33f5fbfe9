import { describe, expect, test } from 'vitest';
import { workersAtWork } from '../../../src/ledger/read/signs.js';
import { batchStatus } from '../../../src/operations/batches/batch-status.js';
import { waitingOf } from '../../../src/operations/batches/waiting.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { begun } from '../../support/ledger/order-moves.js';
import { NO_PROFILES } from '../../support/ledger/realm-profile.js';
import { beat, moving, reasons, standingOrders, sumOf } from '../../support/ledger/standing-orders.js';

/** Orders in the hands of a process that is missing, dead or frozen. */
const bench = ledgersOnRedis();
const { session, elsewhere, running, by } = standingOrders(bench);

describe('what a session was sending', () => {
  test('lost with its machine: named within a minute, with exactly its orders; heard again, it is not', async () => {
    const batch = await running(5);
    const lost = await elsewhere(batch.ledger, 10_000);
    await begun(batch, 1, by(batch));
    for (const index of [2, 4]) await begun(batch, index, { session: lost });
    expect(await reasons(batch)).toEqual([]);
    await beat(batch.ledger, lost, 50_000);
    const [missing, ...more] = await waitingOf(batch.ref, NO_PROFILES);
    expect(more).toEqual([]);
    expect(missing).toMatchObject({
      why: 'missing-session',
      orders: 2,
      tokens: sumOf(2, 4),
      until: null,
      next: 'almoner recover',
    });
    expect(missing?.message).toContain('machine far');
    expect(await moving(batch)).toEqual([1, 3, 5]);
    expect((await batchStatus(batch.ref, NO_PROFILES)).etaSeconds).toBeNull();
    await beat(batch.ledger, lost);
    expect(await reasons(batch)).toEqual([]);
  });

  test('never heard of since it was registered, it counts from then', async () => {
    const batch = await running(1);
    const lost = await elsewhere(batch.ledger, 0);
    await begun(batch, 1, { session: lost });
    const { scripts, keyPrefix } = batch.ledger;
    await scripts.redis.hdel(`${keyPrefix}:seen`, lost);
    expect(await reasons(batch)).toEqual([]);
    const entry = JSON.parse((await scripts.redis.hget(`${keyPrefix}:sessions`, lost)) ?? '');
    const old = { ...entry, startedAt: Date.now() - 60_000 };
    await scripts.redis.hset(`${keyPrefix}:sessions`, lost, JSON.stringify(old));
    expect(await reasons(batch)).toMatchObject([{ why: 'missing-session', orders: 1 }]);
  });

  test('dead and not taken over, or frozen', async () => {
    const batch = await running(3);
    const dead = await session(batch.ledger);
    await begun(batch, 1, { session: dead.id });
    await dead.close();
    expect(await reasons(batch)).toMatchObject([
      { why: 'dead-session', orders: 1, tokens: sumOf(1), next: 'almoner worker' },
    ]);
    const frozen = await session(batch.ledger);
    await begun(batch, 2, { session: frozen.id });
    await beat(batch.ledger, frozen.id, 60_000);
    expect(await reasons(batch)).toMatchObject([
      { why: 'dead-session' },
      {
        why: 'frozen-session',
        orders: 1,
        tokens: sumOf(2),
        next: `kill -CONT ${process.pid}`,
      },
    ]);
    expect(await moving(batch)).toEqual([3]);
  });
});

test('a worker that is silent, dead or of another kind is not counted among those that run', async () => {
  const ledger = await bench.ledger();
  const here = await session(ledger);
  await session(ledger, 'run');
  const far = await elsewhere(ledger, 30_000);
  expect((await workersAtWork(ledger)).toSorted()).toEqual([here.id, far].toSorted());
  await beat(ledger, far, 50_000);
  expect(await workersAtWork(ledger)).toEqual([here.id]);
  await here.close();
  expect(await workersAtWork(ledger)).toEqual([]);
});
