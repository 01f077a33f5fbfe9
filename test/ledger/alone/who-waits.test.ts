import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { forgotten, mergeAttempts, placeOf } from '../../support/ledger/forgotten-batch.js';
import { attemptOf, REFUSED } from '../../support/ledger/journaled-attempt.js';
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

test('a recovered batch names the person who retried its dead letter as one whose approval does not count', async () => {
  const old = await forgotten(bench, 'member,tokens\n1,5000\n2,5000\n');
  await mergeAttempts(old, ...[1, 2].map((index) => attemptOf(old, index, REFUSED)));
  const ref = await placeOf(old);
  const ledger = as(ref.ledger, 100);
  const batch = { ...old, ledger, no: ref.no, ref: { ...ref, ledger } };
  expect(await retry(batch, 1, 'ada', null)).toBe('ok');
  await begin(batch, 1, { nonce: 'h' });
  const view = await readBatch(batch.ref);
  expect(view?.reason?.message).toBe('It needs the approval of a person other than ada.');
  expect(await approveBatch(batch.ref, 'ben', '')).toBe('approved');
});

test('a batch with a dead letter that was retried without a token reports that it cannot be approved', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const batch = await sealed(lax, [{ tokens: 5000 }, { tokens: 101 }], { id: 'zz-n', prepared: byAda(null) });
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  expect(await retry(batch, 1, null, null)).toBe('ok');
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  expect(await begin(mine, 1, { nonce: 'x1' })).toMatchObject({ refusal: 'approval' });
  expect((await readBatch(batch.ref))?.reason?.message).toContain('cannot get one');
  expect(await approveBatch(batch.ref, 'ben')).toBe('nameless');
});
