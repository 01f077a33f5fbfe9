import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { importPlan } from '../../../src/planning/store-plan.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { planCsv } from '../../support/ledger/csv-plans.js';
import { forgotten, mergeAttempts, placeOf } from '../../support/ledger/forgotten-batch.js';
import { importing } from '../../support/ledger/importing.js';
import { attemptOf, REFUSED, WAITS } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begin, feedAll, sendAs, settleAs, WHY } from '../../support/ledger/order-moves.js';

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
test('orders that journals restore above the cursor are fed again after the approval', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 60 }, { tokens: 60 }, { tokens: 60 }], {
    id: 'zz-s',
    prepared: byAda(null),
  });
  await mergeAttempts(batch, attemptOf(batch, 3, WAITS));
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  expect(await begin(mine, 3, { nonce: 'a' })).toMatchObject({ refusal: 'approval' });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  expect(await feedAll(mine)).toEqual([1, 2, 3]);
});

import { feed } from '../../support/ledger/feed-one.js';

test('orders that journals restore while the batch is being fed are fed again after the approval', async () => {
  const csv = 'member,tokens\n1,60\n2,30\n3,60\n';
  const old = await forgotten(bench, csv);
  await mergeAttempts(old, attemptOf(old, 3, REFUSED));
  const place = await placeOf(old);
  const ledger = as(place.ledger, 100);
  const plan = await planCsv(place.ledger, csv);
  const { ref } = await importPlan(
    plan,
    importing(ledger, { now: 1, prepared: { ...byAda(100), start: null } }),
  );
  const batch = { ...old, ledger, no: ref.no, ref: { ...ref, ledger } };
  expect(await feed(ledger, ref.no, 1, '')).toEqual([1]);
  await sendAs(batch, 1, 'P');
  expect(await retry(batch, 3, null, 'ada')).toBe('ok');
  expect(await begin(batch, 3, { nonce: 'a' })).toMatchObject({ refusal: 'approval' });
  expect((await readBatch(batch.ref))?.counts.planned).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  expect(await pay(batch, 2)).toBe(30);
  for (let i = 0; i < 5; i++) await feedAll(batch);
  expect(await pay(batch, 3)).toBe(60);
  expect((await readBatch(batch.ref))?.state).toBe('done');
});

test('resume --first feeds restored orders without any limits', async () => {
  const csv = 'member,tokens\n1,60\n2,30\n3,60\n';
  const old = await forgotten(bench, csv);
  await mergeAttempts(old, attemptOf(old, 3, REFUSED));
  const place = await placeOf(old);
  const { ledger } = place;
  const { ref } = await importPlan(await planCsv(ledger, csv), importing(ledger, { now: 1 }));
  const batch = { ...old, ledger, no: ref.no, ref: { ...ref, ledger } };
  expect(await feed(ledger, ref.no, 1, '')).toEqual([1]);
  await sendAs(batch, 1, 'P');
  expect(await retry(batch, 3, null)).toBe('ok');
  await pauseBatch(batch.ref, WHY, audit('paused'));
  await resumeBatch(batch.ref, audit('resumed'), { owner: '', first: { orders: 2, reason: WHY } } as never);
  expect(await feedAll(batch)).toEqual([2, 3]);
});
