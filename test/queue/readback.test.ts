import { describe, expect, test } from 'vitest';
import { membersOf, type Order } from '../../src/core/order.js';
import type { Balances } from '../../src/ledger/detail.js';
import { readbackEnded } from '../../src/ledger/readback-end.js';
import { claim } from '../../src/ledger/sending.js';
import { BalanceWatch } from '../../src/queue/balance-watch.js';
import { compare, Readback } from '../../src/queue/readback.js';
import { TwoClocks } from '../../src/queue/two-clocks.js';
import { ledgerBench, sealed, type TestBatch } from '../support/ledger.js';
import { begun, feedAll, settleAs } from '../support/order-moves.js';
import { testProfile } from '../support/realm-profile.js';

const bench = ledgerBench();

describe('the two members of a transfer', () => {
  const before = { member: '100', recipient: '50' };
  test.each([
    ['93', '57', 'moved'],
    ['100', '50', 'unmoved'],
    ['93', '50', 'other'],
    ['100', '57', 'other'],
    ['100', '51', 'other'],
    [null, '57', 'unreadable'],
  ] as const)('at %s and %s: %s', async (member, recipient, story) => {
    const batch = await sealed(await bench.books(), [{ member: '1', to: '2', tokens: 7 }]);
    expect(compare(batch.row(1).order, before, { member, recipient })).toBe(story);
  });
});

/** A read-back whose realm is this map of balances. */
function reading(batch: TestBatch, balances: Record<string, number>) {
  const read = (order: Order): Balances => ({
    member: String(balances[order.member]),
    recipient: order.recipient === null ? null : String(balances[order.recipient]),
  });
  const witness = {
    balances: (order: Order) => Promise.resolve(read(order)),
    note: () => Promise.resolve(),
    ofDoubt: () => Promise.resolve(),
  };
  const clocks = new TwoClocks(() => Promise.resolve(0));
  const watch = new BalanceWatch(batch.books, () => {});
  return new Readback(testProfile(), witness, () => Promise.resolve(batch.ref), clocks, watch);
}

async function pay(batch: TestBatch, readback: Readback, index: number, balances: Record<string, number>) {
  const { order } = batch.row(index);
  const hold = await claim(batch.books, { no: batch.no, index }, '', membersOf(order));
  if (hold.answer !== 'go') throw new Error(`order ${index} got no hold`);
  const before = await readback.before(order);
  if (before === 'unreadable') throw new Error('unreadable');
  const of = await begun(batch, index, { hold: hold.hold });
  balances[order.member] = (balances[order.member] ?? 0) + order.tokens;
  await readback.paid({ no: batch.no, index }, order, before, String(balances[order.member]));
  await settleAs(batch, index, 'P', of);
  return before;
}

describe('the check that ends read-back', () => {
  test('a member that somebody else has moved since the last payment ends it', async () => {
    const balances = { 1: 100 };
    const batch = await sealed(await bench.books(), [{ member: '1' }, { member: '1' }, { member: '1' }]);
    await feedAll(batch);
    const readback = reading(batch, balances);
    await pay(batch, readback, 1, balances);
    await pay(batch, readback, 2, balances);
    expect(await readbackEnded(batch.books, batch.no)).toBeNull();
    balances[1] += 1;
    await pay(batch, readback, 3, balances);
    expect(await readbackEnded(batch.books, batch.no)).toContain('should have had 110 and has 111');
  });

  test('a second delivery of an order that is being paid finds another balance and ends nothing', async () => {
    const balances = { 1: 100 };
    const batch = await sealed(await bench.books(), [{ member: '1' }, { member: '1' }]);
    await feedAll(batch);
    const readback = reading(batch, balances);
    await pay(batch, readback, 1, balances);
    const { order } = batch.row(2);
    const ref = { no: batch.no, index: 2 };
    const second = await claim(batch.books, ref, '', membersOf(order));
    // It has asked what the member should have; before it reads, the first delivery pays.
    const slow = new Readback(
      testProfile(),
      {
        balances: async () => {
          await pay(batch, readback, 2, balances);
          return { member: String(balances[1]), recipient: null };
        },
        note: () => Promise.resolve(),
        ofDoubt: () => Promise.resolve(),
      },
      () => Promise.resolve(batch.ref),
      new TwoClocks(() => Promise.resolve(0)),
      new BalanceWatch(batch.books, () => {}),
    );
    expect(second.answer).toBe('go');
    expect(await slow.before(order)).toMatchObject({ balances: { member: '110' }, expected: ['105'] });
    expect(await readbackEnded(batch.books, batch.no)).toBeNull();
  });
});
