import { describe, expect, test } from 'vitest';
import { membersOf, type Order } from '../../src/core/order.js';
import { claim } from '../../src/ledger/moves/begin-sending.js';
import { readbackEnded } from '../../src/ledger/moves/readback-marks.js';
import type { Balances } from '../../src/ledger/order-event.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { storeNowMs } from '../../src/ledger/realm-ledger.js';
import { compare, Readback } from '../../src/queue/readback.js';
import { TwoClocks } from '../../src/queue/two-clocks.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { begun, concludeAs, feedAll, held, settleAs } from '../support/ledger/order-moves.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { until } from '../support/until.js';

const TERMS = { certainty: 'readback', currency: null, keyLifetimeMs: 1e9 } as const;
const bench = ledgersOnRedis();
const SETTLE_MS = 1_000;
/** No member in this test is unreadable. */
const READABLE = {
  unread: { whileUnknown: () => Promise.reject(new Error('it was read')) },
  onTrouble: () => {},
};

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
    const batch = await sealed(await bench.ledger(), [{ member: '1', to: '2', tokens: 7 }]);
    expect(compare(batch.row(1).order, before, { member, recipient })).toBe(story);
  });
});

/** A read-back over a realm with this map of balances. */
function reading(
  batch: TestBatch,
  balances: Record<string, number>,
  clocks = new TwoClocks(() => Promise.resolve(0)),
) {
  const read = (order: Order): Balances => ({
    member: String(balances[order.member]),
    recipient: order.recipient === null ? null : String(balances[order.recipient]),
  });
  const witness = {
    balances: (order: Order) => Promise.resolve(read(order)),
    ofDoubt: () => Promise.resolve(),
  };
  const profile = testProfile({ certainty: 'readback', settleMs: SETTLE_MS });
  return new Readback({ ...READABLE, ledger: batch.ledger, profile, evidence: witness, clocks });
}

async function pay(
  batch: TestBatch,
  readback: Readback,
  index: number,
  balances: Record<string, number>,
  currency: string | null = null,
) {
  const { order } = batch.row(index);
  const hold = await claim(batch.ledger, { no: batch.no, index }, '', membersOf(order));
  if ('refusal' in hold) throw new Error(`order ${index} got no hold`);
  const before = await readback.before(order, currency);
  if ('kind' in before) throw new Error(before.message);
  const of = await begun(batch, index, { hold: hold.hold });
  balances[order.member] = (balances[order.member] ?? 0) + order.tokens;
  const ref = { no: batch.no, index };
  await readback.paid({ ref, order, currency }, before, String(balances[order.member]));
  await settleAs(batch, index, 'P', of);
  return before;
}

describe('the check that ends read-back', () => {
  test('ends read-back when another system has moved a member since the last payment', async () => {
    const balances = { 1: 100 };
    const batch = await sealed(await bench.ledger(), [{ member: '1' }, { member: '1' }, { member: '1' }]);
    await feedAll(batch);
    const readback = reading(batch, balances);
    await pay(batch, readback, 1, balances);
    await pay(batch, readback, 2, balances);
    expect(await readbackEnded(batch.ledger, batch.no)).toBeNull();
    balances[1] += 1;
    await pay(batch, readback, 3, balances);
    expect(await readbackEnded(batch.ledger, batch.no)).toContain('should have had 110 and has 111');
  });

  test('a payment in one currency says nothing about a member’s balance in another', async () => {
    const own = { 1: 100 };
    const gold = { 1: 0 };
    const batch = await sealed(await bench.ledger(), [{ member: '1' }, { member: '1' }, { member: '1' }]);
    await feedAll(batch);
    await pay(batch, reading(batch, own), 1, own);
    await pay(batch, reading(batch, gold), 2, gold, 'gold');
    expect(await readbackEnded(batch.ledger, batch.no)).toBeNull();
    gold[1] += 1;
    await pay(batch, reading(batch, gold), 3, gold, 'gold');
    expect(await readbackEnded(batch.ledger, batch.no)).toContain('should have had 5 and has 6');
  });

  test('a second delivery of an order being paid finds another balance and ends nothing', async () => {
    const balances = { 1: 100 };
    const batch = await sealed(await bench.ledger(), [{ member: '1' }, { member: '1' }]);
    await feedAll(batch);
    const readback = reading(batch, balances);
    await pay(batch, readback, 1, balances);
    const { order } = batch.row(2);
    const ref = { no: batch.no, index: 2 };
    const second = await claim(batch.ledger, ref, '', membersOf(order));
    // The second delivery knows the expected balance; before it reads, the first delivery pays.
    const slow = new Readback({
      ...READABLE,
      ledger: batch.ledger,
      profile: testProfile(),
      evidence: {
        balances: async () => {
          await pay(batch, readback, 2, balances);
          return { member: String(balances[1]), recipient: null };
        },
        ofDoubt: () => Promise.resolve(),
      },
      clocks: new TwoClocks(() => Promise.resolve(0)),
    });
    expect(second).toMatchObject({ answer: 'go' });
    expect(await slow.before(order, null)).toMatchObject({ balances: { member: '110' }, expected: ['105'] });
    expect(await readbackEnded(batch.ledger, batch.no)).toBeNull();
  });
});

