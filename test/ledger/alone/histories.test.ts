import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { approve, requestRetry } from '../../../src/ledger/moves/approvals.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { cancelBatch, pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { retriesOf } from '../../../src/operations/dead/retries.js';
import { importPlan } from '../../../src/planning/store-plan.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { planCsv } from '../../support/ledger/csv-plans.js';
import { forgotten, mergeAttempts, placeOf } from '../../support/ledger/forgotten-batch.js';
import { importing } from '../../support/ledger/importing.js';
import { attemptOf, REFUSED } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import {
  audit,
  begin,
  begun,
  claimFor,
  concludeAs,
  feedAll,
  held,
  sendAs,
  settleAs,
  WHY,
} from '../../support/ledger/order-moves.js';
import { timePasses } from '../../support/ledger/time-passes.js';

const bench = ledgersOnRedis();
const HOUR = 3_600_000;
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
const as = (ledger: RealmLedger, overTokens: number | null): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(overTokens) },
  batchers: new Map(),
});
const byAda = (tokens: number | null) => ({ who: 'ada', limits: over(tokens) });
const retry = (
  { ref, row }: TestBatch,
  index: number,
  limit: number | null = 100,
  person: string | undefined = undefined,
) =>
  retryOrder(ref, index, row(index), {
    who: 'ada',
    why: null,
    at: 1,
    nonce: `r${Math.random()}`,
    limits: over(limit),
    ...(person ? { person } : {}),
  } as never);
const pass = (ledger: RealmLedger, ms: number) => timePasses(ledger, 'ada', ms);
async function pay(batch: TestBatch, ...indexes: readonly number[]): Promise<number> {
  await feedAll(batch);
  let paid = 0;
  for (const index of indexes) {
    const nonce = `n${Math.random()}`;
    const b = await begin(batch, index, { nonce });
    if ('refusal' in b) continue;
    await settleAs(batch, index, 'P', b, { nonce });
    paid += batch.row(index).order.tokens;
  }
  return paid;
}

test('an approval of a finished retry covers no later retry', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 5000 }], { id: 'zz-a', prepared: byAda(null) });
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  const { tokens, hash } = await retriesOf(mine.ref, [1]);
  expect(
    (await requestRetry(mine.ref, { who: 'ada', hash, why: null, limits: over(100), tokens, indexes: [1] }))
      .answer,
  ).toBe('asked');
  // The approval lasts 1 ms.
  expect(await approve({ kind: 'retry', batch: mine.ref }, { who: 'ben', hash }, null)).toBe('approved');
  // Four days pass.
  const key = `${ledger.keyPrefix}:b:${batch.no}:retries`;
  const entry = (await ledger.scripts.redis.hget(key, '1')) ?? '';
  await ledger.scripts.redis.hset(key, '1', entry.replace(/^\d+/, String(Date.now() - 24 * HOUR)));
  // The approval no longer counts.
  expect(await retry(mine, 1, 100)).not.toBe('ok');
  // ada retries with her own configuration.
  expect(await retry(mine, 1, null, 'ada')).toBe('ok');
  expect(await pay(mine, 1)).toBeLessThanOrEqual(100);
});

test('an approval of the rest of a recovered batch does not cover its dead letters', async () => {
  const csv = 'member,tokens\n1,5000\n2,5000\n3,101\n';
  const old = await forgotten(bench, csv);
  await mergeAttempts(old, ...[1, 2].map((index) => attemptOf(old, index, REFUSED)));
  const place = await placeOf(old);
  const ledger = as(place.ledger, 100);
  const plan = await planCsv(place.ledger, csv);
  const { ref } = await importPlan(
    plan,
    importing(ledger, { now: 1, prepared: { ...byAda(100), start: null } }),
  );
  const batch = { ...old, ledger, no: ref.no, ref: { ...ref, ledger } };
  const view = await readBatch(batch.ref);
  expect(view?.gate?.closed).toBe('approval');
  expect(view?.counts.planned).toBe(1);
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  expect(await pay(batch, 3)).toBe(101);
  let paid = 0;
  for (const index of [1, 2]) {
    await retry(batch, index, 100, 'ada');
    paid += await pay(batch, index);
  }
  expect(paid).toBeLessThanOrEqual(100);
});

test('an order that was under way when the rest was approved counts when it leaves again', async () => {
  const lax = as(await bench.ledger(), 1000);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 100 }, { tokens: 1 }], { id: 'zz-c', prepared: byAda(1000) });
  await feedAll(batch);
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  const one = await begun(mine, 1, { nonce: 'x1' });
  expect(await begin(mine, 2, { nonce: 'x2' })).toMatchObject({ refusal: 'approval' });
  const view = await readBatch(batch.ref);
  expect([view?.counts.planned, view?.sums.planned]).toEqual([1, 1n]);
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  // A 429, or the connection was refused.
  await settleAs(mine, 1, 'w', one, { nonce: 'x1' });
  await feedAll(mine);
  await pauseBatch(batch.ref, WHY, audit('paused'));
  await pass(ledger, 25 * HOUR);
  const next = await sealed(ledger, [{ tokens: 100 }], { id: 'zz-c2', prepared: byAda(100) });
  let paid = await pay(next, 1);
  await resumeBatch(batch.ref, audit('resumed'), { owner: '' });
  paid += await pay(mine, 1);
  // ben was shown 1 token; this order is not part of what he was shown.
  expect(paid).toBeLessThanOrEqual(100);
});

