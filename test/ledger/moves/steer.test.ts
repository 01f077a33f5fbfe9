import { describe, expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { dispatched } from '../../../src/ledger/moves/feed.js';
import {
  cancelBatch,
  disownBatch,
  haltBatch,
  haltRealm,
  pauseBatch,
  resumeBatch,
} from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readAudit } from '../../../src/ledger/read/snapshot.js';
import { feed } from '../../support/ledger/feed-one.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import {
  afterwards,
  audit,
  begun,
  claimFor,
  feedAll,
  sendAs,
  settleAs,
  WHY,
} from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const state = async (batch: TestBatch) => (await readBatch(batch.ref))?.state;

describe('pause and resume', () => {
  test('a paused batch feeds nothing; resumed it continues, and the audit names both', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}, {}]);
    await feed(ledger, batch.no, 1, '');
    expect(await pauseBatch(batch.ref, WHY, audit('paused'))).toEqual({ done: true, state: 'paused' });
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'paused', reason: WHY });
    expect(await feedAll(batch)).toEqual([]);
    expect(await resumeBatch(batch.ref, audit('resumed'), { owner: '' })).toEqual({
      done: true,
      state: 'running',
    });
    expect(await feedAll(batch)).toEqual([2, 3]);
    expect((await readAudit(batch.ref)).map(({ what }) => what)).toEqual(['imported', 'paused', 'resumed']);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('repeated after a lost reply, each gives the same answer and is audited once', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    for (const move of [
      (note: ReturnType<typeof audit>) => pauseBatch(batch.ref, WHY, note),
      (note: ReturnType<typeof audit>) => resumeBatch(batch.ref, note, { owner: 'run-1' }),
      (note: ReturnType<typeof audit>) => cancelBatch(batch.ref, note),
    ]) {
      const note = audit('steered');
      const first = await move(note);
      expect(first.done).toBe(true);
      expect(await move(note)).toEqual(first);
    }
    expect(await readAudit(batch.ref)).toHaveLength(4);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('an interrupted run pauses only the batch that it still owns', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}], { owner: 'run-1' });
    expect(await pauseBatch(batch.ref, WHY, audit('paused'), 'run-2')).toEqual({
      done: false,
      state: 'owner',
    });
    expect(await state(batch)).toBe('planned');
    expect(await pauseBatch(batch.ref, WHY, audit('paused'), 'run-1')).toMatchObject({ done: true });
  });

  test('one of two runs that take over at once gets the batch, even after a lost answer', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}], { owner: 'dead' });
    const takeOver = (owner: string) => resumeBatch(batch.ref, null, { owner, from: 'dead' });
    expect(await takeOver('run-1')).toMatchObject({ done: true });
    expect(await takeOver('run-2')).toEqual({ done: false, state: 'owner' });
    expect(await takeOver('run-1')).toMatchObject({ done: true });
    expect((await readBatch(batch.ref))?.owner).toBe('run-1');
  });

  test('refuses to pause twice, to resume a finished batch, or to steer an unsealed one', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await pauseBatch(batch.ref, WHY, audit('paused'))).toEqual({
      done: false,
      state: 'paused',
    });
    await resumeBatch(batch.ref, audit('resumed'), { owner: '' });
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    expect(await resumeBatch(batch.ref, audit('resumed'), { owner: '' })).toEqual({
      done: false,
      state: 'done',
    });
    expect(await pauseBatch(batch.ref, WHY, audit('paused'))).toEqual({ done: false, state: 'done' });
    expect(await cancelBatch(batch.ref, audit('cancelled'))).toEqual({ done: false, state: 'done' });
    expect(await cancelBatch({ ...batch.ref, no: '99' }, audit('cancelled'))).toEqual({
      done: false,
      state: 'gone',
    });
    // Since a rollback the number belongs to another batch.
    const other = { ...batch.ref, id: batchId('another') };
    expect(await cancelBatch(other, audit('cancelled'))).toEqual({ done: false, state: 'gone' });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('resuming a batch whose last order has ended finishes it', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    const attempt = await begun(batch, 1);
    await pauseBatch(batch.ref, WHY, audit('paused'));
    await settleAs(batch, 1, 'P', attempt);
    expect(await state(batch)).toBe('done');
    expect(await tieUp(ledger)).toEqual([]);
  });
});

