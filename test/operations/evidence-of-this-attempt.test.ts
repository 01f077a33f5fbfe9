import { expect, test } from 'vitest';
import { noteEvent } from '../../src/ledger/moves/readback-marks.js';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import type { OrderEvent } from '../../src/ledger/order-event.js';
import { readRecord, readRow } from '../../src/ledger/read/rows.js';
import { sidesSeen } from '../../src/operations/doubts/evidence.js';
import { contextOf } from '../../src/operations/orders/find-orders.js';
import { attemptOf, merge } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { begun, concludeAs, feedAll, held, settleAs } from '../support/ledger/order-moves.js';

/** A person sees evidence only for the current attempt and doubt of an order. */
const bench = ledgersOnRedis();

const balances = (when: 'before' | 'doubt', member: string): OrderEvent =>
  ({ event: 'balances', at: Date.now(), when, balances: { member, recipient: null } }) as const;

/** The realm is read because the order came into doubt. */
async function readInDoubt(batch: TestBatch, member: string): Promise<void> {
  const { doubt } = await readRecord(batch.ref, 1);
  const event = { ...balances('doubt', member), doubt: doubt ?? '' };
  await noteEvent(batch.ledger, { no: batch.no, index: 1 }, event);
}

async function shown(batch: TestBatch) {
  const row = await readRow(await contextOf(batch.ref), 1);
  return { ...sidesSeen(batch.row(1).order, row.traces), traces: row.traces };
}

async function oneOrder(): Promise<TestBatch> {
  const batch = await sealed(await bench.ledger(), [{ member: '1' }]);
  await feedAll(batch);
  return batch;
}

test('balances of its own attempt and doubt are shown', async () => {
  const batch = await oneOrder();
  const hold = await held(batch, 1);
  const one = await begun(batch, 1, { hold, nonce: 'one', before: balances('before', '100') });
  await settleAs(batch, 1, 'D', one, { nonce: 'one' });
  await readInDoubt(batch, '105');
  expect(await shown(batch)).toMatchObject({ looksLike: 'paid', sides: [{ before: '100', inDoubt: '105' }] });
});

test('the balance of an earlier doubt speaks for no later attempt', async () => {
  const batch = await oneOrder();
  const first = await held(batch, 1);
  const one = await begun(batch, 1, { hold: first, nonce: 'one', before: balances('before', '100') });
  await settleAs(batch, 1, 'D', one, { nonce: 'one', sentAt: Date.now() - 1e7 });
  await readInDoubt(batch, '100');
  await concludeAs(batch, 1, 'D', 'X', { settleMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  const by = { who: 'ada', why: null, at: 1, nonce: 'x' };
  expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toBe('ok');
  // Attempt two is applied and not answered. A person makes a doubt of it, and nothing is read.
  await batch.ledger.scripts.redis.del(`${batch.ledger.keyPrefix}:void`);
  const hold = await held(batch, 1);
  const two = await begun(batch, 1, { hold, nonce: 'two', before: balances('before', '100') });
  await settleAs(batch, 1, 'u', two, { nonce: 'two' });
  expect((await shown(batch)).sides).toMatchObject([{ before: '100', inDoubt: null }]);
  await concludeAs(batch, 1, 'u', 'D');
  expect(await shown(batch)).toMatchObject({ looksLike: null, sides: [{ before: '100', inDoubt: null }] });
});

test('a balance that was read before an earlier attempt is not shown as read before this one', async () => {
  const batch = await oneOrder();
  const hold = await held(batch, 1);
  const one = await begun(batch, 1, { hold, nonce: 'one', before: balances('before', '100') });
  await settleAs(batch, 1, 'w', one, { nonce: 'one' });
  // Attempt two is lost on its way, and the store has forgotten it with the balance that was read before it.
  await merge(batch, 'readback', attemptOf(batch, 1, null, { nonce: 'two', attempts: 2 }));
  await concludeAs(batch, 1, 'u', 'D');
  await readInDoubt(batch, '105');
  expect(await shown(batch)).toMatchObject({ looksLike: null, sides: [{ before: null, inDoubt: '105' }] });
});
