import { Worker } from 'bullmq';
import { expect, onTestFinished, test } from 'vitest';
import { HEARD_LATELY_MS } from '../../src/core/presence.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { LeftDeliveries } from '../../src/queue/left-deliveries.js';
import { addOrders, ORDERS_QUEUE, type OrderJob, openQueue } from '../../src/queue/queues.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { beat, standingOrders } from '../support/ledger/standing-orders.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();
const { session, elsewhere, running } = standingOrders(bench);

const TOO_LONG_MS = HEARD_LATELY_MS + 1_000;

/** Another session looks after this one has taken a delivery from the queue and keeps it. */
async function takenBySession(openTaker: (ledger: RealmLedger) => Promise<string>) {
  const batch = await running(1);
  const { ledger } = batch;
  const taker = await openTaker(ledger);
  const queue = openQueue<OrderJob>(ledger, ORDERS_QUEUE, bench.redis().client());
  onTestFinished(() => queue.close());
  let letGo = () => {};
  const held = new Promise<null>((resolve) => {
    letGo = () => resolve(null);
  });
  const worker = new Worker<OrderJob>(ORDERS_QUEUE, () => held, {
    connection: bench.redis().client(),
    prefix: ledger.queuePrefix,
    name: taker,
  });
  onTestFinished(() => {
    letGo();
    return worker.close();
  });
  await addOrders(queue, [{ no: batch.no, indexes: [1] }], 0);
  await until('its delivery to be taken', async () => (await queue.getActiveCount()) === 1);
  const left = new LeftDeliveries(ledger, queue, 'the one that looks');
  return { ledger, taker, look: async () => (await left.sinceLastLook()).map(({ index }) => index) };
}

test('a silent session loses its deliveries once, and again after a sign of life in between', async () => {
  const { ledger, taker, look } = await takenBySession((of) => elsewhere(of, 1_000));
  expect(await look()).toEqual([]);
  await beat(ledger, taker, TOO_LONG_MS);
  expect([await look(), await look()]).toEqual([[1], []]);
  await beat(ledger, taker);
  expect(await look()).toEqual([]);
  await beat(ledger, taker, TOO_LONG_MS);
  expect(await look()).toEqual([1]);
});

test('a frozen session loses its deliveries', async () => {
  const { ledger, taker, look } = await takenBySession(async (of) => (await session(of)).id);
  expect(await look()).toEqual([]);
  await beat(ledger, taker, TOO_LONG_MS);
  expect(await look()).toEqual([1]);
});

test('a dead session loses its deliveries at once, despite a recent sign of life', async () => {
  const { look } = await takenBySession(async (of) => {
    const dead = await session(of);
    await dead.close();
    return dead.id;
  });
  expect(await look()).toEqual([1]);
});
