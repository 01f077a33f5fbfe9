import { describe, expect, test } from 'vitest';
import { readPaceState } from '../../../src/ledger/pace/pace.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { HISTORY_RATE, RefusalHistory } from '../../support/ledger/refusal-history.js';

/**
 * What the scripts learn from refusals, with histories of chosen times: when each request was granted, and whether the
 * realm refused it. test/queue/pace-refused.test.ts runs real processes at a real pace.
 */
const bench = ledgersOnRedis();
const begin = async (rate = HISTORY_RATE, holdMs = 1_000) =>
  new RefusalHistory(await bench.ledger(), rate, holdMs);

describe('refusals reveal the realm’s limit', () => {
  test('a single refusal reveals nothing', async () => {
    const history = await begin();
    await history.halved(1);
    expect([await history.limit(), history.said]).toEqual([null, []]);
  });

  test('two refusals at the same count, and no success at that count: a limit', async () => {
    const history = await begin();
    await history.halved(2);
    expect([await history.limit(), history.said]).toEqual([25, ['limit 25']]);
  });

  test('stray refusals at varying counts reveal nothing, however many', async () => {
    const history = await begin();
    let from = 1_000;
    for (const run of [31, 9, 44, 70, 3, 22, 120, 15, 37, 61, 8, 29, 90, 18]) {
      await history.requests(run, from, 20, 'refused');
      from += run * 20 + 1_000;
    }
    expect([await history.limit(), history.said]).toEqual([null, []]);
  });

  test('stray refusals in a full window have the same count, but many requests passed at it', async () => {
    const history = await begin({ requests: 300, windowMs: 60_000 }, 0);
    let from = 0;
    for (const run of [299, 20, 31, 12, 26, 17, 40]) {
      await history.requests(run, from, 200, 'refused');
      from += run * 200;
    }
    expect([await history.limit(), history.said]).toEqual([null, []]);
  });

  test('four equal counts from refusal to refusal: a window with a fixed beginning', async () => {
    const history = await begin();
    // Each second accepts 25. The realm says when the next one begins, and what was sent before still counts for us.
    for (let second = 1; second <= 4; second++) await history.requests(26, second * 1_000, 20, 'refused');
    expect(await history.limit()).toBe(25);
  });

  test('requests under way at the first refusal count as one refusal with it', async () => {
    const history = await begin();
    await history.requests(26, -600, 20, 'refused');
    for (let more = 0; more < 8; more++) await history.requests(1, -60, 1, 'refused');
    expect(await history.limit()).toBeNull();
  });

  test('a learned limit is tested again: a refusal keeps it, a success lifts it', async () => {
    const history = await begin();
    await history.halved(2);
    // Within its limit, before it is tested.
    await history.requests(20, 5_000, 40, 'passed');
    await history.requests(26, 12_000, 38, 'refused');
    expect(await history.limit()).toBe(25);
    // The realm accepts a few more for longer than a window.
    await history.requests(90, 30_000, 33, 'passed');
    expect([await history.limit(), history.said]).toEqual([null, ['limit 25', 'free']]);
  });

  test('two refusals well below the limit drop it', async () => {
    const history = await begin();
    await history.halved(2);
    await history.requests(8, 5_000, 40, 'refused');
    expect(await history.limit()).toBe(25);
    await history.requests(14, 7_500, 40, 'refused');
    expect([await history.limit(), history.said]).toEqual([null, ['limit 25', 'free']]);
  });

  test('refusals once taken for periodic strays can reveal a limit again after a while', async () => {
    const history = await begin();
    const { keyPrefix, scripts } = history.ledger;
    const suspectSince = (ms: number) =>
      scripts.redis.hset(`${keyPrefix}:pace:l:50/1000`, 'regular', `25 ${Date.now() - ms}`);
    await suspectSince(1_000);
    await history.halved(4);
    expect(await history.limit()).toBeNull();
    await suspectSince(31_000);
    await history.requests(26, 20_000, 20, 'refused');
    await history.requests(26, 21_500, 20, 'refused');
    await history.requests(26, 23_000, 20, 'refused');
    expect(await history.limit()).not.toBeNull();
  });

  test('every fiftieth request refused at any rate: the limit is soon dropped, and not learned again for a while', async () => {
    const history = await begin();
    let from = 1_000;
    for (let stray = 0; stray < 14; stray++) {
      await history.requests(50, from, 20, 'refused');
      from += 2_000;
    }
    expect(await history.limit()).toBeNull();
    expect(history.said.filter((word) => word === 'free')).toHaveLength(1);
  });

  test('repeated refusals before anything has passed count as one', async () => {
    const history = await begin({ requests: 600, windowMs: 60_000 }, 1_000);
    for (let at = 0; at < 12; at++) await history.requests(1, at * 60_000, 1, 'refused');
    expect([await history.limit(), history.said]).toEqual([null, []]);
  });

  test('among stray refusals more evidence is needed', async () => {
    const history = await begin();
    await history.requests(12, 1_000, 20, 'refused');
    await history.requests(60, 3_000, 20, 'passed');
    for (const [cycle, expected] of [null, null, 25].entries()) {
      await history.requests(26, 6_000 + cycle * 1_500, 20, 'refused');
      expect(await history.limit()).toBe(expected);
    }
  });

  test('another configured rate starts from scratch, and a learned limit can be forgotten', async () => {
    const history = await begin();
    await history.halved(2);
    const { ledger } = history;
    expect((await readPaceState(ledger, { requests: 60, windowMs: 1_000 })).learnt).toBeNull();
    const { learnt, hold } = await readPaceState(ledger, HISTORY_RATE);
    expect(learnt).toMatchObject({ by: 'refusals', windowMs: 1_000 });
    expect(Math.abs((learnt?.sinceMs ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(hold).not.toBeNull();
    await history.forget();
    expect(await readPaceState(ledger, HISTORY_RATE)).toMatchObject({
      learnt: null,
      others: 0,
      hold: null,
    });
  });
});
