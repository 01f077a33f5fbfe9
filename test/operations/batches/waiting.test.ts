import { describe, expect, test } from 'vitest';
import { readBatch } from '../../../src/ledger/index.js';
import { batchKeys } from '../../../src/ledger/keys.js';
import { askProbe, cancelBatch, haltRealm, pauseBatch } from '../../../src/ledger/moves/steer.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import { sayDisarmed } from '../../../src/ledger/sessions/fence.js';
import { batchStatus } from '../../../src/operations/batches/batch-status.js';
import { WaitingOfMany, waitingOf } from '../../../src/operations/batches/waiting.js';
import { load } from '../../runtime/config/load-config.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begun, claimFor, held, sendAs, settleAs, WHY } from '../../support/ledger/order-moves.js';
import { NO_PROFILES, testProfile } from '../../support/ledger/realm-profile.js';
import { moving, reasons, rows, standingOrders, sumOf } from '../../support/ledger/standing-orders.js';
import { until } from '../../support/until.js';

/** Every cause for which orders stand still, on a real ledger: named with exactly its orders and their tokens. */
const bench = ledgersOnRedis();
const { session, working, running, workerOf, by } = standingOrders(bench);
const secondsTo = (time: string | null | undefined) => (Date.parse(time ?? '') - Date.now()) / 1000;

describe('nothing is named', () => {
  test('while a living worker sends and is fed', async () => {
    const batch = await running(6);
    await begun(batch, 1, by(batch));
    await sendAs(batch, 2, 'P', by(batch));
    expect(await reasons(batch)).toEqual([]);
    expect(await moving(batch)).toEqual([1, 3, 4, 5, 6]);
  });
});

describe('the whole batch', () => {
  test('no worker: never there, gone in order, or a run’s process that is dead', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, rows(3));
    const all = { orders: 3, tokens: sumOf(1, 2, 3) };
    expect(await reasons(batch)).toEqual([{ ...all, why: 'no-worker', next: 'almoner worker' }]);
    const worker = await session(ledger);
    expect(await reasons(batch)).toEqual([]);
    await worker.deregister(ledger);
    const [gone] = await waitingOf(batch.ref, NO_PROFILES);
    expect(gone).toMatchObject({ ...all, why: 'no-worker', until: null });
    expect(secondsTo(gone?.since)).toBeGreaterThan(-30);

    const runner = await session(ledger, 'run');
    const run = await sealed(ledger, rows(2), { id: 'a-run', owner: runner.id });
    expect(await reasons(run)).toEqual([]);
    await runner.close();
    expect(await reasons(run)).toMatchObject([{ why: 'no-worker', next: 'almoner resume a-run' }]);
    expect(await batchStatus(run.ref, NO_PROFILES)).toMatchObject({ state: 'paused', etaSeconds: null });
    expect(await moving(run)).toEqual([]);
  });

  test('an unknown of a cancelled batch, and nobody there to resolve it', async () => {
    const batch = await running(3, { manifest: { certainty: 'idempotent' } });
    await sendAs(batch, 2, 'u', by(batch));
    await cancelBatch(batch.ref, audit('cancelled'));
    expect(await reasons(batch)).toMatchObject([{ why: 'settle-time', orders: 1 }]);
    await workerOf(batch)?.deregister(batch.ledger);
    expect(await reasons(batch)).toMatchObject([{ why: 'no-worker', orders: 1, tokens: sumOf(2) }]);
  });

  test('paused and halted: since then, with the command', async () => {
    const batch = await running(4);
    await sendAs(batch, 1, 'P', by(batch));
    const sent = await begun(batch, 2, by(batch));
    await pauseBatch(batch.ref, WHY, audit('paused'));
    const [paused, ...more] = await waitingOf(batch.ref, NO_PROFILES);
    expect(more).toEqual([]);
    expect(paused).toMatchObject({ why: 'paused', orders: 2, message: WHY.message, until: null });
    expect(secondsTo(paused?.since)).toBeGreaterThan(-30);
    // What is being sent finishes.
    expect(await moving(batch)).toEqual([2]);
    await settleAs(batch, 2, 'P', sent);

    const other = await running(2);
    await haltRealm(other.ledger, { ...WHY, code: 'ALM_KEY_REFUSED' });
    const [halted] = await waitingOf(other.ref, NO_PROFILES);
    expect(halted).toMatchObject({ why: 'halted', orders: 2, next: `almoner resume ${other.ref.id}` });
    expect(secondsTo(halted?.since)).toBeGreaterThan(-30);
  });

  test('confirmed for another address than the profile has now: that, and not that no worker runs', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, rows(2));
    const { realmId } = ledger.realm;
    const edited = { profiles: [testProfile({ name: 'meadow', baseUrl: 'http://127.0.0.1:2', realmId })] };
    const config = { ...(await load({})), ...edited };
    expect(await batchStatus(batch.ref, config)).toMatchObject({
      state: 'halted',
      reason: { code: 'ALM_BATCH_TERMS_CHANGED' },
      waiting: [{ why: 'halted', orders: 2, message: expect.stringContaining('127.0.0.1:2') }],
    });
    // A worker of the books has the profile that fits.
    await session(ledger);
    expect(await batchStatus(batch.ref, config)).toMatchObject({ state: 'planned', waiting: [] });
  });

  test('a store that was restarted: with its reason where a person must act, and without while it is mended', async () => {
    const batch = await running(2);
    await sendAs(batch, 1, 'P', by(batch));
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'armed', 'another-server');
    expect((await readFence(batch.ledger)).armed).toBe(false);
    expect(await reasons(batch)).toMatchObject([{ why: 'disarmed', orders: 1, next: null }]);
    await sayDisarmed(batch.ledger, { ...WHY, code: 'ALM_LEDGER_DISARMED' });
    expect(await reasons(batch)).toMatchObject([{ why: 'disarmed', orders: 1, next: 'almoner recover' }]);
  });

  test('an open breaker: since when, and when it gives up; a person need do nothing', async () => {
    const batch = await running(3, { manifest: { certainty: 'idempotent' } });
    await sendAs(batch, 1, 'u', by(batch));
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'breaker', Date.now() - 60_000);
    await askProbe(batch.ledger, 1_000, 900_000, WHY);
    const [open, ...more] = await waitingOf(batch.ref, NO_PROFILES);
    expect(more).toEqual([]);
    expect(open).toMatchObject({ why: 'breaker', orders: 3, tokens: sumOf(1, 2, 3), next: null });
    expect(secondsTo(open?.until)).toBeGreaterThan(800);
    expect((await batchStatus(batch.ref, NO_PROFILES)).etaSeconds).toBeNull();
  });
});

