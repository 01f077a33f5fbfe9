import { describe, expect, test } from 'vitest';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begun, concludeAs, feedAll, held, sendAs, settleAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

/** Evidence belongs to one attempt and a decision to one doubt. Neither settles a later one. */
const bench = ledgersOnRedis();

const codeOf = async (batch: TestBatch, index: number) => (await readRecord(batch.ref, index)).code;
const retried = (batch: TestBatch, nonce: string) =>
  retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: 1, nonce });

describe('read-back', () => {
  /** Two workers read “unmoved” for the first attempt; one of them loses the store before it concludes. */
  async function twoReaders() {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    const hold = await held(batch, 1);
    await settleAs(batch, 1, 'u', await begun(batch, 1, { hold, nonce: 'first' }), { nonce: 'first' });
    const era = (await batch.ledger.scripts.redis.hget(batch.ledger.keyPrefix, 'era')) ?? '';
    const about = { batch: batch.ref.id, attempt: 'first', read: { hold, era } };
    return { batch, about };
  }

  test('for one attempt concludes nothing about the next one, which is under way', async () => {
    const { batch, about } = await twoReaders();
    expect(await concludeAs(batch, 1, 'u', 'w', { about })).toMatchObject({ concluded: true });
    const hold = await held(batch, 1);
    await settleAs(batch, 1, 'u', await begun(batch, 1, { hold, nonce: 'second' }), { nonce: 'second' });
    for (const to of ['w', 'P', 'X', 'D'] as const)
      expect(await concludeAs(batch, 1, 'u', to, { about })).toMatchObject({ concluded: false });
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 'u', nonce: 'second' });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('for one attempt concludes nothing about the next one without a hold', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u', { nonce: 'first' });
    const about = { batch: batch.ref.id, attempt: 'first', read: null };
    await settleAs(batch, 1, 'u', await begun(batch, 1, { nonce: 'second', keyAgeMaxMs: 60_000 }), {
      nonce: 'second',
    });
    expect(await concludeAs(batch, 1, 'u', 'D', { about })).toMatchObject({ concluded: false });
    const now = { ...about, attempt: 'second' };
    expect(await concludeAs(batch, 1, 'u', 'D', { about: now })).toMatchObject({ concluded: true });
  });

  test('under a hold concludes nothing once the order has another hold', async () => {
    const { batch, about } = await twoReaders();
    const { hold, era } = about.read;
    const other = { ...about, read: { hold: `0${hold}`, era } };
    expect(await concludeAs(batch, 1, 'u', 'P', { about: other })).toMatchObject({ concluded: false });
    expect(await concludeAs(batch, 1, 'u', 'P', { about })).toMatchObject({ concluded: true });
  });

  test('repeated is one conclusion', async () => {
    const { batch, about } = await twoReaders();
    const again = { about, nonce: 'one' };
    expect(await concludeAs(batch, 1, 'u', 'P', again)).toMatchObject({ concluded: true });
    expect(await concludeAs(batch, 1, 'u', 'P', again)).toMatchObject({ concluded: true });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });
});

describe('a doubt', () => {
  test('has a new number each time, so an old decision does not settle a later doubt', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'D', { nonce: 'first' });
    const monday = (await readRecord(batch.ref, 1)).doubt ?? '';
    expect(monday).toMatch(/^d1-[0-9a-f]{4}$/);
    expect(await concludeAs(batch, 1, 'D', 'X')).toMatchObject({ concluded: true });
    expect((await readRecord(batch.ref, 1)).doubt).toBe(monday);
    expect(await retried(batch, 'retry')).toBe('ok');
    await sendAs(batch, 1, 'D', { nonce: 'second' });
    const friday = (await readRecord(batch.ref, 1)).doubt ?? '';
    expect(friday).toMatch(/^d2-[0-9a-f]{4}$/);
    const about = { batch: batch.ref.id, doubt: monday };
    for (const to of ['X', 'P'] as const)
      expect(await concludeAs(batch, 1, 'D', to, { about })).toMatchObject({ concluded: false });
    expect(await codeOf(batch, 1)).toBe('D');
    expect(await concludeAs(batch, 1, 'D', 'P', { about: { ...about, doubt: friday } })).toMatchObject({
      concluded: true,
    });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('made from a stalled unknown order has a number, too', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    expect((await readRecord(batch.ref, 1)).doubt).toBeNull();
    expect(await concludeAs(batch, 1, 'u', 'D')).toMatchObject({ concluded: true });
    expect((await readRecord(batch.ref, 1)).doubt).toMatch(/^d1-/);
  });
});
