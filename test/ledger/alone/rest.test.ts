import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { requestRetry } from '../../../src/ledger/moves/approvals.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { retriesOf } from '../../../src/operations/dead/retries.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { feed } from '../../support/ledger/feed-one.js';
import {
  type Line,
  ledgersOnRedis,
  limitedTo,
  sealed,
  type TestBatch,
} from '../../support/ledger/ledgers-on-redis.js';
import { audit, begin, feedAll, sendAs, settleAs, WHY } from '../../support/ledger/order-moves.js';
import { timePasses } from '../../support/ledger/time-passes.js';

const bench = ledgersOnRedis();
const OVER_100: Requirement = { overTokens: 100, overRows: null };
const DAY = 86_400_000;

async function requested({ ref }: TestBatch, who: string, indexes: readonly number[]) {
  const { tokens, hash } = await retriesOf(ref, indexes);
  const { answer } = await requestRetry(ref, { who, hash, why: null, limits: OVER_100, tokens, indexes });
  return answer;
}
const retry = ({ ref, row }: TestBatch, index: number) =>
  retryOrder(ref, index, row(index), {
    who: 'ada',
    why: null,
    at: 1,
    nonce: `r${Math.random()}`,
    limits: OVER_100,
  });

/** Ages what ada paid alone by that many days. */
const days = (ledger: TestBatch['ledger'], who: string) => timePasses(ledger, who, DAY);

test('retries by ada alone after an approval of the rest count with what she pays on the day they are sent', async () => {
  const ledger = limitedTo(await bench.ledger(), OVER_100);
  const prepared = { who: 'ada', limits: OVER_100 };
  const lines: Line[] = [{ tokens: 50 }, { tokens: 45 }, { tokens: 5 }];
  const batch = await sealed(ledger, lines, { id: 'rest', prepared });
  expect(await feed(ledger, batch.no, 2, '')).toEqual([1, 2]);
  for (const index of [1, 2]) await sendAs(batch, index, 'R');
  await days(ledger, 'ada');
  const other = await sealed(ledger, [{ tokens: 100 }], { id: 'other', prepared });
  await feedAll(other);
  await sendAs(other, 1, 'P');
  expect(await feedAll(batch)).toEqual([]);
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  // The rest is 5 tokens. The earlier dead letters need an approval of their own.
  expect(await feedAll(batch)).toEqual([3]);
  await days(ledger, 'ada');
  await pauseBatch(batch.ref, WHY, audit('paused'));
  // Monday: ada retries 50 alone; nothing leaves. Wednesday: 45 alone.
  expect(await requested(batch, 'ada', [1, 2])).toBe('alone');
  for (const index of [1, 2]) expect(await retry(batch, index)).toBe('ok');
  await days(ledger, 'ada');
  // Friday: 100 alone, and the batch resumes.
  const friday = await sealed(ledger, [{ tokens: 100 }], { id: 'friday', prepared });
  let paid = 0;
  await feedAll(friday);
  await sendAs(friday, 1, 'P');
  paid += 100;
  await resumeBatch(batch.ref, audit('resumed'), { owner: '' });
  await feedAll(batch);
  for (const index of [1, 2]) {
    const nonce = `n${index}`;
    const begun = await begin(batch, index, { nonce });
    if ('refusal' in begun) continue;
    await settleAs(batch, index, 'P', begun, { nonce });
    paid += lines[index - 1]?.tokens ?? 0;
  }
  expect(paid).toBeLessThanOrEqual(100);
});

test('a person who retried a dead letter of the rest cannot approve it', async () => {
  const lax = await bench.ledger();
  const ledger = limitedTo(lax, OVER_100);
  const batch = await sealed(ledger, [{ tokens: 60 }, { tokens: 40 }], {
    id: 'mixed',
    prepared: { who: 'ada', limits: OVER_100 },
  });
  expect(await feed(ledger, batch.no, 1, '')).toEqual([1]);
  await sendAs(batch, 1, 'R');
  await days(ledger, 'ada');
  const other = await sealed(ledger, [{ tokens: 90 }], {
    id: 'beside',
    prepared: { who: 'ada', limits: OVER_100 },
  });
  await feedAll(other);
  await sendAs(other, 1, 'P');
  expect(await feedAll(batch)).toEqual([]);
  const by = { who: 'cleo', why: null, at: 1, nonce: 'c', person: 'cleo' };
  expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toBe('ok');
  expect(await approveBatch(batch.ref, 'Cleo')).toBe('same-person');
  expect(await approveBatch(batch.ref, 'ada')).toBe('same-person');
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  await feedAll(batch);
  for (const index of [1, 2])
    expect(await begin(batch, index, { nonce: `m${index}` })).not.toHaveProperty('refusal');
});
