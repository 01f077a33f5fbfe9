import { describe, expect, test } from 'vitest';
import { AlmonerError } from '../../src/core/errors/error.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { CallBatcher } from '../../src/ledger/realm-ledger.js';
import { STATE_CODES } from '../../src/ledger/record.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { begin, begun, feedAll, settleAs } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const HUGE = Number.MAX_SAFE_INTEGER;

async function scriptCalls(): Promise<number> {
  const stats = await bench.redis().client().info('commandstats');
  return ['eval', 'evalsha'].reduce(
    (sum, name) => sum + Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0),
    0,
  );
}

describe('moves batched into one script call', () => {
  test('each get their own answer', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(
      ledger,
      Array.from({ length: 40 }, () => ({})),
    );
    await feedAll(batch);
    const before = await scriptCalls();
    const answers = await Promise.all(batch.rows.map((_, i) => begun(batch, i + 1)));
    expect(answers.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, i) => i + 1),
    );
    const codes = ['P', 'R', 'w', 'D'] as const;
    const settled = await Promise.all(
      answers.map((of, i) => settleAs(batch, i + 1, codes[i % 4] ?? 'P', of, { dueInMs: 60_000 })),
    );
    expect(settled.map(({ state }) => state)).toEqual(
      answers.map((_, i) => STATE_CODES[codes[i % 4] ?? 'P']),
    );
    expect((await scriptCalls()) - before).toBeLessThan(10);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('keep sums exact beyond the precision of a double', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(
      ledger,
      Array.from({ length: 5 }, () => ({ tokens: HUGE })),
    );
    await feedAll(batch);
    const of = await Promise.all([1, 2, 3, 4, 5].map((index) => begun(batch, index)));
    expect(await tieUp(ledger)).toEqual([]);
    await Promise.all(of.map((one, i) => settleAs(batch, i + 1, 'P', one)));
    const counters = `${ledger.keyPrefix}:b:${batch.no}:n`;
    expect(await ledger.scripts.redis.hmget(counters, 't:P', 't:s')).toEqual([
      String(5n * BigInt(HUGE)),
      '0',
    ]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('succeed even if one move of the call fails', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(
      ledger,
      Array.from({ length: 130 }, () => ({})),
    );
    await feedAll(batch);
    // The second block of records is not a hash.
    await ledger.scripts.redis.set(`${ledger.keyPrefix}:b:${batch.no}:o:1`, 'damaged');
    const [one, damaged, two] = await Promise.allSettled([
      begin(batch, 1),
      begin(batch, 129),
      begin(batch, 2),
    ]);
    expect([one.status, damaged.status, two.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(damaged).toMatchObject({ reason: { message: expect.stringContaining('WRONGTYPE') } });
    expect(await readRecord(batch.ref, 2)).toMatchObject({ code: 's', nonce: 'nonce-2' });
    await ledger.scripts.redis.del(`${ledger.keyPrefix}:b:${batch.no}:o:1`);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('are repeated until the store accepts the write', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    const admin = bench.redis().client();
    const calls = async () =>
      Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(await admin.info('commandstats'))?.[1] ?? 0);
    const before = await calls();
    await admin.config('SET', 'maxmemory', '1');
    try {
      const asked = Promise.all([begun(batch, 1), begun(batch, 2)]);
      await expect.poll(async () => (await calls()) - before).toBeGreaterThan(2);
      await admin.config('SET', 'maxmemory', '0');
      expect((await asked).map(({ attempts }) => attempts)).toEqual([1, 1]);
    } finally {
      await admin.config('SET', 'maxmemory', '0');
    }
    expect(await tieUp(ledger)).toEqual([]);
  });
});

describe('the call batcher', () => {
  test('sends moves that arrive during a call with the next one, within the size limit and without losing any', async () => {
    const calls: number[][] = [];
    let go: () => void = () => {};
    const gathered = new CallBatcher<number, number>(async (asks) => {
      calls.push([...asks]);
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      return asks.map((ask) => (ask === 4 ? new Error('four') : ask * 10));
    }, 3);
    const first = gathered.ask(1);
    await expect.poll(() => calls.length).toBe(1);
    const others = Promise.allSettled([2, 3, 4, 5].map((ask) => gathered.ask(ask)));
    for (const made of [2, 3]) {
      go();
      await expect.poll(() => calls.length).toBe(made);
    }
    go();
    expect(await first).toBe(10);
    expect(
      (await others).map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason))),
    ).toEqual([20, 30, 'Error: four', 50]);
    expect(calls).toEqual([[1], [2, 3, 4], [5]]);
  });

  test('rejects only the order that makes a shared call fail, and repeats the others one by one', async () => {
    const calls: number[][] = [];
    const gathered = new CallBatcher<number, number>(async (asks) => {
      calls.push([...asks]);
      if (asks.includes(2)) throw new Error('poison');
      return asks.map((ask) => ask * 10);
    }, 10);
    const all = await Promise.allSettled([1, 2, 3].map((ask) => gathered.ask(ask)));
    expect(all).toMatchObject([{ value: 10 }, { reason: { message: 'poison' } }, { value: 30 }]);
    expect(calls).toEqual([[1, 2, 3], [1], [2], [3]]);
  });

  test('does not repeat moves one by one if the store does not answer', async () => {
    let calls = 0;
    const gathered = new CallBatcher<number, number>(async () => {
      calls += 1;
      throw new AlmonerError('ALM_STORE_UNREACHABLE', 'away');
    }, 10);
    const all = await Promise.allSettled([1, 2, 3].map((ask) => gathered.ask(ask)));
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(calls).toBe(1);
  });

  test('rejects all moves of a failed call, and makes the next call', async () => {
    let fails = true;
    const gathered = new CallBatcher<number, number>(async (asks) => {
      if (fails) throw new Error('gone');
      return [...asks];
    }, 10);
    const both = await Promise.allSettled([gathered.ask(1), gathered.ask(2)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await gathered.ask(3)).toBe(3);
  });
});
