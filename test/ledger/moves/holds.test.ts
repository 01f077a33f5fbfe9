import { describe, expect, test } from 'vitest';
import type { Begun } from '../../../src/ledger/moves/begin-sending.js';
import { dispatched } from '../../../src/ledger/moves/feed.js';
import { cancelBatch, disownBatch, pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import { type RealmLedger, storeNowMs } from '../../../src/ledger/realm-ledger.js';
import { acceptMissing } from '../../../src/ledger/sessions/accept-missing.js';
import { feed } from '../../support/ledger/feed-one.js';
import { ledgersOnRedis, START, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import {
  afterwards,
  audit,
  begin,
  begun,
  claimFor,
  concludeAs,
  feedAll,
  held,
  orphanAs,
  settleAs,
  WHY,
} from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

/** Under read-back a member is moved by one order at a time: holds, hand-over, and no member held for ever. */
const bench = ledgersOnRedis();

const holders = ({ scripts, keyPrefix }: RealmLedger) => scripts.redis.hgetall(`${keyPrefix}:holders`);
const due = async (batch: TestBatch) =>
  (await dispatched(batch.ledger, batch.no)).map(({ index }) => index).sort();

describe('holding members', () => {
  test('the second of two orders on one member waits, is not due, and gets the member in order', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ member: '1' }, { member: '1' }, { member: '1' }]);
    await feedAll(batch);
    const first = await begun(batch, 1, { hold: await held(batch, 1) });
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'member-held' });
    expect(await claimFor(batch, 3)).toEqual({ refusal: 'member-held' });
    expect(await due(batch)).toEqual([1]);
    expect(await tieUp(ledger)).toEqual([]);
    expect(await settleAs(batch, 1, 'P', first)).toMatchObject({ next: [{ no: batch.no, index: 2 }] });
    expect(await holders(ledger)).toEqual({ 1: `${batch.no}:2` });
    const second = await begun(batch, 2, { hold: await held(batch, 2) });
    expect(await settleAs(batch, 2, 'R', second)).toMatchObject({ next: [{ no: batch.no, index: 3 }] });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a stray delivery of a waiting order does not jump the queue', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ member: '1' }, { member: '1' }]);
    await feedAll(batch);
    await held(batch, 1);
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'member-held' });
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'not-due' });
    expect(await begin(batch, 2)).toEqual({ refusal: 'not-due' });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a transfer holds both of its members or none', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ member: '2' }, { member: '1', to: '2' }, { member: '1' }]);
    await feedAll(batch);
    const first = await begun(batch, 1, { hold: await held(batch, 1) });
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'member-held' });
    expect(await holders(ledger)).toEqual({ 2: `${batch.no}:1` });
    await held(batch, 3);
    expect(await settleAs(batch, 1, 'P', first)).toMatchObject({ next: [] });
    expect(await tieUp(ledger)).toEqual([]);
    const third = await begun(batch, 3, { hold: await held(batch, 3) });
    expect(await settleAs(batch, 3, 'P', third)).toMatchObject({ next: [{ index: 2 }] });
    expect(await holders(ledger)).toEqual({ 1: `${batch.no}:2`, 2: `${batch.no}:2` });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('crossing transfers do not deadlock', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [
      { member: '1', to: '2' },
      { member: '2', to: '1' },
    ]);
    await feedAll(batch);
    const first = await begun(batch, 1, { hold: await held(batch, 1) });
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'member-held' });
    expect(await settleAs(batch, 1, 'P', first)).toMatchObject({ next: [{ index: 2 }] });
    const second = await begun(batch, 2, { hold: await held(batch, 2) });
    expect(await afterwards(batch, () => settleAs(batch, 2, 'P', second))).toMatchObject({
      batchState: 'done',
    });
    expect(await holders(ledger)).toEqual({});
  });

  test('a hold does not expire while the order is unknown, even if its process is dead', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ member: '1' }, { member: '1' }]);
    await feedAll(batch);
    const first = await begun(batch, 1, { hold: await held(batch, 1) });
    await settleAs(batch, 1, 'u', first);
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'member-held' });
    expect(await ledger.scripts.redis.ttl(`${ledger.keyPrefix}:holders`)).toBe(-1);
    expect(await concludeAs(batch, 1, 'u', 'w')).toMatchObject({ concluded: true, next: [{ index: 2 }] });
    await begun(batch, 2, { hold: await held(batch, 2) });
    await orphanAs(batch, 2, 'u');
    expect(await holders(ledger)).toEqual({ 1: `${batch.no}:2` });
    expect(await claimFor(batch, 1)).toEqual({ refusal: 'member-held' });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test.each(['P', 'X', 'D'] as const)(
    'evidence that ends an unknown as %s releases its members',
    async (to) => {
      const ledger = await bench.ledger();
      const batch = await sealed(ledger, [{ member: '1', to: '2' }, {}]);
      await feedAll(batch);
      await settleAs(batch, 1, 'u', await begun(batch, 1, { hold: await held(batch, 1) }));
      await concludeAs(batch, 1, 'u', to);
      expect(await holders(ledger)).toEqual({});
      expect(await tieUp(ledger)).toEqual([]);
    },
  );

  test('an order of a dead session that becomes a doubt releases its members', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ member: '1' }, { member: '1' }]);
    await feedAll(batch);
    await begun(batch, 1, { hold: await held(batch, 1) });
    await claimFor(batch, 2);
    await orphanAs(batch, 1, 'D');
    expect(await holders(ledger)).toEqual({ 1: `${batch.no}:2` });
    expect(await tieUp(ledger)).toEqual([]);
  });
});

