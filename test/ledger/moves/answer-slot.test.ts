import { describe, expect, test } from 'vitest';
import { readPaceState } from '../../../src/ledger/pace/pace.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { texts } from '../../../src/ledger/script-client.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { storeClockGoesBack } from '../../support/ledger/store-clock.js';

const bench = ledgersOnRedis();
const take = async (ledger: RealmLedger) =>
  texts(await ledger.scripts.script('take-slot', ledger.keyPrefix, [10, 1_000, 60_000, 0, 1, '', '', '']));
const answer = (ledger: RealmLedger, slot: number, holdMs: number | '' = '') =>
  ledger.scripts.script('answer-slot', ledger.keyPrefix, [10, 1_000, 0, slot, holdMs, '', '', '', '']);
const answeredAt = async ({ scripts, keyPrefix }: RealmLedger, slot: number) =>
  Number(await scripts.redis.zscore(`${keyPrefix}:pace:w`, slot));
const underWay = ({ scripts, keyPrefix }: RealmLedger) => scripts.redis.hkeys(`${keyPrefix}:pace:o`);

describe('answer-slot', () => {
  test('records when the request of a slot was answered', async () => {
    const ledger = await bench.ledger();
    expect(await take(ledger)).toEqual(['go', '0']);
    expect([await underWay(ledger), await answeredAt(ledger, 0)]).toEqual([['0'], 0]);
    await answer(ledger, 0);
    expect([await underWay(ledger), (await answeredAt(ledger, 0)) > 0]).toEqual([[], true]);
  });

  test('keeps the later time of two reports, which only lengthens the wait', async () => {
    const ledger = await bench.ledger();
    await take(ledger);
    await answer(ledger, 0);
    const first = await answeredAt(ledger, 0);
    await answer(ledger, 0);
    expect(await answeredAt(ledger, 0)).toBeGreaterThanOrEqual(first);
    expect(await ledger.scripts.redis.zcard(`${ledger.keyPrefix}:pace:w`)).toBe(1);
  });

  test('ignores an answer to a slot that was never granted or is forgotten', async () => {
    const ledger = await bench.ledger();
    await answer(ledger, 77);
    await answer(ledger, -1);
    expect(await ledger.scripts.redis.keys(`${ledger.keyPrefix}:pace*`)).toEqual([]);
  });

  test('applies Retry-After to the whole realm; a shorter one does not cut a longer one', async () => {
    const ledger = await bench.ledger();
    await take(ledger);
    await answer(ledger, 0, 60_000);
    const [said, ms] = await take(ledger);
    expect(said).toBe('wait');
    expect(Number(ms)).toBeGreaterThan(50_000);
    await answer(ledger, 0, 1_000);
    expect(Number((await take(ledger))[1])).toBeGreaterThan(50_000);
    await answer(ledger, 0, 120_000);
    expect(Number((await take(ledger))[1])).toBeGreaterThan(100_000);
  });

  test('does not prolong a hold when the store’s clock goes back, and reports its end', async () => {
    const ledger = await bench.ledger();
    await answer(ledger, -1, 5_000);
    await storeClockGoesBack(ledger, 3_600_000);
    expect(Number((await take(ledger))[1])).toBeLessThanOrEqual(5_000);
    const { hold } = await readPaceState(ledger, null);
    expect(hold?.untilMs).toBeGreaterThan(Date.now());
    expect(hold?.untilMs).toBeLessThan(Date.now() + 5_100);
  });

  test('keeps the hold in the headers of a request whose grant is forgotten', async () => {
    const ledger = await bench.ledger();
    await take(ledger);
    await ledger.scripts.redis.del(`${ledger.keyPrefix}:pace:s`);
    const answers = [0, '', 'passed', 10, 3, 1_000, -1, 30_000, 'refused', '', '', ''];
    await ledger.scripts.script('answer-slot', ledger.keyPrefix, [10, 1_000, 0, ...answers]);
    expect([await underWay(ledger), (await take(ledger))[0]]).toEqual([[], 'wait']);
  });

  test('does not apply the configured window to a limit without a window', async () => {
    const ledger = await bench.ledger();
    await take(ledger);
    await ledger.scripts.script('answer-slot', ledger.keyPrefix, [10, 1_000, 0, 0, '', 'passed', 4, 3, '']);
    expect((await readPaceState(ledger, { requests: 10, windowMs: 1_000 })).learnt).toBeNull();
  });
});