/** Sends the order and loses its answer; the test decides what happened to the balances. */
async function lose(batch: TestBatch, readback: Readback, index: number): Promise<void> {
  const { order } = batch.row(index);
  const hold = await held(batch, index);
  const before = await readback.before(order, null);
  if ('kind' in before) throw new Error(before.message);
  const { expected: _, ...kept } = before;
  const of = await begun(batch, index, { hold, before: kept });
  await settleAs(batch, index, 'u', of);
}

const codeOf = async (batch: TestBatch, index: number) => (await readRecord(batch.ref, index)).code;

describe('a doubt whose request may still arrive', () => {
  /** Clocks on which the settle time passes between any two looks. */
  const hurrying = () => {
    let ms = 0;
    const next = () => (ms += SETTLE_MS / 2);
    return new TwoClocks(() => Promise.resolve(next()), next);
  };

  async function world(settleMs: number | null = null) {
    const ledger = await bench.ledger();
    if (settleMs !== null) await ledger.scripts.redis.hset(ledger.keyPrefix, 'settleMs', settleMs);
    const batch = await sealed(ledger, [
      { member: '1' },
      { member: '1' },
      { member: '1', op: 'debit' },
      { member: '2', to: '1' },
      {},
    ]);
    await feedAll(batch);
    const balances = { 1: 100, 2: 100 };
    const readback = reading(batch, balances, hurrying());
    const resolve = async (index: number) => {
      for (let looks = 0; looks < 8 && (await codeOf(batch, index)) === 'u'; looks++)
        await readback.resolve({
          batch: batch.ref.id,
          ref: { no: batch.no, index },
          row: batch.row(index),
          terms: TERMS,
        });
    };
    // Another tool moved the member for a moment: the first order is a doubt, and its request is under way.
    await lose(batch, readback, 1);
    balances[1] += 7;
    await resolve(1);
    balances[1] -= 7;
    expect(await codeOf(batch, 1)).toBe('D');
    return { ledger, batch, balances, readback, resolve };
  }

  test('may arrive in place of another order, which is not called paid', async () => {
    const { batch, balances, readback, resolve } = await world();
    await lose(batch, readback, 2);
    balances[1] += 5;
    await resolve(2);
    expect(await codeOf(batch, 2)).toBe('D');
  });

  test('may hide what another order has moved, which is not resent', async () => {
    const { batch, balances, readback, resolve } = await world();
    await lose(batch, readback, 3);
    balances[1] += -5 + 5;
    await resolve(3);
    expect(await codeOf(batch, 3)).toBe('D');
  });

  test('makes a transfer void on either side, and that transfer’s doubt voids its other member', async () => {
    const { ledger, batch, readback, resolve } = await world();
    await lose(batch, readback, 4);
    await resolve(4);
    expect(await codeOf(batch, 4)).toBe('D');
    expect(Object.keys(await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:void`)).sort()).toEqual([
      '1',
      '2',
    ]);
  });

  test('does not end read-back when it arrives between two payments', async () => {
    const { batch, balances, readback } = await world();
    await pay(batch, readback, 2, balances);
    balances[1] += 5;
    await pay(batch, readback, 3, balances);
    expect(await readbackEnded(batch.ledger, batch.no)).toBeNull();
  });

  test('can no longer arrive once the settle time is over: the next hold on the member proves again', async () => {
    const { ledger, batch, balances, readback, resolve } = await world(1);
    const [marked] = await ledger.scripts.redis.hmget(`${ledger.keyPrefix}:void`, '1');
    await until('the settle time to pass', async () => (await storeNowMs(ledger)) > Number(marked));
    await lose(batch, readback, 2);
    balances[1] += 5;
    await resolve(2);
    expect(await codeOf(batch, 2)).toBe('P');
    expect(await ledger.scripts.redis.exists(`${ledger.keyPrefix}:void`)).toBe(0);
  });

  test('that is recorded after the last look still prevents a conclusion', async () => {
    const { ledger, batch } = await world(1);
    const hold = await held(batch, 2);
    await settleAs(batch, 2, 'u', await begun(batch, 2, { hold }));
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:void`, '1', 1);
    const era = (await ledger.scripts.redis.hget(ledger.keyPrefix, 'era')) ?? '';
    const about = { batch: batch.ref.id, attempt: 'nonce-2', read: { hold, era } };
    expect(await concludeAs(batch, 2, 'u', 'P', { about })).toMatchObject({ concluded: false });
    expect(await concludeAs(batch, 2, 'u', 'D', { about })).toMatchObject({ concluded: true });
    expect(await tieUp(ledger)).toEqual([]);
  });
});
