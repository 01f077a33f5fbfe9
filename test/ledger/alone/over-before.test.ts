import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { approve, requestRetry } from '../../../src/ledger/moves/approvals.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { retriesOf } from '../../../src/operations/dead/retries.js';
import { mergeAttempts } from '../../support/ledger/forgotten-batch.js';
import { attemptOf, REFUSED } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, feedAll, settleAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
const as = (ledger: RealmLedger, overTokens: number | null): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(overTokens) },
  batchers: new Map(),
});
const byAda = (tokens: number | null) => ({ who: 'ada', limits: over(tokens) });
const retry = ({ ref, row }: TestBatch, index: number, person: string | null, limit: number | null) =>
  retryOrder(ref, index, row(index), {
    who: person ?? 'x',
    why: null,
    at: 1,
    nonce: `r${Math.random()}`,
    limits: over(limit),
    person,
  });
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

test('an approved retry in a batch that ended before it began needs no further approval', async () => {
  const ledger = as(await bench.ledger(), 100);
  const batch = await sealed(ledger, [{ tokens: 60 }], { id: 'zz-6', prepared: byAda(100) });
  await mergeAttempts(batch, attemptOf(batch, 1, REFUSED));
  const other = await sealed(ledger, [{ tokens: 100 }], { id: 'zz-6b', prepared: byAda(100) });
  expect(await pay(other, 1)).toBe(100);
  const { tokens, hash } = await retriesOf(batch.ref, [1]);
  expect(
    (await requestRetry(batch.ref, { who: 'ada', hash, why: null, limits: over(100), tokens, indexes: [1] }))
      .answer,
  ).toBe('asked');
  expect(await approve({ kind: 'retry', batch: batch.ref }, { who: 'ben', hash }, null)).toBe('approved');
  expect(await retry(batch, 1, 'ada', 100)).toBe('ok');
  expect(await pay(batch, 1)).toBe(60);
});
