import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { forgotten, mergeAttempts, placeOf } from '../../support/ledger/forgotten-batch.js';
import { attemptOf, merge, REFUSED } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, feedAll, settleAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
const as = (ledger: RealmLedger, overTokens: number | null): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(overTokens) },
  batchers: new Map(),
});
const retry = ({ ref, row }: TestBatch, index: number, limit: number | null = 100, person?: string) =>
  retryOrder(ref, index, row(index), {
    who: person ?? 'x',
    why: null,
    at: 1,
    nonce: `r${Math.random()}`,
    limits: over(limit),
    ...(person ? { person } : {}),
  } as never);
async function pay(batch: TestBatch, ...indexes: readonly number[]): Promise<number> {
  await feedAll(batch);
  let paid = 0;
  for (const index of indexes) {
    const nonce = `n${Math.random()}`;
    const b = await begin(batch, index, { nonce });
    if ('refusal' in b) {
      console.log('refused', index, b.refusal);
      continue;
    }
    await settleAs(batch, index, 'P', b, { nonce });
    paid += batch.row(index).order.tokens;
  }
  return paid;
}
test('an approval of the rest does not cover an order that a journal restores into a recovered batch afterwards', async () => {
  const csv = 'member,tokens\n1,101\n2,5000\n';
  const old = await forgotten(bench, csv);
  await mergeAttempts(old, attemptOf(old, 1, REFUSED));
  const place = await placeOf(old);
  const ledger = as(place.ledger, 100);
  const batch = { ...old, ledger, no: place.no, ref: { ...place, ledger } };
  expect(await retry(batch, 1, null, 'ada')).toBe('ok');
  expect(await begin(batch, 1, { nonce: 'h' })).toMatchObject({ refusal: 'approval' });
  const view = await readBatch(batch.ref);
  expect([view?.counts.planned, view?.sums.planned]).toEqual([1, 101n]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await approveBatch(batch.ref, 'ben', '')).toBe('approved');
  const due = `${ledger.keyPrefix}:b:${batch.no}:due`;
  await ledger.scripts.redis.zadd(due, Date.now(), '1');
  expect(await pay(batch, 1)).toBe(101);
  // The journal of another machine is found.
  await merge(old, 'readback', attemptOf(old, 2, null, { certainty: 'readback' }));
  await ledger.scripts.redis.zadd(due, Date.now(), '2');
  expect(await pay(batch, 2)).toBeLessThanOrEqual(100);
});
