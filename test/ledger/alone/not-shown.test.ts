import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { mergeAttempts } from '../../support/ledger/forgotten-batch.js';
import { attemptOf, merge, WAITS } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, begun, feedAll, orphanAs, sendAs, settleAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
const as = (ledger: RealmLedger, overTokens: number | null): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(overTokens) },
  batchers: new Map(),
});
const byAda = (tokens: number | null) => ({ who: 'ada', limits: over(tokens) });
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
async function closedForRest(first: 'D' | 'R' | 'orphan', id: string) {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 5000 }, { tokens: 101 }], { id, prepared: byAda(null) });
  await feedAll(batch);
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  if (first === 'orphan') {
    await begun(batch, 1, { nonce: 'nonce-1' });
    await mergeAttempts(batch);
    expect(await orphanAs(batch, 1, 'D' as never)).toBe(true);
  } else await sendAs(batch, 1, first, { nonce: 'nonce-1' });
  expect(await begin(mine, 2, { nonce: 'x2' })).toMatchObject({ refusal: 'approval' });
  const view = await readBatch(batch.ref);
  expect([view?.counts.planned, view?.sums.planned]).toEqual([1, 101n]);
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  return { batch, mine };
}

for (const how of ['D', 'orphan'] as const)
  test(`an approval of the rest does not cover a doubt (${how}) that a journal later shows as answered 429`, async () => {
    const { batch, mine } = await closedForRest(how, `zz-${how.toLowerCase()}`);
    await merge(batch, 'manual', attemptOf(batch, 1, WAITS));
    expect((await readBatch(batch.ref))?.counts).toEqual({ planned: 2 });
    expect(await pay(mine, 1, 2)).toBeLessThanOrEqual(101 + 100);
  });

test('an approval of the rest does not cover a dead letter that a journal later shows as sent again and answered 429', async () => {
  const { batch, mine } = await closedForRest('R', 'zz-r');
  const other = { nonce: 'other', attempts: 2 };
  await merge(batch, 'idempotent', attemptOf(batch, 1, null, other));
  expect((await readBatch(batch.ref))?.counts).toEqual({ planned: 1, unknown: 1 });
  await merge(batch, 'idempotent', attemptOf(batch, 1, WAITS, other));
  expect((await readBatch(batch.ref))?.counts).toEqual({ planned: 2 });
  expect(await pay(mine, 1, 2)).toBeLessThanOrEqual(101 + 100);
});

test('an approval of a rest that has already begun does not cover such a doubt', async () => {
  const { batch, mine } = await closedForRest('D', 'zz-b');
  expect(await pay(mine, 2)).toBe(101);
  await merge(batch, 'manual', attemptOf(batch, 1, WAITS));
  expect(await pay(mine, 1)).toBeLessThanOrEqual(100);
});