describe('asked again and again', () => {
  test('the same batches get the very same answer until the realm stands otherwise', async () => {
    const ledger = await bench.ledger();
    const { ref } = await sealed(ledger, rows(3));
    const view = await readBatch(ref);
    if (view === undefined) throw new Error('no batch');
    const batches = [{ ref, view }];
    const waiting = new WaitingOfMany(NO_PROFILES);
    const whys = async () => (await waiting.of(batches)).map((causes) => causes.map(({ why }) => why));
    const first = await waiting.of(batches);
    expect(await whys()).toEqual([['no-worker']]);
    expect(await waiting.of(batches)).toBe(first);
    // The view is the one of before: only the realm knows of the worker.
    const worker = await session(ledger);
    expect(await whys()).toEqual([[]]);
    await worker.deregister(ledger);
    expect(await whys()).toEqual([['no-worker']]);
  });

  test('an answer ends with the first cause that passes by itself', async () => {
    const { ref } = await running(2);
    const { scripts, keyPrefix } = ref.ledger;
    await scripts.redis.hset(`${keyPrefix}:pace`, 'hold', Date.now() + 1_500, 'holdMs', 90_000);
    const view = await readBatch(ref);
    if (view === undefined) throw new Error('no batch');
    const batches = [{ ref, view }];
    const waiting = new WaitingOfMany(NO_PROFILES);
    expect(await waiting.of(batches)).toMatchObject([[{ why: 'hold' }]]);
    await until('the end of the hold', async () => (await waiting.of(batches))[0]?.length === 0, 8_000);
  });
});

