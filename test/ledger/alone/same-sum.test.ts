import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { approve } from '../../../src/ledger/moves/approvals.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { attemptOf, merge, PAID } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, feedAll, sendAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
const as = (ledger: RealmLedger, overTokens: number | null): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(overTokens) },
  batchers: new Map(),
});
const retry = ({ ref, row }: TestBatch, index: number) =>
  retryOrder(ref, index, row(index), {
    who: 'ada',
    why: null,
    at: 1,
    nonce: `r${Math.random()}`,
    limits: over(null),
    person: 'ada',
  });

test('an approval of the rest covers the orders shown, not others with the same sum', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 5000 }, { tokens: 5000 }], {
    id: 'zz-s',
    prepared: { who: 'ada', limits: over(null) },
  });
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  expect(await begin(mine, 2, { nonce: 'x2' })).toMatchObject({ refusal: 'approval' });
  // ben is shown order 2.
  const view = await readBatch(batch.ref);
  const shown = {
    orders: view?.counts.planned ?? 0,
    tokens: view?.sums.planned ?? 0n,
    retried: view?.retried ?? 0,
  };
  // Another sender’s journal shows that it was paid. ada retries order 1 with her own configuration.
  await merge(batch, 'manual', attemptOf(batch, 2, PAID));
  expect(await retry(batch, 1)).toBe('ok');
  expect(await begin(mine, 1, { nonce: 'x1' })).toMatchObject({ refusal: 'approval' });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const answer = await approve(
    { kind: 'batch', batch: batch.ref },
    { who: 'ben', hash: view?.confirmed ?? '', shown },
    null,
  );
  expect(answer).toBe('changed');
  await feedAll(mine);
  expect(await begin(mine, 1, { nonce: 'x3' })).toHaveProperty('refusal');
});
