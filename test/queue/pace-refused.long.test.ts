import { describe, expect, test } from 'vitest';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { storeClockGoesBack } from '../support/ledger/store-clock.js';
import { fixed, sendingTo, sliding } from './refusing-realm.js';

/** A pace against realms that refuse, for a long time; pace-refused.test.ts has the short part. */
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
      return seen.taken >= 800;
    });
    expect(seen.refused).toBeGreaterThan(12);
    // A loaded machine sends a little less, and a stray may briefly look like a limit just below the rate.
    expect([...seen.limits].filter((limit) => limit < 27)).toEqual([]);
  });

  test('from half the rate on: the pace finds the limit, keeps to it, and returns to the full rate when the realm allows it', async () => {
    let limit = 30;
    const { seen, whileNot, learnt } = await sendingTo(
      sliding(() => limit),
      bench,
    );
    await whileNot(() => seen.taken >= 40);
    limit = 15;
    await whileNot(async () => (await learnt()) !== null);
    expect((await learnt())?.requests).toBeGreaterThanOrEqual(12);
    expect((await learnt())?.requests).toBeLessThanOrEqual(15);
    const before = { ...seen };
    await whileNot(() => seen.taken >= before.taken + 200);
    // The pace tests the limit now and then; a pace that only waits would be refused every fifteenth time.
    expect(seen.refused - before.refused).toBeLessThanOrEqual(6);
    limit = 30;
    await whileNot(async () => (await learnt()) === null);
  });

  test('is soon tested again although the store’s clock went back', async () => {
    let limit = 15;
    const { whileNot, learnt, ledger } = await sendingTo(
      sliding(() => limit),
      bench,
    );
    await whileNot(async () => (await learnt()) !== null);
    await storeClockGoesBack(ledger, 3_600_000);
    limit = 30;
    await whileNot(async () => (await learnt()) === null);
  });

  test('from half the rate on, counted from a fixed beginning: the pace finds the limit as well', async () => {
    const { whileNot, learnt } = await sendingTo(fixed(15), bench);
    await whileNot(async () => (await learnt()) !== null);
    expect((await learnt())?.requests).toBeLessThanOrEqual(20);
  });
});