describe('some of it', () => {
  test('a realm that asked to wait', async () => {
    const batch = await running(3);
    const { scripts, keyPrefix } = batch.ledger;
    await scripts.redis.hset(`${keyPrefix}:pace`, 'hold', Date.now() + 60_000, 'holdMs', 90_000);
    const [hold] = await waitingOf(batch.ref, NO_PROFILES);
    expect(hold).toMatchObject({ why: 'hold', orders: 3, next: null });
    expect(secondsTo(hold?.until)).toBeGreaterThan(50);
    // To its end, and half a second is no standstill.
    await scripts.redis.hset(`${keyPrefix}:pace`, 'hold', Date.now() + 800);
    expect(await reasons(batch)).toMatchObject([{ why: 'hold' }]);
    await scripts.redis.hset(`${keyPrefix}:pace`, 'hold', Date.now() + 450, 'holdMs', 500);
    expect(await reasons(batch)).toEqual([]);
  });

  test('unknowns until their resend, planned ones until their next attempt, and the rest moves', async () => {
    const batch = await running(6, { manifest: { certainty: 'idempotent' } });
    await sendAs(batch, 1, 'u', { ...by(batch), dueInMs: 40_000 });
    await sendAs(batch, 2, 'w', { ...by(batch), dueInMs: 20_000 });
    await sendAs(batch, 3, 'w', { ...by(batch), dueInMs: 1_000 });
    await sendAs(batch, 4, 'D', by(batch));
    const list = await waitingOf(batch.ref, NO_PROFILES);
    expect(list.map(({ why, tokens }) => [why, tokens])).toEqual([
      ['settle-time', sumOf(1)],
      ['retry', sumOf(2)],
      ['doubt', sumOf(4)],
    ]);
    expect(secondsTo(list[0]?.until)).toBeGreaterThan(30);
    expect(secondsTo(list[1]?.until)).toBeGreaterThan(10);
    expect(list[2]?.next).toBe(`almoner doubt list --batch ${batch.ref.id}`);
    expect(await moving(batch)).toEqual([3, 5, 6]);
  });

  test('an unknown that ends while it is looked at fails no look', async () => {
    const batch = await running(2, { manifest: { certainty: 'idempotent' } });
    await sendAs(batch, 1, 'u', { ...by(batch), dueInMs: 40_000 });
    // Counted a moment ago, and not in the list any more.
    await batch.ledger.scripts.redis.del(batchKeys(batch.ledger.keyPrefix, batch.no).attention);
    expect((await waitingOf(batch.ref, NO_PROFILES)).map(({ why }) => why)).toEqual(['settle-time']);
  });

  test('read-back: the settle time of an unknown, and whoever waits for its member', async () => {
    const ledger = await bench.ledger();
    const manifest = { certainty: 'readback' } as const;
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'settleMs', 1_200_000);
    const lines = rows(5).map((line, i) => ({ ...line, member: i === 3 ? '999' : '77' }));
    const batch = await working(ledger, lines, { manifest });
    const hold = await held(batch, 1);
    const of = await begun(batch, 1, { ...by(batch), hold });
    for (const index of [2, 3]) expect(await claimFor(batch, index)).toEqual({ refusal: 'member-held' });
    // Behind an order that is being sent they only queue.
    expect(await moving(batch)).toEqual([1, 2, 3, 4, 5]);
    await settleAs(batch, 1, 'u', of);
    const list = await waitingOf(batch.ref, NO_PROFILES);
    expect(list.map(({ why, tokens }) => [why, tokens])).toEqual([
      ['settle-time', sumOf(1)],
      ['member-held', sumOf(2, 3)],
    ]);
    for (const { until } of list) expect(secondsTo(until)).toBeGreaterThan(1_100);
    expect(list[1]?.message).toContain(`${batch.ref.id}-1`);
    expect(await moving(batch)).toEqual([4, 5]);
    expect((await batchStatus(batch.ref, NO_PROFILES)).etaSeconds ?? 9_999).toBeGreaterThan(1_100);
  });

  test('strictly one after the other, behind one that is unknown', async () => {
    const batch = await running(3, { manifest: { certainty: 'idempotent', inOrder: true } });
    await sendAs(batch, 1, 'u', { ...by(batch), dueInMs: 30_000 });
    expect(await reasons(batch)).toMatchObject([
      { why: 'settle-time', orders: 1 },
      { why: 'in-order', orders: 2, tokens: sumOf(2, 3) },
    ]);
  });
});

test('a large batch is told of by its counters: no row is read that was not dispatched', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(
    ledger,
    Array.from({ length: 600 }, () => ({})),
  );
  const keys = batchKeys(ledger.keyPrefix, batch.no);
  for (let block = 0; block < 3; block++) await ledger.scripts.redis.del(keys.plan(block));
  expect(await reasons(batch)).toMatchObject([{ why: 'no-worker', orders: 600, tokens: '3000' }]);
});
