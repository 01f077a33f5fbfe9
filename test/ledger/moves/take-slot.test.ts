import { describe, expect, test } from 'vitest';
import { UNLIMITED } from '../../../src/ledger/pace/pace.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { texts } from '../../../src/ledger/script-client.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { sayLimit } from '../../support/ledger/refusal-history.js';
import { storeClockGoesBack } from '../../support/ledger/store-clock.js';
import { until } from '../../support/until.js';

const bench = ledgersOnRedis();
const TIMEOUT_MS = 60_000;
const HOUR_MS = 3_600_000;

type Answer = { readonly go: number } | { readonly waitMs: number };

async function take(
  ledger: RealmLedger,
  requests: number | '',
  windowMs: number,
  timeoutMs = TIMEOUT_MS,
): Promise<Answer> {
  const [answer, value] = texts(
    await ledger.scripts.script('take-slot', ledger.keyPrefix, [
      requests,
      windowMs,
      timeoutMs,
      0,
      1,
      '',
      '',
      '',
    ]),
  );
  return answer === 'go' ? { go: Number(value) } : { waitMs: Number(value) };
}
const answer = (ledger: RealmLedger, slot: number, holdMs: number | '' = '') =>
  ledger.scripts.script('answer-slot', ledger.keyPrefix, [1_000, 1_000, 0, slot, holdMs, '', '', '', '']);
const waitOf = (given: Answer) => ('waitMs' in given ? given.waitMs : 0);

