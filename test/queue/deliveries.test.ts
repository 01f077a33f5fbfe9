import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { expect, onTestFinished, test } from 'vitest';
import { LONGEST_PAUSE_MS } from '../../src/core/decide.js';
import { WORKERS } from '../../src/ledger/moves/feed.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { Feeder, feedWindow } from '../../src/queue/feed.js';
import { addOrders, type OrderJob, openQueue, ordersOf } from '../../src/queue/queues.js';
import { Sweeper } from '../../src/queue/sweep.js';
import { approveBatch } from '../support/ledger/approve-batch.js';
import { ledgersOnRedis, limitedTo, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { begin, begun, feedAll, settleAs } from '../support/ledger/order-moves.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();
const OPEN = { mine: WORKERS, mayFeed: () => Promise.resolve(true), isQuiet: () => false };

function queueOf(ledger: RealmLedger) {
  const queue = openQueue<OrderJob>(ledger, 'orders', bench.redis().client());
  onTestFinished(() => queue.close());
  return queue;
}

/** A job may come this much later than its order was marked as due. */
const LATE_MS = 1_100;
const firstOf = (job: OrderJob) => ordersOf(job)[0]?.index ?? 0;

function some(count: number) {
  return Array.from({ length: count }, () => ({}));
}

test('without a pace a job carries several orders, but a few orders are a job each', async () => {
  const ledger = await bench.ledger();
  const queue = queueOf(ledger);
  const feeder = new Feeder({
    ...OPEN,
    ledger,
    queue,
    window: feedWindow({ profile: testProfile({ rate: null, certainty: 'idempotent' }), concurrency: 64 }),
  });
  const large = await sealed(ledger, some(300), { id: 'large' });
  expect(await feeder.tick()).toBe(300);
  const jobs = await queue.getWaiting();
  expect(Math.max(...jobs.map(({ data }) => ordersOf(data).length))).toBe(4);
  const carried = jobs.flatMap(({ data }) => ordersOf(data).map(({ index }) => index));
  expect(carried.sort((a, b) => a - b)).toEqual(large.rows.map((_, i) => i + 1));

  await queue.obliterate({ force: true });
  await sealed(ledger, some(20), { id: 'small' });
  expect(await feeder.tick()).toBe(20);
  expect(await queue.getWaitingCount()).toBe(20);
});

test('batches of one row share jobs, and the sweeper finds them inside', async () => {
  const ledger = await bench.ledger();
  const queue = queueOf(ledger);
  const feeder = new Feeder({
    ...OPEN,
    ledger,
    queue,
    window: { orders: 100, refillAt: 1, inAJob: () => 8 },
  });
  const sweeper = new Sweeper(ledger, queue, WORKERS);
  const batches: TestBatch[] = [];
  for (let i = 0; i < 20; i++) batches.push(await sealed(ledger, [{}], { id: `single-${i}` }));
  expect(await feeder.tick()).toBe(20);
  expect(await feeder.tick()).toBe(0);
  const jobs = await queue.getWaiting();
  expect(jobs.map(({ data }) => ordersOf(data).length).sort()).toEqual([4, 8, 8]);
  const carried = jobs.flatMap(({ data }) => ordersOf(data).map(({ no }) => no));
  expect(new Set(carried)).toEqual(new Set(batches.map(({ no }) => no)));
  await sleep(LATE_MS);
  expect(await sweeper.tick()).toBe(0);
  const [lost] = jobs.filter(({ data }) => ordersOf(data).length === 4);
  await lost?.remove();
  expect(await sweeper.tick()).toBe(4);
  expect(await sweeper.tick()).toBe(0);
});

test('with more batches than room, the batches that waited longest are fed first', async () => {
  const ledger = await bench.ledger();
  const queue = queueOf(ledger);
  const feeder = new Feeder({ ...OPEN, ledger, queue, window: { orders: 4, refillAt: 1, inAJob: () => 1 } });
  const batches: TestBatch[] = [];
  for (let i = 0; i < 6; i++) batches.push(await sealed(ledger, some(3), { id: `turn-${i}` }));
  const fed: string[] = [];
  for (let round = 0; round < 2; round++) {
    expect(await feeder.tick()).toBe(4);
    for (const { data } of await queue.getWaiting())
      for (const { no, index } of ordersOf(data)) {
        const batch = batches.find((one) => one.no === no);
        if (batch === undefined) continue;
        fed.push(no);
        await settleAs(batch, index, 'P', await begun(batch, index));
      }
    await queue.obliterate({ force: true });
  }
  const turns = (batch: TestBatch) => fed.filter((no) => no === batch.no).length;
  expect(batches.map(turns)).toEqual([2, 2, 1, 1, 1, 1]);
});

test('a batch that may not begin is not checked at every look, and is fed once a person approves it', async () => {
  const limits = { overTokens: 1, overRows: null };
  const ledger = limitedTo(await bench.ledger(), limits);
  const queue = queueOf(ledger);
  const asked: string[] = [];
  const mayFeed = (no: string) => Promise.resolve(asked.push(no) > 0);
  const feeder = new Feeder({
    ...OPEN,
    ledger,
    queue,
    window: { orders: 9, refillAt: 1, inAJob: () => 1 },
    mayFeed,
  });
  const batch = await sealed(ledger, some(1), { prepared: { who: 'ada', limits } });
  for (let look = 0; look < 5; look++) expect(await feeder.tick()).toBe(0);
  expect(asked).toEqual([]);
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  expect(await feeder.tick()).toBe(1);
});

test('behind a pace, and with held members, every order has its own job', () => {
  const rate = { requests: 60, windowMs: 60_000 };
  for (const profile of [testProfile({ rate }), testProfile({ rate: null, certainty: 'readback' })])
    expect(feedWindow({ profile, concurrency: 64 }).inAJob(512)).toBe(1);
});

test('orders with a live job are left alone; orders of lost jobs are dispatched again', async () => {
  const ledger = await bench.ledger();
  const queue = queueOf(ledger);
  const feeder = new Feeder({
    ...OPEN,
    ledger,
    queue,
    window: { orders: 100, refillAt: 1, inAJob: () => 8 },
  });
  const sweeper = new Sweeper(ledger, queue, WORKERS);
  const batch = await sealed(ledger, some(24));
  await feeder.tick();
  const late = () =>
    until('orders that are late', async () => {
      const now = await ledger.scripts.redis.zrange(
        `${ledger.keyPrefix}:b:${batch.no}:due`,
        0,
        '0',
        'WITHSCORES',
      );
      return Number(now[1]) < Date.now() - 1_000;
    });
  await late();
  expect(await sweeper.tick()).toBe(0);

  const [lost] = (await queue.getWaiting()).filter(({ data }) => firstOf(data) === 9);
  await lost?.remove();
  expect(await sweeper.tick()).toBe(8);
  expect(await sweeper.tick()).toBe(0);
  const again = (await queue.getWaiting()).filter(({ data }) => firstOf(data) >= 9 && firstOf(data) <= 16);
  expect(again.map(({ data }) => firstOf(data)).sort((a, b) => a - b)).toEqual([
    9, 10, 11, 12, 13, 14, 15, 16,
  ]);
});

test('a job that a wrong clock put off or left behind does not count as live', async () => {
  const ledger = await bench.ledger();
  const queue = queueOf(ledger);
  const sweeper = new Sweeper(ledger, queue, WORKERS);
  const batch = await sealed(ledger, some(3));
  await feedAll(batch);
  const anHourAhead: Readonly<Record<number, number>> = {
    1: LONGEST_PAUSE_MS + 3_600_000,
    2: 60_000,
    3: 60_000,
  };
  await addOrders(queue, [{ no: batch.no, indexes: [1, 2, 3] }], 0, {
    delayMs: (index) => anHourAhead[index] ?? 0,
  });
  await addedAnHourBehind(queue, 3);
  await allDue(batch, 3);
  expect(await sweeper.tick()).toBe(2);
  expect((await queue.getWaiting()).map(({ data }) => firstOf(data)).sort()).toEqual([1, 3]);
  expect(await sweeper.tick()).toBe(0);
});

test('among jobs of wrong clocks, every other delayed job counts as live', async () => {
  const ledger = await bench.ledger();
  const queue = queueOf(ledger);
  const sweeper = new Sweeper(ledger, queue, WORKERS);
  const batch = await sealed(ledger, some(40));
  await feedAll(batch);
  const indexes = batch.rows.map((_, i) => i + 1);
  const delayOf = (index: number) => (index > 36 ? LONGEST_PAUSE_MS + index * 60_000 : index * 1_000);
  await addOrders(queue, [{ no: batch.no, indexes }], 0, { delayMs: delayOf });
  for (const index of [7, 19, 31]) await addedAnHourBehind(queue, index);
  await allDue(batch, 40);
  expect(await sweeper.tick()).toBe(7);
  const again = (await queue.getWaiting()).map(({ data }) => firstOf(data));
  expect(again.sort((a, b) => a - b)).toEqual([7, 19, 31, 37, 38, 39, 40]);
  expect(await sweeper.tick()).toBe(0);
});

/** The order’s job as a clock an hour behind would have added it. No worker has seen it since. */
async function addedAnHourBehind(queue: Queue<OrderJob>, index: number): Promise<void> {
  const job = (await queue.getDelayed()).find(({ data }) => firstOf(data) === index);
  if (job === undefined) throw new Error(`no job of order ${index} is delayed`);
  await job.remove();
  await queue.add(job.name, job.data, { ...job.opts, timestamp: Date.now() - 3_600_000, delay: 1 });
}

async function allDue({ ledger, no }: TestBatch, count: number): Promise<void> {
  for (let index = 1; index <= count; index++)
    await ledger.scripts.redis.zadd(`${ledger.keyPrefix}:b:${no}:due`, Date.now() - 60_000, String(index));
}

test('an order is not begun before it is due, by any delivery; a clock set back does not delay it', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, some(2));
  await feedAll(batch);
  await settleAs(batch, 1, 'w', await begun(batch, 1), { dueInMs: 60_000 });
  const answer = await begin(batch, 1, { nonce: 'next' });
  expect(answer).toMatchObject({ refusal: 'early' });
  expect('earlyByMs' in answer ? answer.earlyByMs : 0).toBeGreaterThan(50_000);

  await ledger.scripts.redis.zadd(`${ledger.keyPrefix}:b:${batch.no}:due`, Date.now() + 3_600_000, '2');
  expect(await begin(batch, 2)).toMatchObject({ attempts: 1 });
});