describe('cancel', () => {
  test('unsent orders are cancelled at once; sent orders finish; unknown ones stay', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [
      { reference: 'a' },
      { reference: 'b' },
      { reference: 'c' },
      { reference: 'd' },
    ]);
    await feed(ledger, batch.no, 3, '');
    const sending = await begun(batch, 1);
    await sendAs(batch, 2, 'u');
    await sendAs(batch, 3, 'w');
    expect(await cancelBatch(batch.ref, audit('cancelled'))).toEqual({
      done: true,
      state: 'cancelled',
    });
    expect((await readBatch(batch.ref))?.counts).toEqual({ sending: 1, unknown: 1, cancelled: 2 });
    expect((await dispatched(ledger, batch.no)).map(({ index }) => index).sort()).toEqual([1, 2]);
    expect(await tieUp(ledger)).toEqual([]);
    await settleAs(batch, 1, 'P', sending);
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 1, unknown: 1, cancelled: 2 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a resume does not undo it, and a batch with nothing under way is no longer open', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await cancelBatch(batch.ref, audit('cancelled'));
    expect(await resumeBatch(batch.ref, audit('resumed'), { owner: '' })).toEqual({
      done: false,
      state: 'cancelled',
    });
    expect(await ledger.scripts.redis.zrange(`${ledger.keyPrefix}:open`, 0, '-1')).toEqual([]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('unknown orders of a dead run are left to the workers; a live run keeps its own', async () => {
    const ledger = await bench.ledger();
    for (const [registered, owner] of [
      [false, ''],
      [true, 'run-1'],
    ] as const) {
      const batch = await sealed(ledger, [{}, {}], { owner: 'run-1', id: `run-${owner}x` });
      await feedAll(batch);
      await sendAs(batch, 1, 'u');
      if (registered) await ledger.scripts.redis.hset(`${ledger.keyPrefix}:sessions`, 'run-1', '{}');
      await cancelBatch(batch.ref, audit('cancelled'));
      expect((await readBatch(batch.ref))?.owner).toBe(owner);
    }
  });
});

describe('disown', () => {
  const gone = (batch: TestBatch, owner = 'run-1') => disownBatch(batch.ref, WHY, audit('gone'), owner);

  test('a run whose process is gone stalls, and can be resumed', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}], { owner: 'run-1' });
    await feedAll(batch);
    expect(await gone(batch)).toEqual({ done: true, state: 'paused' });
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'paused', reason: WHY });
    await resumeBatch(batch.ref, null, { owner: 'run-2' });
    expect(await gone(batch)).toEqual({ done: false, state: 'owner' });
    expect(await state(batch)).toBe('running');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a halted realm stays the reason', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}], { owner: 'run-1' });
    await feedAll(batch);
    await haltRealm(ledger, { ...WHY, message: 'the key' });
    await gone(batch);
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'halted', reason: { message: 'the key' } });
  });

  test('unknown orders of its cancelled batch are left to the workers; a finished batch is left alone', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}], { owner: 'run-1', id: 'cancelled' });
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:sessions`, 'run-1', '{}');
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await cancelBatch(batch.ref, audit('cancelled'));
    await gone(batch);
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'cancelled', owner: '' });
    const over = await sealed(ledger, [{}], { owner: 'run-1', id: 'over' });
    await feedAll(over);
    await sendAs(over, 1, 'P');
    expect(await gone(over)).toEqual({ done: false, state: 'done' });
    expect(await tieUp(ledger)).toEqual([]);
  });
});

describe('halt', () => {
  const CHANGED = { ...WHY, code: 'ALM_BATCH_TERMS_CHANGED' } as const;

  test('stops planned and running batches with its reason; sent orders finish, and nothing is fed', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}, {}]);
    await feed(ledger, batch.no, 2, '');
    const of = await begun(batch, 1);
    expect(await haltBatch(batch.ref, CHANGED)).toEqual({ done: true, state: 'halted' });
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'halted', reason: { code: CHANGED.code } });
    expect(await feedAll(batch)).toEqual([]);
    expect(await afterwards(batch, () => settleAs(batch, 1, 'P', of))).toMatchObject({
      settled: true,
      batchState: 'halted',
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('releases the members of orders that are not being sent', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ member: '1' }, { member: '1' }]);
    await feedAll(batch);
    await claimFor(batch, 1);
    await claimFor(batch, 2);
    await haltBatch(batch.ref, CHANGED);
    const other = await sealed(ledger, [{ member: '1' }], { id: 'other' });
    await feedAll(other);
    expect(await claimFor(other, 1)).toMatchObject({ answer: 'go' });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test.each(['paused', 'cancelled', 'done'])('leaves a batch alone that is %s', async (was) => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    if (was === 'paused') await pauseBatch(batch.ref, WHY, audit('paused'));
    if (was === 'cancelled') await cancelBatch(batch.ref, audit('cancelled'));
    if (was === 'done') {
      await feedAll(batch);
      await sendAs(batch, 1, 'P');
    }
    expect(await haltBatch(batch.ref, CHANGED)).toEqual({ done: false, state: was });
  });

  test('ends by itself only for its own reason; a person ends it in any case', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    const options = { owner: '', haltedFor: CHANGED.code };
    expect(await resumeBatch(batch.ref, null, options)).toEqual({ done: false, state: 'planned' });
    await haltBatch(batch.ref, WHY);
    expect(await resumeBatch(batch.ref, null, options)).toEqual({ done: false, state: 'halted' });
    expect(await resumeBatch(batch.ref, audit('resumed'), { owner: '' })).toMatchObject({
      done: true,
    });
    await haltBatch(batch.ref, CHANGED);
    expect(await resumeBatch(batch.ref, null, options)).toEqual({ done: true, state: 'running' });
    expect((await readBatch(batch.ref))?.reason).toBeNull();
    expect(await feedAll(batch)).toEqual([1]);
  });

  test('ended by itself, it sends no more than the confirmed first orders', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}, {}]);
    await resumeBatch(batch.ref, null, { owner: '', first: { orders: 2, reason: WHY } });
    await haltBatch(batch.ref, CHANGED);
    const options = { owner: '', haltedFor: CHANGED.code };
    expect(await resumeBatch(batch.ref, null, options)).toEqual({ done: true, state: 'running' });
    expect(await feedAll(batch)).toEqual([1, 2]);
    expect(await feedAll(batch)).toEqual([]);
  });
});