describe('take-slot', () => {
  test('slots are numbered, evenly spaced, and not reserved ahead', async () => {
    const ledger = await bench.ledger();
    expect(await take(ledger, 2, HOUR_MS)).toEqual({ go: 0 });
    const second = await take(ledger, 2, HOUR_MS);
    expect(waitOf(second)).toBeGreaterThan(HOUR_MS / 2 - 60_000);
    expect(waitOf(second)).toBeLessThanOrEqual(HOUR_MS / 2);
    // Repeated requests do not move a process back.
    for (let i = 0; i < 5; i++)
      expect(waitOf(await take(ledger, 2, HOUR_MS))).toBeLessThanOrEqual(waitOf(second));
  });

  test('a slot is granted only when fewer than N are under way or were answered within a window', async () => {
    const ledger = await bench.ledger();
    await take(ledger, 1, 500);
    // The evenly spaced time has come, but the first request is still under way and may arrive at any moment.
    await until('the even time', async () => waitOf(await take(ledger, 1, 500)) > 0);
    const stamp = Number((await ledger.scripts.redis.hget(`${ledger.keyPrefix}:pace`, 'at')) ?? 0);
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:pace`, 'at', String(stamp - 10_000));
    expect(waitOf(await take(ledger, 1, 500))).toBe(500);
    await answer(ledger, 0);
    const left = waitOf(await take(ledger, 1, 500));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(500);
    expect(await until('the window after the answer', async () => 'go' in (await take(ledger, 1, 500)))).toBe(
      true,
    );
  });

  test('a request that is never answered counts as answered at its time-out', async () => {
    const ledger = await bench.ledger();
    await take(ledger, 1, 30, 40);
    expect(await until('time-out and window', async () => 'go' in (await take(ledger, 1, 30, 40)))).toBe(
      true,
    );
  });

  test('idle time is not saved up: after a long pause at most one second is caught up with', async () => {
    const ledger = await bench.ledger();
    await take(ledger, 60, 60_000);
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:pace`, 'at', String(Date.now() - HOUR_MS));
    const asked = [];
    for (let i = 0; i < 5; i++) asked.push(await take(ledger, 60, 60_000));
    expect(asked.slice(0, 2)).toEqual([{ go: 1 }, { go: 2 }]);
    for (const late of asked.slice(2)) expect(waitOf(late)).toBeGreaterThan(800);
  });

  describe.each([
    ['less than a window', 400],
    ['an hour', HOUR_MS],
  ])('the store’s clock goes back by %s', (_, backMs) => {
    test('delays no request', async () => {
      const ledger = await bench.ledger();
      for (let slot = 0; slot < 3; slot++)
        await until('a slot', async () => 'go' in (await take(ledger, 20, 1_000)));
      await storeClockGoesBack(ledger, backMs);
      expect(waitOf(await take(ledger, 20, 1_000))).toBeLessThanOrEqual(50);
    });

    test('and no window of true time holds more than before', async () => {
      const ledger = await bench.ledger();
      const answeredAt: number[] = [];
      for (let slot = 0; slot < 6; slot++) {
        if (slot === 3) await storeClockGoesBack(ledger, backMs);
        await until('a slot', async () => 'go' in (await take(ledger, 2, 500)));
        expect(performance.now() - (answeredAt.at(-2) ?? Number.NEGATIVE_INFINITY)).toBeGreaterThan(499);
        answeredAt.push(performance.now());
        await answer(ledger, slot);
      }
    });
  });

  test('a slow answer delays no other process: slots are free when their window is over', async () => {
    const ledger = await bench.ledger();
    const next = () => until('a slot', async () => 'go' in (await take(ledger, 3, 300)));
    for (let slot = 0; slot < 3; slot++) await next();
    await answer(ledger, 1);
    await answer(ledger, 2);
    // The first request is still under way.
    for (let slot = 3; slot < 5; slot++) await next();
    expect(waitOf(await take(ledger, 3, 300))).toBeGreaterThan(200);
  });

  test('of two configured limits, the one over the longer window keeps slots that the other has released', async () => {
    const ledger = await bench.ledger();
    expect(await take(ledger, 6, HOUR_MS)).toEqual({ go: 0 });
    await answer(ledger, 0);
    for (let slot = 1; slot < 6; slot++) {
      await until('a slot', async () => 'go' in (await take(ledger, 2, 50)));
      await answer(ledger, slot);
    }
    // However late it is, six have left within the hour.
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:pace`, 'at', String(Date.now() - HOUR_MS));
    expect(waitOf(await take(ledger, 6, HOUR_MS))).toBeGreaterThan(HOUR_MS - 60_000);
  });

  test('the lower of two limits that headers name in turn applies while it is named', async () => {
    const ledger = await bench.ledger();
    for (let turn = 0; turn < 2; turn++) {
      await sayLimit(ledger, null, { requests: 6, windowMs: HOUR_MS }, null);
      await sayLimit(ledger, null, { requests: 2, windowMs: 50 }, null);
    }
    expect(await take(ledger, '', UNLIMITED.windowMs)).toEqual({ go: 0 });
    expect(waitOf(await take(ledger, '', UNLIMITED.windowMs))).toBeGreaterThan(HOUR_MS / 6 - 60_000);
  });

  test('a limit over a longer window in the headers applies beside the configured one', async () => {
    const ledger = await bench.ledger();
    const configured = { requests: 3, windowMs: 1_000 };
    await sayLimit(ledger, configured, { requests: 100, windowMs: 60_000 }, null);
    const pace = `${ledger.keyPrefix}:pace`;
    // The machine paused for a moment: much of the minute may be caught up with.
    const late = { at: Date.now() - 30_000, wants: Date.now() };
    let left = 0;
    for (let asked = 0; asked < 8; asked++) {
      await ledger.scripts.redis.hset(pace, late);
      if ('go' in (await take(ledger, configured.requests, configured.windowMs))) left += 1;
    }
    expect(left).toBe(3);
  });

  test('the reserve is kept free in every window', async () => {
    const ledger = await bench.ledger();
    const configured = { requests: 1_200, windowMs: 60_000 };
    const reserve = 200;
    await sayLimit(ledger, configured, { requests: 10, windowMs: 1_000 }, null);
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:pace`, 'wants', Date.now());
    const ask = [1_200, 60_000, TIMEOUT_MS, reserve, 1, '', 'n', ''];
    // Six of ten a second, but not below the second limit: 200 a minute are 3.3 a second.
    const first = texts(await ledger.scripts.script('take-slot', ledger.keyPrefix, ask));
    const second = texts(await ledger.scripts.script('take-slot', ledger.keyPrefix, ask));
    expect([first[0], second[0]]).toEqual(['go', 'go']);
  });

  test('a grant that is repeated after a lost reply counts as under way from then on', async () => {
    const ledger = await bench.ledger();
    const ask = (again: string) =>
      ledger.scripts.script('take-slot', ledger.keyPrefix, [10, 1_000, 500, 0, 1, 's', 'lost', again]);
    const till = async () =>
      Number.parseFloat((await ledger.scripts.redis.hget(`${ledger.keyPrefix}:pace:o`, '0')) ?? '');
    await ask('');
    const first = await till();
    await until('its time-out', async () => Date.now() > first);
    expect(texts(await ask('1'))).toEqual(['go', '0']);
    expect(await till()).toBeGreaterThan(first + 400);
  });

  test('the memory of past slots stays small when the rate is lowered, and is freed step by step', async () => {
    const ledger = await bench.ledger();
    const { redis } = ledger.scripts;
    const pace = `${ledger.keyPrefix}:pace`;
    await take(ledger, 1_000, 1_000);
    const old = Array.from({ length: 3_500 }, (_, k) => [Date.now() - 200_000, 1_000 + k]).flat();
    for (const key of [`${pace}:w`, `${pace}:s`]) await redis.zadd(key, ...old);
    const left = [];
    for (let asked = 0; asked < 5; asked++) {
      await until('a slot', async () => 'go' in (await take(ledger, 20, 100)));
      left.push([await redis.zcard(`${pace}:w`), await redis.zcard(`${pace}:s`)]);
    }
    expect(Math.min(...(left[0] ?? []))).toBeGreaterThan(2_000);
    expect(Math.max(...(left.at(-1) ?? []))).toBeLessThanOrEqual(6);
  });
});
