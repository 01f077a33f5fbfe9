import { describe, expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { cancelBatch, haltRealm, pauseBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { utcDay } from '../../../src/ledger/read/verify-sums.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begin, begun, feedAll, sendAs, settleAs, WHY } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();

describe('begin-sending', () => {
  test('marks the order as sending, with session and nonce, and adds it to the day’s sum', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7 }]);
    await feedAll(batch);
    const [seconds] = await ledger.scripts.redis.time();
    const first = await begun(batch, 1);
    expect(first).toMatchObject({
      keyNumber: 1,
      keyFirstAt: first.sentAt,
      attempts: 1,
      tries: 0,
      resend: false,
      unansweredUntil: null,
      firstSentAt: first.sentAt,
    });
    // The time is the store’s, never the caller’s.
    expect(Math.floor(first.sentAt / 1000) - Number(seconds)).toBeLessThanOrEqual(1);
    expect(await readRecord(batch.ref, 1)).toMatchObject({
      code: 's',
      session: 'worker',
      nonce: 'nonce-1',
      sentAt: first.sentAt,
    });
    expect(await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:days`)).toEqual({
      [utcDay(first.sentAt)]: '7',
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('repeated with the same nonce it gives the same answer and counts once; another nonce is refused', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7 }]);
    await feedAll(batch);
    const first = await begun(batch, 1);
    expect(await begin(batch, 1)).toEqual({ ...first, sentAt: expect.any(Number) });
    expect(await begin(batch, 1, { nonce: 'other' })).toEqual({ refusal: 'order', state: 'sending' });
    expect(await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:days`)).toEqual({
      [utcDay(first.sentAt)]: '7',
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test.each([
    [
      'paused',
      { refusal: 'batch', state: 'paused' },
      ({ ref }: TestBatch) => pauseBatch(ref, WHY, audit('paused')),
    ],
    [
      'cancelled',
      { refusal: 'batch', state: 'cancelled' },
      ({ ref }: TestBatch) => cancelBatch(ref, audit('cancelled')),
    ],
    ['halted', { refusal: 'halted' }, ({ ledger }: TestBatch) => haltRealm(ledger, WHY)],
  ])('a batch that was %s since the claim sends nothing', async (_, refused, stop) => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    await stop(batch);
    expect(await begin(batch, 1)).toEqual(refused);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('refuses orders that are not fed, settled, of another owner, or behind an open breaker', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}], { owner: 'run-1' });
    expect(await begin(batch, 1)).toEqual({ refusal: 'batch', state: 'planned' });
    await feedAll(batch);
    expect(await begin(batch, 1, { session: 'stranger' })).toEqual({ refusal: 'owner' });
    await sendAs(batch, 1, 'P');
    expect(await begin(batch, 1, { nonce: 'late' })).toEqual({ refusal: 'order', state: 'paid' });
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'breaker', Date.now());
    expect(await begin(batch, 2)).toEqual({ refusal: 'breaker' });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('the daily cap halts the batch without failing an order, and each day has its own sum', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 6 }, { tokens: 5 }]);
    await feedAll(batch);
    await sendAs(batch, 1, 'P', { dayCap: 10 });
    expect(await begin(batch, 2, { dayCap: 10 })).toEqual({ refusal: 'cap' });
    expect(await readBatch(batch.ref)).toMatchObject({
      state: 'halted',
      reason: { code: 'ALM_BATCH_DAY_CAP' },
      counts: { paid: 1, planned: 1 },
    });
    const other = await sealed(ledger, [{ tokens: 10 }]);
    await feedAll(other);
    // Today’s payments move to another day.
    const days = `${ledger.keyPrefix}:days`;
    const [today = ''] = await ledger.scripts.redis.hkeys(days);
    await ledger.scripts.redis.hset(days, '2026-03-01', (await ledger.scripts.redis.hget(days, today)) ?? '');
    await ledger.scripts.redis.hdel(days, today);
    await begun(other, 1, { dayCap: 10 });
  });

  test('an amount that was definitely not applied is returned to the day and may be sent within the cap', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 10 }, { tokens: 10 }]);
    await feedAll(batch);
    await sendAs(batch, 1, 'R', { dayCap: 10 });
    await begun(batch, 2, { dayCap: 10 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('resends an unknown order only if the realm honours keys: same key, first time kept, counted once', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7 }]);
    await feedAll(batch);
    const first = await begun(batch, 1);
    await settleAs(batch, 1, 'u', first);
    expect(await begin(batch, 1, { nonce: 'two' })).toEqual({ refusal: 'order', state: 'unknown' });
    const again = await begun(batch, 1, { nonce: 'two', keyAgeMaxMs: 60_000, dayCap: 7 });
    expect(again).toMatchObject({
      resend: true,
      keyNumber: 1,
      attempts: 2,
      firstSentAt: first.sentAt,
      keyFirstAt: first.sentAt,
      unansweredUntil: first.sentAt + 40,
    });
    expect(await tieUp(ledger)).toEqual([]);
    await settleAs(batch, 1, 'P', again, { nonce: 'two' });
    expect(await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:days`)).toEqual({
      [utcDay(first.sentAt)]: '7',
    });
  });

  test('an open breaker holds a resend back as well', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'breaker', Date.now());
    expect(await begin(batch, 1, { nonce: 'two', keyAgeMaxMs: 60_000 })).toEqual({ refusal: 'breaker' });
    await ledger.scripts.redis.hdel(ledger.keyPrefix, 'breaker');
    expect(await begin(batch, 1, { nonce: 'two', keyAgeMaxMs: 60_000 })).toMatchObject({ resend: true });
  });

  test('a number that stands for another batch than the row at hand sends nothing', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    const other = { ...batch, ref: { ...batch.ref, id: batchId('of-another-past') } };
    expect(await begin(other, 1)).toEqual({ refusal: 'gone' });
    expect(await begin(batch, 1)).not.toHaveProperty('refusal');
  });

  test('resends an unknown order of a cancelled batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await cancelBatch(batch.ref, audit('cancelled'));
    expect(await begin(batch, 1, { nonce: 'two', keyAgeMaxMs: 60_000 })).toMatchObject({ resend: true });
  });

  test('in order: no order is sent while another is being sent or unknown', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:b:${batch.no}`, 'inOrder', '1');
    const first = await begun(batch, 1);
    expect(await begin(batch, 2)).toEqual({ refusal: 'in-order' });
    await settleAs(batch, 1, 'u', first);
    expect(await begin(batch, 2)).toEqual({ refusal: 'in-order' });
    expect(await begin(batch, 1, { nonce: 'two', keyAgeMaxMs: 60_000 })).toMatchObject({ resend: true });
  });
});
