import type { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { Pace } from '../../src/queue/pace.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();

/** Several paces of one realm, each on its own connection, as in separate processes. */
async function paces(count: number, requests: number | null, windowMs = 0, reserve = 0) {
  const { realm } = await bench.ledger();
  const rate = requests === null ? null : { requests, windowMs };
  const profile = testProfile({ rate, rateReserve: reserve });
  return Array.from({ length: count }, () => {
    const ledger = openLedger(new ScriptClient(bench.redis().client(), 10_000, () => {}), realm);
    return new Pace(ledger, profile);
  });
}

/** An answer that asks the sender to wait. */
const told = (retryAfterMs: number) => ({ status: 503, retryAfterMs, rate: null });

/** The largest number of requests in any sliding window of this length. */
function busiest(times: readonly number[], windowMs: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(...sorted.map((end) => sorted.filter((at) => at > end - windowMs && at <= end).length));
}

describe('the pace of a realm', () => {
  test.each([
    [8, 200],
    [30, 300],
    [1, 60],
  ])(
    '%i requests in %i ms, shared by two processes: no window of the server’s log ever holds more',
    async (requests, windowMs) => {
      const both = await paces(2, requests, windowMs);
      // A request arrives between its slot and its answer, and the server’s log may see it at either end.
      const arrivals: number[] = [];
      const granted: number[] = [];
      const send = async (pace: Pace, latencyMs: number, late: boolean) => {
        const slot = await pace.take();
        granted.push(performance.now());
        if (!late) arrivals.push(performance.now());
        await new Promise((resolve) => setTimeout(resolve, latencyMs));
        if (late) arrivals.push(performance.now());
        slot?.answered();
      };
      const total = Math.max(6, Math.ceil(requests * 3));
      await Promise.all(
        both.flatMap((pace, which) =>
          Array.from({ length: total / 2 }, (_, i) => send(pace, (i * 7) % 23, (i + which) % 2 === 0)),
        ),
      );
      expect(arrivals).toHaveLength(2 * Math.floor(total / 2));
      expect(busiest(arrivals, windowMs)).toBeLessThanOrEqual(requests);
      // The whole rate is used, not one slot a window, with room for a slow machine.
      const tookMs = Math.max(...granted) - Math.min(...granted);
      expect(tookMs).toBeGreaterThan(((granted.length - 1) / requests - 1) * windowMs);
    },
  );

  test('the reserve stays free for other senders', async () => {
    const [pace] = await paces(1, 4, 80, 2);
    const times: number[] = [];
    for (let i = 0; i < 6; i++) {
      const slot = await pace?.take();
      times.push(performance.now());
      slot?.answered();
    }
    expect(busiest(times, 80)).toBeLessThanOrEqual(2);
  });

  test('callers are served in the order of their requests', async () => {
    const [pace] = await paces(1, 20, 100);
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        const slot = await pace?.take();
        order.push(i);
        slot?.answered();
      }),
    );
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('Retry-After to one process holds the other one, too', async () => {
    const [one, two] = await paces(2, 100, 100);
    const slot = await one?.take();
    const toldAt = performance.now();
    slot?.answered(told(400));
    // The hold is sent on its own connection; it only has to be known before the next request.
    await until('the hold to be known', async () => {
      let wanted = true;
      const asked = two?.take(() => wanted);
      const first = await Promise.race([
        asked,
        new Promise<'waits'>((resolve) => setTimeout(resolve, 60, 'waits')),
      ]);
      wanted = false;
      await asked;
      return first === 'waits';
    });
    const next = await two?.take();
    expect(next).toBeDefined();
    expect(performance.now() - toldAt).toBeGreaterThanOrEqual(395);
    next?.answered();
  });

  test('a slot that is no longer wanted is given up while waiting', async () => {
    const [pace] = await paces(1, 1, 3_600_000);
    const first = await pace?.take();
    first?.answered();
    let wanted = true;
    const second = pace?.take(() => wanted);
    wanted = false;
    expect(await second).toBeUndefined();
  });

  describe('without a configured limit', () => {
    const callsOf = async (redis: Redis) =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);

    test('orders do not wait and the store is hardly asked, but a Retry-After is respected', async () => {
      const [pace] = await paces(1, null);
      expect(pace?.limited).toBe(false);
      const redis = bench.redis().client();
      await pace?.take();
      const [askedBefore, from] = [await callsOf(redis), performance.now()];
      const slots = [];
      while (performance.now() < from + 600) slots.push(await pace?.take());
      expect(slots.length).toBeGreaterThan(1_000);
      expect((await callsOf(redis)) - askedBefore).toBeLessThanOrEqual(3);
      const toldAt = performance.now();
      slots[0]?.answered(told(150));
      await pace?.take();
      expect(performance.now() - toldAt).toBeGreaterThanOrEqual(145);
    });

    test.each(['beside it', 'that comes after it'])(
      'a Retry-After to one process holds one %s, too',
      async (which) => {
        const [one, other] = await paces(2, null);
        const slot = await one?.take();
        if (which === 'beside it') await other?.take();
        const toldAt = performance.now();
        slot?.answered(told(700));
        await until('the time by which everybody knows', () => performance.now() > toldAt + 400);
        await other?.take();
        expect(performance.now() - toldAt).toBeGreaterThanOrEqual(695);
      },
    );
  });
});
