import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { attemptOf, merge, WAITS } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, begun, concludeAs, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';

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
    const begun = await begin(batch, index, { nonce });
    if ('refusal' in begun) continue;
    await settleAs(batch, index, 'P', begun, { nonce });
    paid += batch.row(index).order.tokens;
  }
  return paid;
}

test('an approval of the batch does not cover a left-out duplicate row that a journal restores', async () => {
  const plain = await bench.ledger();
  const ledger = as(plain, 100);
  const other = await sealed(plain, [{ tokens: 5000, reference: 'x' }], { id: 'orig' });
  const batch = await sealed(
    ledger,
    [{ tokens: 5000, reference: 'x', duplicateOf: 'orig-1', member: '9001' }, { tokens: 101 }],
    { id: 'zz-d', prepared: byAda(100) },
  );
  expect((await readBatch(batch.ref))?.counts).toEqual({ planned: 1, duplicate: 1 });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  expect(await pay(batch, 2)).toBe(101);
  await feedAll({ ...other, ledger: plain });
  await sendAs({ ...other, ledger: plain }, 1, 'R');
  await merge(batch, 'manual', attemptOf(batch, 1, null));
  await merge(batch, 'manual', attemptOf(batch, 1, WAITS));
  expect((await readBatch(batch.ref))?.counts).toEqual({ planned: 1, paid: 1 });
  expect(await pay(batch, 1)).toBeLessThanOrEqual(100);
});

test('an approval of the batch does not cover an order that a person called unpaid', async () => {
  const ledger = as(await bench.ledger(), 100);
  const batch = await sealed(ledger, [{ tokens: 5000 }, { tokens: 1 }], { id: 'zz-7', prepared: byAda(100) });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  await feedAll(batch);
  const one = await begun(batch, 1, { nonce: 'x1' });
  await settleAs(batch, 1, 'D', one, { nonce: 'x1' });
  await concludeAs(batch, 1, 'D', 'X');
  const other = { nonce: 'other', attempts: 2 };
  await merge(batch, 'idempotent', attemptOf(batch, 1, null, other));
  await merge(batch, 'idempotent', attemptOf(batch, 1, WAITS, other));
  expect((await readBatch(batch.ref))?.counts).toEqual({ planned: 2 });
  expect(await pay(batch, 1)).toBeLessThanOrEqual(100);
});
