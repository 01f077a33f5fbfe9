import { describe, expect, test } from 'vitest';
import { readPaceState } from '../../src/ledger/pace/pace.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { until } from '../support/until.js';
import { RATE, sendingTo, sliding, WINDOW_MS } from './refusing-realm.js';

/** What a pace learns from refusals; pace-refused.long.test.ts plays more cases, and for longer. */
const bench = ledgersOnRedis();

describe('a realm that refuses', () => {
  test('one request of fifty: the pace waits as long as the realm asks, and is never slower after that', async () => {
    const gaps = [31, 29, 44, 70, 33, 41, 90, 35, 37, 61, 38, 53];
    let left = 20;
    const { seen, whileNot, learnt } = await sendingTo(() => {
      left -= 1;
      if (left > 0) return null;
      left = gaps[(seen.refused + 1) % gaps.length] ?? 0;
      return 30;
    }, bench);
    await whileNot(async () => {
      const limit = await learnt();
      if (limit !== null) seen.limits.add(limit.requests);
      return seen.taken >= 250;
    });
    expect(seen.refused).toBeGreaterThan(4);
    expect([...seen.limits]).toEqual([]);
  });

  test('from half the rate on: the pace finds the limit and keeps to it', async () => {
    const { seen, whileNot, learnt } = await sendingTo(
      sliding(() => 15),
      bench,
    );
    await whileNot(async () => (await learnt()) !== null);
    expect((await learnt())?.requests).toBeGreaterThanOrEqual(12);
    expect((await learnt())?.requests).toBeLessThanOrEqual(15);
    const before = { ...seen };
    await whileNot(() => seen.taken >= before.taken + 60);
    // The pace tests the limit now and then; a pace that only waits would be refused every fifteenth time.
    expect(seen.refused - before.refused).toBeLessThanOrEqual(3);
  });
});

test('a learned limit and a hold apply to every process', async () => {
  const { ledger, whileNot, learnt } = await sendingTo(
    sliding(() => 10),
    bench,
  );
  await whileNot(async () => (await learnt()) !== null);
  await until('the hold to be over', async () => (await readPaceState(ledger, RATE)).hold === null);
  expect(await learnt()).toMatchObject({ by: 'refusals', windowMs: WINDOW_MS });
});
