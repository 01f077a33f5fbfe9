import { describe, expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { findSpent } from '../../../src/ledger/read/earlier.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { storeNowMs } from '../../../src/ledger/realm-ledger.js';
import { mergeTidings, tidingsFor } from '../../../src/ledger/sessions/merge.js';
import {
  attemptOf,
  merge,
  mergeContext,
  PAID,
  REFUSED,
  WAITS,
} from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begun, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();

describe('replay', () => {
  test('a ledger that is behind takes the journal’s state, and all counts agree', async () => {
    const batch = await sealed(await bench.ledger(), [{ reference: 'a' }, { reference: 'b' }, { tokens: 9 }]);
    await feedAll(batch);
    const merged = await merge(
      batch,
      'manual',
      attemptOf(batch, 1, PAID),
      attemptOf(batch, 2, REFUSED),
      attemptOf(batch, 3, null),
    );
    expect(merged).toMatchObject({ moved: 3, recovered: [], unknown: 1, second: [] });
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 1, refused: 1, doubt: 1 });
    expect((await readBatch(batch.ref))?.state).toBe('done');
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('repeated, it counts once', async () => {
    const batch = await sealed(await bench.ledger(), [{}, {}]);
    await feedAll(batch);
    await merge(batch, 'manual', attemptOf(batch, 1, PAID));
    expect(await merge(batch, 'manual', attemptOf(batch, 1, PAID))).toMatchObject({ moved: 0 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('a ledger that is sending this attempt is settled by its result', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    await begun(batch, 1);
    expect(await merge(batch, 'manual', attemptOf(batch, 1, PAID))).toMatchObject({ moved: 1 });
    expect((await readRecord(batch.ref, 1)).code).toBe('P');
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('a ledger that is ahead stays unchanged', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'w');
    await sendAs(batch, 1, 'P', { nonce: 'second' });
    const late = await merge(batch, 'manual', attemptOf(batch, 1, null), attemptOf(batch, 1, WAITS));
    expect(late).toMatchObject({ moved: 0, unknown: 0, second: [] });
    expect((await readRecord(batch.ref, 1)).code).toBe('P');
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('under read-back an unknown order holds its members again; if another order holds one, it becomes a doubt', async () => {
    const batch = await sealed(await bench.ledger(), [
      { member: '7', to: '8' },
      { member: '8', to: '9' },
    ]);
    await feedAll(batch);
    const merged = await merge(batch, 'readback', attemptOf(batch, 1, null), attemptOf(batch, 2, null));
    expect(merged.unknown).toBe(2);
    expect((await readBatch(batch.ref))?.counts).toEqual({ unknown: 1, doubt: 1 });
    // The doubt’s request may still arrive. Until then the balances read for the other order are void.
    const now = await storeNowMs(batch.ledger);
    const marks = await batch.ledger.scripts.redis.hgetall(`${batch.ledger.keyPrefix}:void`);
    const alive = Object.keys(marks).filter((member) => Number(marks[member]) > now);
    expect([Object.keys(marks).sort(), alive.sort()]).toEqual([
      ['7', '8', '9'],
      ['8', '9'],
    ]);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('a number that another file has taken is not confused with the batch', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    const merged = await merge(batch, 'manual', {
      ...attemptOf(batch, 1, PAID),
      intent: { ...attemptOf(batch, 1, PAID).intent, batch: batchId('b-other') },
    });
    expect(merged).toMatchObject({ moved: 1, recovered: ['b-other'] });
    expect((await readRecord(batch.ref, 1)).code).toBe('p');
  });

  test('uses the row of the named batch, even if the reader has cached another one under that number', async () => {
    const ledger = await bench.ledger();
    const plans = new PlanReader(ledger);
    const other = await sealed(ledger, [{ reference: 'of-the-other' }], { id: 'other' });
    expect(await plans.row(other.no, 1)).toMatchObject({ reference: 'of-the-other' });
    // After a rollback the number belongs to another file.
    const { redis } = ledger.scripts;
    await redis.del(...(await redis.keys(`${ledger.keyPrefix.replaceAll(/[{}]/g, '?')}*`)));
    const batch = await sealed(ledger, [{ reference: 'of-this' }], { id: 'this' });
    expect(batch.no).toBe(other.no);
    await feedAll(batch);
    const context = { ...mergeContext(batch, 'manual'), plans };
    const tell = async (one: ReturnType<typeof attemptOf>) =>
      mergeTidings(context, await tidingsFor(ledger, [one]));
    expect(await tell(attemptOf(batch, 1, PAID))).toMatchObject({ moved: 1 });
    expect([...(await findSpent(ledger, ['of-the-other', 'of-this'])).keys()]).toEqual(['of-this']);
    expect(await tell(attemptOf(other, 1, PAID))).toMatchObject({ recovered: ['other'] });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('paid is final, even if the ledger has counted further attempts', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'w');
    await sendAs(batch, 1, 'D', { nonce: 'second' });
    await merge(batch, 'manual', attemptOf(batch, 1, PAID));
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 1 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('reopens a finished batch for an order that is unknown again', async () => {
    const batch = await sealed(await bench.ledger(), [{}, {}], { owner: 'run-1' });
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await sendAs(batch, 2, 'X');
    expect((await readBatch(batch.ref))?.state).toBe('done');
    const later = { nonce: 'later', attempts: 2 };
    expect(await merge(batch, 'idempotent', attemptOf(batch, 2, null, later))).toMatchObject({ moved: 1 });
    expect((await readRecord(batch.ref, 2)).code).toBe('u');
    // A batch whose process is gone has no owner, so a worker or a run may take it.
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'running', owner: '', finishedAt: null });
    expect(await batch.ledger.scripts.redis.zrange(`${batch.ledger.keyPrefix}:open`, 0, '-1')).toEqual([
      batch.no,
    ]);
    expect(await tieUp(batch.ledger)).toEqual([]);
    expect(await begun(batch, 2, { session: 'worker', nonce: 'next', keyAgeMaxMs: 1e15 })).toMatchObject({
      resend: true,
    });
  });

  test('an unknown order of a cancelled batch is resolved, and its other orders stay cancelled', async () => {
    const batch = await sealed(await bench.ledger(), [{}, {}], { owner: 'run-1' });
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await cancelBatch(batch.ref, audit('cancelled'));
    expect(await batch.ledger.scripts.redis.zrange(`${batch.ledger.keyPrefix}:open`, 0, '-1')).toEqual([]);
    expect(await merge(batch, 'idempotent', attemptOf(batch, 2, null))).toMatchObject({ unknown: 1 });
    expect(await readBatch(batch.ref)).toMatchObject({
      state: 'cancelled',
      owner: '',
      counts: { unknown: 1 },
    });
    expect(await batch.ledger.scripts.redis.zrange(`${batch.ledger.keyPrefix}:open`, 0, '-1')).toEqual([
      batch.no,
    ]);
    expect(await begun(batch, 2, { session: 'worker', nonce: 'next', keyAgeMaxMs: 1e15 })).toMatchObject({
      resend: true,
      firstSentAt: START,
    });
  });
});
