import { describe, expect, test } from 'vitest';
import { findSpent } from '../../../src/ledger/read/earlier.js';
import { readDetails, readRecord } from '../../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { referenceKey } from '../../../src/ledger/reference.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begin, begun, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

/** An order begins only while it holds its reference, however two orders with one reference came into the store. */
const bench = ledgersOnRedis();

/** The store forgets the holder of the reference, so that a second order takes it. */
async function forget({ scripts, keyPrefix }: RealmLedger, reference: string): Promise<void> {
  const { shard, fieldHex } = referenceKey(reference);
  await scripts.redis.hdel(`${keyPrefix}:ref:${shard}`, Buffer.from(fieldHex, 'hex'));
}

/** Two batches with one order each under the same reference; the second order holds it. */
async function twoOrders(tokens = 5) {
  const ledger = await bench.ledger();
  const first = await sealed(ledger, [{ member: '7', reference: 'r' }], { id: 'first' });
  await feedAll(first);
  await forget(ledger, 'r');
  const second = await sealed(ledger, [{ member: '7', reference: 'r', tokens }], { id: 'second' });
  await feedAll(second);
  return { ledger, first, second };
}

describe('an order whose reference another order holds is not begun', () => {
  test('and becomes a duplicate if the other one is paid with the same content', async () => {
    const { ledger, first, second } = await twoOrders();
    await sendAs(second, 1, 'P');
    expect(await begin(first, 1)).toMatchObject({ refusal: 'instead', state: 'duplicate' });
    expect(await readRecord(first.ref, 1)).toMatchObject({ code: 'd', attempts: 0 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test.each([
    ['with other content', 8, 'P'],
    ['and not yet paid', 5, null],
  ] as const)('and is exhausted where the other one is %s, naming it', async (_, tokens, end) => {
    const { ledger, first, second } = await twoOrders(tokens);
    if (end !== null) await sendAs(second, 1, end);
    expect(await begin(first, 1)).toMatchObject({
      refusal: 'instead',
      state: 'exhausted',
      order: 'second-1',
      message: expect.stringContaining('order second-1 holds its reference'),
    });
    expect(await readRecord(first.ref, 1)).toMatchObject({ code: 'X', attempts: 0 });
    expect(await readDetails(first.ref, 1)).toMatchObject([{ code: 'ALM_SEND_REFERENCE_HELD' }]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('and becomes a doubt if it was sent before with an unknown outcome', async () => {
    const ledger = await bench.ledger();
    const first = await sealed(ledger, [{ member: '7', reference: 'r' }], { id: 'first' });
    await feedAll(first);
    await settleAs(first, 1, 'u', await begun(first, 1));
    await forget(ledger, 'r');
    const second = await sealed(ledger, [{ member: '7', reference: 'r' }], { id: 'second' });
    await feedAll(second);
    await sendAs(second, 1, 'P');
    const resend = { nonce: 'again', keyAgeMaxMs: 60_000 };
    expect(await begin(first, 1, resend)).toMatchObject({ refusal: 'instead', state: 'doubt' });
    expect(await readRecord(first.ref, 1)).toMatchObject({ code: 'D', attempts: 1 });
    expect((await readRecord(first.ref, 1)).doubt).toMatch(/^d1-/);
  });
});

describe('a reference that no order holds', () => {
  test.each([
    ['is forgotten', null],
    ['belongs to an order that was refused', 'R'],
  ] as const)('because its entry %s is taken by the order that is begun', async (_, end) => {
    const { ledger, first, second } = await twoOrders();
    if (end === null) await forget(ledger, 'r');
    else await sendAs(second, 1, end);
    await begun(first, 1);
    expect((await findSpent(ledger, ['r'])).get('r')).toMatchObject({ no: first.no, index: 1 });
  });

  test('is not needed for a row without a reference', async () => {
    const batch = await sealed(await bench.ledger(), [{}, {}]);
    await feedAll(batch);
    await begun(batch, 1);
    await begun(batch, 2);
  });
});
