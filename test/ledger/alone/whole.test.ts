import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { attemptOf, merge, PAID, WAITS } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, concludeAs, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
const as = (ledger: RealmLedger, overTokens: number | null): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(overTokens) },
  batchers: new Map(),
});
const byAda = (tokens: number | null) => ({ who: 'ada', limits: over(tokens) });
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
test('an order of a fully approved batch that ada keeps calling unpaid is not sent more often than approved', async () => {
  const ledger = as(await bench.ledger(), 100);
  const batch = await sealed(ledger, [{ tokens: 5000 }], { id: 'zz-w', prepared: byAda(100) });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  await feedAll(batch);
  let left = 0;
  for (let i = 0; i < 4; i++) {
    const nonce = `n${i}`;
    const one = await begin(batch, 1, { nonce });
    if ('refusal' in one) break;
    left += 5000;
    // The payment was made, but its answer is lost.
    await settleAs(batch, 1, 'D', one, { nonce });
    await concludeAs(batch, 1, 'D', 'X');
    // with her token and her own profile’s limits
    if ((await retry(batch, 1, 100, 'ada')) !== 'ok') break;
  }
  expect(left).toBeLessThanOrEqual(5000 + 100);
});

import { withdrawApprovals } from '../../../src/ledger/moves/approvals.js';

test('a batch that ended for a moment does not keep a withdrawn approval', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 101 }, { tokens: 102 }], { id: 'zz-v', prepared: byAda(null) });
  await feedAll(batch);
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  await sendAs(batch, 1, 'D', { nonce: 'nonce-1' });
  expect(await begin(mine, 2, { nonce: 'x2' })).toMatchObject({ refusal: 'approval' });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  // Another sender’s journal shows that order 2 was paid.
  await merge(batch, 'manual', attemptOf(batch, 2, PAID));
  const { redis } = ledger.scripts;
  expect(await redis.hget(`${ledger.keyPrefix}:b:${batch.no}`, 'approval')).toBeNull();
  await withdrawApprovals(ledger.scripts, 'ben');
  await merge(batch, 'manual', attemptOf(batch, 1, WAITS));
  expect(await pay(mine, 1)).toBe(0);
});
