import { expect, onTestFinished, test } from 'vitest';
import { openBatches, WORKERS } from '../../src/ledger/moves/feed.js';
import { Feeder } from '../../src/queue/feed.js';
import { type OrderJob, openQueue } from '../../src/queue/queues.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { sendAs } from '../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const ANY = () => Promise.resolve(true);
const WINDOW_JOBS = 100;

test('a small batch is fed as soon as there is room, however large the batch before it is', async () => {
  const ledger = await bench.ledger();
  const queue = openQueue<OrderJob>(ledger, 'orders', bench.redis().client());
  onTestFinished(() => queue.close());
  const feeder = new Feeder({
    ledger,
    queue,
    mine: WORKERS,
    window: { orders: WINDOW_JOBS, refillAt: 1, inAJob: () => 1 },
    mayFeed: ANY,
    isQuiet: () => false,
  });
  const large = await sealed(
    ledger,
    Array.from({ length: 1_000 }, () => ({})),
    { id: 'large' },
  );
  expect(await feeder.tick()).toBe(WINDOW_JOBS);
  expect(await feeder.tick()).toBe(0);

  const small = await sealed(
    ledger,
    Array.from({ length: 20 }, () => ({})),
    { id: 'small' },
  );
  for (let index = 1; index <= 40; index++) await sendAs(large, index, 'P');
  expect(await feeder.tick()).toBe(40);
  const fed = await openBatches(ledger);
  expect(fed.map(({ no, dispatched }) => [no, dispatched])).toEqual([
    [large.no, WINDOW_JOBS - 40 + 20],
    [small.no, 20],
  ]);
});
