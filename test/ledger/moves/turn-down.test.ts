import { describe, expect, test } from 'vitest';
import { type TurnDown, turnDown } from '../../../src/ledger/moves/conclude.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import { realmState } from '../../../src/ledger/read/realm-state.js';
import { readDetails, readRecord } from '../../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import {
  audit,
  begin,
  begun,
  claimFor,
  feedAll,
  held,
  settleAs,
  WHY,
} from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';
import { photograph } from '../../support/ledger/unreliable-store.js';

const bench = ledgersOnRedis();

function down(batch: TestBatch, index: number, changes: Partial<TurnDown>, nonce?: string) {
  const told: TurnDown = {
    batch: batch.ref.id,
    move: { from: 'unknown', to: 'unknown', attempt: `nonce-${index}` },
    tries: 0,
    status: null,
    errorCode: 'ALM_SEND_UNREAD',
    silent: false,
    dueInMs: 0,
    detail: {
      event: 'concluded',
      at: index,
      state: 'x',
      by: 'readback',
      code: 'ALM_SEND_UNREAD',
      message: 'x',
    },
    evidence: null,
    refusalReason: WHY,
    slice: 0,
    ...changes,
  };
  return turnDown(batch.ledger, { no: batch.no, index }, batch.row(index), {
    ...told,
    ...(nonce !== undefined && { nonce }),
  });
}

async function batchOf(orders: number) {
  const lines = Array.from({ length: orders }, () => ({ member: '1' }));
  const batch = await sealed(await bench.ledger(), lines);
  await feedAll(batch);
  return batch;
}

describe('turn-down', () => {
  test('repeated after a lost reply, it is one move: counted, recorded and handed over once', async () => {
    const batch = await batchOf(2);
    const hold = await held(batch, 1);
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'member-held' });
    const refused = { move: { from: 'planned', to: 'refused', hold }, status: 404 } as const;
    expect(await down(batch, 1, refused, 'n')).toEqual({
      state: 'refused',
      next: [{ no: batch.no, index: 2 }],
    });
    expect(await down(batch, 1, refused, 'n')).toEqual({ state: 'refused', next: [] });
    expect(await readDetails(batch.ref, 1)).toHaveLength(1);
    expect(await batch.ledger.scripts.redis.hget(`${batch.ledger.keyPrefix}:b:${batch.no}`, 'refusals')).toBe(
      '1',
    );
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('a postponed order keeps its tries, releases its member, and returns when it is due', async () => {
    const batch = await batchOf(2);
    const move = { from: 'planned', to: 'planned', hold: await held(batch, 1) } as const;
    await claimFor(batch, 2);
    const off = await down(batch, 1, { move, tries: 2, dueInMs: 60_000 });
    expect(off).toEqual({ state: 'planned', next: [{ no: batch.no, index: 2 }] });
    expect(await claimFor(batch, 1)).toMatchObject({ refusal: 'early' });
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 'w', tries: 2, attempts: 0 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test.each([
    ['whose hold was given up', '1@another'],
    ['that holds nothing', ''],
  ])('an order %s is left as it is', async (_, hold) => {
    const batch = await batchOf(2);
    await held(batch, 1);
    expect(await down(batch, 1, { move: { from: 'planned', to: 'refused', hold } })).toEqual({
      state: null,
      next: [],
    });
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 'p' });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('an order of a cancelled batch stays cancelled, whatever hold is named', async () => {
    const batch = await batchOf(2);
    const hold = await held(batch, 1);
    await cancelBatch(batch.ref, audit('cancelled'));
    for (const named of [hold, ''])
      expect(
        (await down(batch, 1, { move: { from: 'planned', to: 'refused', hold: named } })).state,
      ).toBeNull();
    expect((await readBatch(batch.ref))?.counts).toEqual({ cancelled: 2 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('an order that another delivery is sending is not turned down', async () => {
    const batch = await batchOf(1);
    const hold = await held(batch, 1);
    const of = await begun(batch, 1, { hold });
    expect((await down(batch, 1, { move: { from: 'planned', to: 'refused', hold } })).state).toBeNull();
    expect(await settleAs(batch, 1, 'P', of)).toMatchObject({ settled: true });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('after a rollback no order is turned down, because it may have been paid in the lost time', async () => {
    const batch = await batchOf(1);
    const hold = await held(batch, 1);
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'armed', 'another-server');
    expect((await down(batch, 1, { move: { from: 'planned', to: 'refused', hold } })).state).toBeNull();
    expect(await begin(batch, 1, { hold })).toEqual({ refusal: 'disarmed' });
    expect((await readRecord(batch.ref, 1)).code).toBe('p');
  });

  test('the last order that is turned down finishes its batch', async () => {
    const batch = await batchOf(1);
    await down(batch, 1, {
      move: { from: 'planned', to: 'exhausted', hold: await held(batch, 1) },
      tries: 3,
    });
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'done', counts: { exhausted: 1 } });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('silence fails no order while the breaker is open, and opens it if no other answer came', async () => {
    const batch = await batchOf(1);
    const hold = await held(batch, 1);
    const silent = { silent: true, tries: 2 };
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'unknowns', 1);
    expect(
      (await down(batch, 1, { ...silent, move: { from: 'planned', to: 'exhausted', hold } })).state,
    ).toBe('planned');
    expect((await realmState(batch.ledger)).breakerSince).not.toBeNull();
    expect(await readDetails(batch.ref, 1)).toEqual([]);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('an unknown order keeps its member, and becomes a doubt only by its conclusion', async () => {
    const batch = await batchOf(2);
    await settleAs(batch, 1, 'u', await begun(batch, 1, { hold: await held(batch, 1) }));
    expect(
      (await down(batch, 1, { move: { from: 'unknown', to: 'doubt', attempt: 'nonce-1' }, tries: 3 })).state,
    ).toBe('doubt');
    expect((await readRecord(batch.ref, 1)).code).toBe('u');
    expect((await down(batch, 1, { dueInMs: 60_000, detail: null })).state).toBe('unknown');
    expect(await claimFor(batch, 1)).toMatchObject({ refusal: 'early' });
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'member-held' });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('does not touch an order of another batch that took the number after a rollback', async () => {
    const ledger = await bench.ledger();
    const first = await sealed(ledger, [{ member: '9' }]);
    await feedAll(first);
    await held(first, 1);
    const { run } = await readFence(ledger);
    const back = await photograph(ledger);
    const old = await sealed(ledger, [{ member: '1' }], { id: 'old' });
    await feedAll(old);
    const hold = await held(old, 1);
    await back();
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', run);
    const other = await sealed(ledger, [{ member: '2' }], { id: 'other' });
    await feedAll(other);
    expect([other.no, await held(other, 1)]).toEqual([old.no, hold]);
    await down(old, 1, { move: { from: 'planned', to: 'refused', hold }, status: 404, detail: null });
    expect((await readRecord(other.ref, 1)).code).toBe('p');
  });
});
