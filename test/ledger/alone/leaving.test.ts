import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { requestRetry } from '../../../src/ledger/moves/approvals.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { payableOf } from '../../../src/operations/approvals/approvals.js';
import { retriesOf } from '../../../src/operations/dead/retries.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { feed } from '../../support/ledger/feed-one.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begin, feedAll, sendAs, settleAs, WHY } from '../../support/ledger/order-moves.js';
import { timePasses } from '../../support/ledger/time-passes.js';

const bench = ledgersOnRedis();
const HOUR = 3_600_000;
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
/** The ledger as a separate process with such a profile sees it. */
const as = (ledger: RealmLedger, overTokens: number | null): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(overTokens) },
  batchers: new Map(),
});
const byAda = (tokens: number) => ({ who: 'ada', limits: over(tokens) });

async function requested({ ref }: TestBatch, who: string, indexes: readonly number[], limit = 100) {
  const { tokens, hash } = await retriesOf(ref, indexes);
  const { answer } = await requestRetry(ref, { who, hash, why: null, limits: over(limit), tokens, indexes });
  return answer;
}
const retry = ({ ref, row }: TestBatch, index: number, limit: number | null = 100) =>
  retryOrder(ref, index, row(index), {
    who: 'ada',
    why: null,
    at: 1,
    nonce: `r${Math.random()}`,
    limits: over(limit),
  });

/** Ages what ada paid alone by `ms`. */
const pass = (ledger: RealmLedger, ms: number) => timePasses(ledger, 'ada', ms);
/** Pays the orders; returns the tokens paid. */
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

test('a sender with stricter limits keeps the count of its batch, so a laxer one cannot pay its own limit again', async () => {
  for (const strict of [50, 5]) {
    const lax = as(await bench.ledger(), 100);
    let paid = 0;
    for (let i = 0; i < 4; i++) {
      const batch = await sealed(lax, [{ tokens: 70 }, { tokens: 7 }], {
        id: `b-${strict}-${i}`,
        prepared: byAda(100),
      });
      if ((await feed(lax, batch.no, 9, '')).length === 0) break;
      paid += await pay(batch, 1);
      // The other process comes to the second order.
      const other = { ...batch, ledger: as(lax, strict) };
      await begin(other, 2, { nonce: 'n', session: 'worker' }).catch(() => null);
    }
    expect([strict, paid <= 100]).toEqual([strict, true]);
  }
});

test('a retry that is sent a day later counts on the day it is sent', async () => {
  const ledger = as(await bench.ledger(), 100);
  const batch = await sealed(ledger, [{ tokens: 90 }, { tokens: 10 }], { id: 'first', prepared: byAda(100) });
  expect(await feed(ledger, batch.no, 1, '')).toEqual([1]);
  await sendAs(batch, 1, 'R');
  await pass(ledger, 25 * HOUR);
  // The next day the other order dies, too.
  expect(await feedAll(batch)).toEqual([2]);
  await sendAs(batch, 2, 'R');
  expect(await requested(batch, 'ada', [1])).toBe('alone');
  expect(await retry(batch, 1)).toBe('ok');
  await pauseBatch(batch.ref, WHY, audit('paused'));
  await pass(ledger, 23 * HOUR);
  await resumeBatch(batch.ref, audit('resumed'), { owner: '' });
  let paid = await pay(batch, 1);
  await pass(ledger, 1.5 * HOUR);
  const next = await sealed(ledger, [{ tokens: 90 }], { id: 'next', prepared: byAda(100) });
  paid += await pay(next, 1);
  // All of it within an hour and a half.
  expect(paid).toBeLessThanOrEqual(100);
});

test('an approved rest does not grow by retries made before it begins', async () => {
  const ledger = as(await bench.ledger(), 100);
  const lax = as(ledger, null);
  // A process without limits sends it until the first order dies.
  const batch = await sealed(lax, [{ tokens: 5000 }, { tokens: 5 }], {
    id: 'first',
    prepared: { who: 'ada', limits: over(null) },
  });
  expect(await feed(lax, batch.no, 1, '')).toEqual([1]);
  await sendAs(batch, 1, 'R');
  await pass(ledger, 25 * HOUR);
  const mine = { ...batch, ledger };
  const other = await sealed(ledger, [{ tokens: 100 }], { id: 'other', prepared: byAda(100) });
  expect(await pay(other, 1)).toBe(100);
  expect(await feedAll(mine)).toEqual([]);
  const view = await readBatch(batch.ref);
  if (view === undefined) throw new Error('gone');
  // ben is shown this.
  expect(payableOf(view)).toEqual({ orders: 1, tokens: 5n });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  // Before a worker delivers the order, ada retries it with her own configuration.
  expect(await retry(mine, 1, null)).toBe('ok');
  expect(await pay(mine, 1, 2)).toBeLessThanOrEqual(5);
});

test('an order counts once, when it was last sent', async () => {
  const ledger = as(await bench.ledger(), 100);
  const batch = await sealed(ledger, [{ tokens: 60 }], { id: 'once', prepared: byAda(100) });
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  expect(await retry(batch, 1, null)).toBe('ok');
  expect(await pay(batch, 1)).toBe(60);
  const next = await sealed(ledger, [{ tokens: 40 }, { tokens: 1 }], { id: 'rest', prepared: byAda(1000) });
  const lax = { ...next, ledger: as(ledger, 1000) };
  expect(await feedAll(lax)).toEqual([1, 2]);
  expect(await pay(next, 1, 2)).toBe(40);
});
