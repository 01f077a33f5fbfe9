import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { requestRetry } from '../../../src/ledger/moves/approvals.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { retriesOf } from '../../../src/operations/dead/retries.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { forgotten, mergeAttempts, placeOf } from '../../support/ledger/forgotten-batch.js';
import { attemptOf, REFUSED } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begin, feedAll, settleAs, WHY } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
const strictly = (ledger: RealmLedger): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(100) },
  batchers: new Map(),
});
async function recovered(csv: string, indexes: readonly number[]): Promise<TestBatch> {
  const old = await forgotten(bench, csv);
  await mergeAttempts(old, ...indexes.map((index) => attemptOf(old, index, REFUSED)));
  const ref = await placeOf(old);
  const ledger = strictly(ref.ledger);
  return { ...old, ledger, no: ref.no, ref: { ...ref, ledger } };
}
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
const retry = ({ ref, row }: TestBatch, index: number, limit: number | null) =>
  retryOrder(ref, index, row(index), {
    who: 'ada',
    why: null,
    at: 1,
    nonce: `r${Math.random()}`,
    limits: over(limit),
  });

test('dead letters of a recovered batch are sent after another person approves their retry', async () => {
  const batch = await recovered('member,tokens\n1,5000\n2,5000\n', [1, 2]);
  for (const index of [1, 2]) {
    const by = { who: 'ada', why: null, at: 1, nonce: `p${index}`, person: 'ada' };
    expect(await retryOrder(batch.ref, index, batch.row(index), by)).toBe('ok');
  }
  expect(await pay(batch, 1, 2)).toBe(0);
  expect((await readBatch(batch.ref))?.gate?.closed).toBe('approval');
  expect(await approveBatch(batch.ref, 'ada', '')).toBe('same-person');
  expect(await approveBatch(batch.ref, 'ben', '')).toBe('approved');
  // They stay due, a little later.
  const due = `${batch.ledger.keyPrefix}:b:${batch.no}:due`;
  expect(await batch.ledger.scripts.redis.zcount(due, Date.now(), Date.now() + 31_000)).toBe(2);
  for (const index of [1, 2]) await batch.ledger.scripts.redis.zadd(due, Date.now(), index);
  expect(await pay(batch, 1, 2)).toBe(10_000);
});

test('dead letters of a recovered batch that a person retries with their own configuration are checked by the sender', async () => {
  const batch = await recovered('member,tokens\n1,5000\n2,5000\n', [1, 2]);
  for (const index of [1, 2]) expect(await retry(batch, index, null)).toBe('ok');
  expect(await pay(batch, 1, 2)).toBeLessThanOrEqual(100);
});

test('dead letters that ada retries alone on several days during a pause do not all leave on one day', async () => {
  const batch = await recovered('member,tokens\n1,100\n2,100\n3,100\n', [1, 2, 3]);
  const { redis } = batch.ledger.scripts;
  const key = `${batch.ledger.keyPrefix}:alone:ada`;
  await retry(batch, 1, 100);
  let isPaused = false;
  for (const index of [1, 2, 3]) {
    const { tokens, hash } = await retriesOf(batch.ref, [index]);
    const asked = { who: 'ada', hash, why: null, limits: over(100), tokens, indexes: [index] };
    expect((await requestRetry(batch.ref, asked)).answer).toBe('alone');
    expect(await retry(batch, index, 100)).toBe('ok');
    if (!isPaused) await pauseBatch(batch.ref, WHY, audit('paused'));
    isPaused = true;
    for (const one of await redis.zrange(key, '0', '-1')) await redis.zadd(key, Date.now() - 86_400_001, one);
  }
  await resumeBatch(batch.ref, audit('resumed'), { owner: '' });
  expect(await pay(batch, 1, 2, 3)).toBeLessThanOrEqual(100);
});
