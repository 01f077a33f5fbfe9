import { expect, test } from 'vitest';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { acceptMissing, REMOVED } from '../../src/ledger/sessions/accept-missing.js';
import { acceptMoved, disarm } from '../../src/ledger/sessions/fence.js';
import { checkRulings } from '../../src/operations/doubts/resolve.js';
import { mergeContext } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs, feedAll, sendAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';

const bench = ledgersOnRedis();

test('an order alone names its first doubt, unless the store has forgotten something: it counts doubts anew', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}]);
  await feedAll(batch);
  await sendAs(batch, 2, 'P');
  const back = await photograph(ledger);
  const ruling = { place: { ref: batch.ref, index: 1 }, verdict: 'unpaid', doubt: null } as const;
  await sendAs(batch, 1, 'D', { nonce: 'one', sentAt: Date.now() - 1e7 });
  const { doubt } = await readRecord(batch.ref, 1);
  expect(await checkRulings([ruling])).toEqual([{ ...ruling, doubt }]);
  await concludeAs(batch, 1, 'D', 'X', { settleMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  await retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: 1, nonce: 'x' });
  await sendAs(batch, 1, 'P', { nonce: 'two' });
  // The store is restored, the disk that knows of it is lost, and a person accepts that.
  await back();
  await acceptMissing(mergeContext(batch, 'manual'), REMOVED, { who: 'ada', at: Date.now() });
  expect((await readRecord(batch.ref, 1)).doubt).not.toBe(doubt);
  await expect(checkRulings([ruling])).rejects.toThrow();
  const named = { ...ruling, doubt: (await readRecord(batch.ref, 1)).doubt };
  expect(await checkRulings([named])).toEqual([named]);
});

test('nor where the store has forgotten something and its data folder was moved whole later', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'D', { nonce: 'one' });
  const ruling = { place: { ref: batch.ref, index: 1 }, verdict: 'unpaid', doubt: null } as const;
  const by = { at: 2, seen: 3, found: 3, by: 'worker' };
  await disarm(ledger, by, 'copied', { missed: { copied: 3 } });
  expect(await acceptMoved(ledger)).toBe(true);
  expect(await checkRulings([ruling])).toHaveLength(1);
  await disarm(ledger, { ...by, seen: 99 }, 'anyway');
  await disarm(ledger, by, 'copied', { missed: { copied: 3 } });
  expect(await acceptMoved(ledger)).toBe(true);
  await expect(checkRulings([ruling])).rejects.toThrow();
});