describe('every way into doubt makes read-back void on the members that it releases', () => {
  test.each([
    ['an answer', async (batch: TestBatch, of: Begun) => settleAs(batch, 1, 'D', of)],
    [
      'evidence',
      async (batch: TestBatch, of: Begun) => {
        await settleAs(batch, 1, 'u', of);
        await concludeAs(batch, 1, 'u', 'D');
      },
    ],
    ['a death', async (batch: TestBatch) => orphanAs(batch, 1, 'D')],
    [
      'a lost journal',
      async ({ ledger }: TestBatch) => {
        // The session is registered, and the store may have been rolled back since.
        await ledger.scripts.redis.hset(`${ledger.keyPrefix}:sessions`, 'worker', '{}');
        await acceptMissing(
          {
            ledger,
            plans: new PlanReader(ledger),
            termsOf: () => Promise.resolve({ certainty: 'readback', currency: null, keyLifetimeMs: 1 }),
          },
          'worker',
          { who: 'ada', at: START },
        );
      },
    ],
  ] as const)('by %s', async (_, doubt) => {
    const ledger = await bench.ledger();
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'settleMs', 60_000);
    const batch = await sealed(ledger, [{ member: '1', to: '2' }]);
    await feedAll(batch);
    const of = await begun(batch, 1, { hold: await held(batch, 1) });
    const before = await storeNowMs(ledger);
    await doubt(batch, of);
    const marks = await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:void`);
    expect(Object.keys(marks).sort()).toEqual(['1', '2']);
    for (const until of Object.values(marks)) expect(Number(until)).toBeGreaterThanOrEqual(before + 60_000);
  });
});

describe('a stalled batch holds only the members of orders under way', () => {
  async function twoBatches() {
    const ledger = await bench.ledger();
    const first = await sealed(ledger, [{ member: '1' }, { member: '2' }, { member: '1' }], { id: 'first' });
    const second = await sealed(ledger, [{ member: '1' }, { member: '2' }], { id: 'second' });
    await feedAll(first);
    await feedAll(second);
    const token = await held(first, 1);
    const sending = await begun(first, 2, { hold: await held(first, 2) });
    expect(await claimFor(first, 3)).toEqual({ refusal: 'member-held' });
    expect(await claimFor(second, 1)).toEqual({ refusal: 'member-held' });
    expect(await claimFor(second, 2)).toEqual({ refusal: 'member-held' });
    return { ledger, first, second, token, sending };
  }

  test.each([
    ['paused', ({ ref }: TestBatch) => pauseBatch(ref, WHY, audit('paused'))],
    ['cancelled', ({ ref }: TestBatch) => cancelBatch(ref, audit('cancelled'))],
    ['left by its process', ({ ref }: TestBatch) => disownBatch(ref, WHY, audit('gone'), '')],
  ])(
    '%s after a claim: the member goes to the next in line, what is being sent keeps its own',
    async (_, stop) => {
      const { ledger, first, second, token, sending } = await twoBatches();
      await stop(first);
      expect(await holders(ledger)).toEqual({ 1: `${second.no}:1`, 2: `${first.no}:2` });
      expect(await begin(first, 1, { hold: token })).toHaveProperty('refusal');
      expect(await tieUp(ledger)).toEqual([]);
      expect(await settleAs(first, 2, 'P', sending)).toMatchObject({ next: [{ no: second.no, index: 2 }] });
      expect(await tieUp(ledger)).toEqual([]);
    },
  );

  test('a resumed batch finds its waiting orders again, and a hold from before the pause proves nothing', async () => {
    const { ledger, first, second, token, sending } = await twoBatches();
    await pauseBatch(first.ref, WHY, audit('paused'));
    await settleAs(first, 2, 'P', sending);
    await resumeBatch(first.ref, audit('resumed'), { owner: '' });
    expect(await due(first)).toEqual([1, 3]);
    expect(await claimFor(first, 3)).toEqual({ refusal: 'member-held' });
    await settleAs(second, 1, 'P', await begun(second, 1, { hold: await held(second, 1) }));
    expect(await holders(ledger)).toMatchObject({ 1: `${first.no}:3` });
    await settleAs(first, 3, 'P', await begun(first, 3, { hold: await held(first, 3) }));
    const anew = await held(first, 1);
    expect(anew).not.toBe(token);
    expect(await begin(first, 1, { hold: token })).toEqual({ refusal: 'hold-lost' });
    expect(await begin(first, 1, { hold: anew })).not.toHaveProperty('refusal');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a batch halted by refusals or by the daily cap releases its members', async () => {
    const ledger = await bench.ledger();
    const first = await sealed(ledger, [{ member: '1' }, { member: '2' }], { id: 'first' });
    const second = await sealed(ledger, [{ member: '1' }, { member: '2' }], { id: 'second' });
    await feedAll(first);
    await feedAll(second);
    const token = await held(first, 1);
    await held(first, 2);
    await claimFor(second, 1);
    await claimFor(second, 2);
    expect(await begin(first, 1, { hold: token, dayCap: 1 })).toEqual({ refusal: 'cap' });
    expect(await holders(ledger)).toEqual({ 1: `${second.no}:1`, 2: `${second.no}:2` });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('the list of waiting orders is bounded, and feeding waits for room in it', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feed(ledger, batch.no, 1, '');
    const key = `${ledger.keyPrefix}:b:${batch.no}:waiting`;
    await ledger.scripts.redis.hset(
      key,
      Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, '1 1'])),
    );
    expect(await feedAll(batch)).toEqual([]);
    await ledger.scripts.redis.del(key);
    expect(await feedAll(batch)).toEqual([2]);
  });
});
