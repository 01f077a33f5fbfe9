import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';

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

import { feed } from '../../support/ledger/feed-one.js';

test('a person who retried a dead letter without a token cannot approve it with their token', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 5000 }, { tokens: 101 }], {
    id: 'zz-n1',
    prepared: byAda(null),
  });
  await feedAll(batch);
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  await sendAs(batch, 1, 'R');
  // ben, with his own configuration and without a token
  expect(await retry(batch, 1, null)).toBe('ok');
  expect(await begin(mine, 1, { nonce: 'x1' })).toMatchObject({ refusal: 'approval' });
  await new Promise((resolve) => setTimeout(resolve, 5));
  // ben, with his token
  expect.soft(await approveBatch(batch.ref, 'ben')).not.toBe('approved');
  expect(await pay(mine, 1, 2)).toBeLessThanOrEqual(100);
});

test('a retry by a known person does not allow approving a batch without a known preparer', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  // ben prepares it without a token and without limits; a process without limits sends the first order
  const batch = await sealed(lax, [{ tokens: 200 }, { tokens: 9000 }], {
    id: 'zz-n2',
    prepared: { who: null, limits: over(null) } as never,
  });
  await feed(lax, batch.no, 1, '');
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  await sendAs(batch, 1, 'R');
  expect(await retry(batch, 1, null, 'ada')).toBe('ok');
  expect(await begin(mine, 1, { nonce: 'x1' })).toMatchObject({ refusal: 'approval' });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect.soft(await approveBatch(batch.ref, 'ben')).toBe('nameless');
  expect(await pay(mine, 1, 2)).toBe(0);
});