test('orders that the daily cap holds back do not count', async () => {
  const ledger = as(await bench.ledger(), 100);
  const batch = await sealed(ledger, [{ tokens: 100 }], { id: 'zz-d', prepared: byAda(100) });
  await feedAll(batch);
  expect(await begin(batch, 1, { nonce: 'x1', dayCap: 50 })).toMatchObject({ refusal: 'cap' });
  await cancelBatch(batch.ref, audit('cancelled'));
  const next = await sealed(ledger, [{ tokens: 100 }], { id: 'zz-d2', prepared: byAda(100) });
  expect((await readBatch(next.ref))?.gate?.closed).toBe(null);
});

test('a schedule’s batch keeps its first person when it needs another approval', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const entry = JSON.stringify({
    hash: 'text',
    approved: { who: 'ada', at: 1, asked: null, audience: null },
  });
  await ledger.scripts.redis.hset(`${ledger.keyPrefix}:rules:schedules`, 'daily', entry);
  const schedule = {
    rule: 'daily',
    hash: 'text',
    audience: 'these',
    preparer: 'ada',
    last: '{"at":5}',
    missed: null,
    only: true,
  };
  const run = { account: 'daily 1', limit: null, number: null, id: 'r', record: '{}', schedule };
  const batch = await sealed(lax, [{ tokens: 1 }, { tokens: 1 }], {
    run: run as never,
    prepared: byAda(null),
  });
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  expect(await retry(batch, 1, null, 'cleo')).toBe('ok');
  await feedAll(batch);
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  expect(await begin(mine, 2, { nonce: 'x2' })).toMatchObject({ refusal: 'approval' });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
});

test('an order that a process without limits had sent counts when it leaves again', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 5000 }, { tokens: 101 }], {
    id: 'zz-c3',
    prepared: byAda(null),
  });
  await feedAll(batch);
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  const one = await begun(batch, 1, { nonce: 'x1' });
  expect(await begin(mine, 2, { nonce: 'x2' })).toMatchObject({ refusal: 'approval' });
  const view = await readBatch(batch.ref);
  expect([view?.counts.planned, view?.sums.planned]).toEqual([1, 101n]);
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  // 429, or the connection was refused.
  await settleAs(batch, 1, 'w', one, { nonce: 'x1' });
  expect(await pay(mine, 1, 2)).toBeLessThanOrEqual(101 + 100);
});

test('an order that the approver had retried is not covered by their own approval', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 5000 }, { tokens: 101 }], {
    id: 'zz-c4',
    prepared: byAda(null),
  });
  await feedAll(batch);
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  await sendAs(batch, 1, 'R');
  expect(await retry(batch, 1, null, 'ben')).toBe('ok');
  const one = await begun(batch, 1, { nonce: 'x1' });
  expect(await begin(mine, 2, { nonce: 'x2' })).toMatchObject({ refusal: 'approval' });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  await settleAs(batch, 1, 'w', one, { nonce: 'x1' });
  // ben retried the 5,000 himself.
  expect(await pay(mine, 1)).toBe(0);
});

test('an order called unpaid counts each time that it is sent', async () => {
  const ledger = as(await bench.ledger(), 100);
  const batch = await sealed(ledger, [{ tokens: 100 }], { id: 'zz-f', prepared: byAda(100) });
  await feedAll(batch);
  let left = 0;
  for (let i = 0; i < 4; i++) {
    const nonce = `n${i}`;
    const one = await begin(batch, 1, { nonce });
    if ('refusal' in one) break;
    left += 100;
    // The payment was made, but its answer is lost.
    await settleAs(batch, 1, 'D', one, { nonce });
    await concludeAs(batch, 1, 'D', 'X');
    expect(await retry(batch, 1, null, 'ada')).toBe('ok');
  }
  expect(left).toBeLessThanOrEqual(100);
});

test('an order of a recovered batch that waits for an approval holds no member', async () => {
  const csv = 'member,tokens\n1,5000\n';
  const old = await forgotten(bench, csv);
  await mergeAttempts(old, attemptOf(old, 1, REFUSED));
  const place = await placeOf(old);
  const ledger = as(place.ledger, 100);
  const batch = { ...old, ledger, no: place.no, ref: { ...place, ledger } };
  expect(await retry(batch, 1, null, 'ada')).toBe('ok');
  const hold = await held(batch, 1);
  expect(await begin(batch, 1, { nonce: 'h', hold })).toMatchObject({ refusal: 'approval' });
  const other = await sealed(ledger, [{ member: '1', tokens: 5 }], {
    id: 'zz-other',
    prepared: { who: 'cleo', limits: over(100) },
  });
  expect(await feedAll(other)).toEqual([1]);
  expect(await claimFor(other, 1)).toMatchObject({ answer: 'go' });
});

test('a slice recorded by a clock far ahead does not count', async () => {
  const ledger = as(await bench.ledger(), 100);
  const { redis } = ledger.scripts;
  // The store’s clock was a year ahead when 100 tokens were sent.
  const ahead = Math.floor((Date.now() + 365 * 86_400_000) / 600_000);
  await redis.hset(`${ledger.keyPrefix}:alone:ada:left`, String(ahead), '1 100');
  const batch = await sealed(ledger, [{ tokens: 1 }], { id: 'zz-k', prepared: byAda(100) });
  expect((await readBatch(batch.ref))?.gate?.closed).toBe(null);
});
