import { describe, expect, test } from 'vitest';
import { orphan } from '../../../src/ledger/moves/orphan.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import type { OrderEvent } from '../../../src/ledger/order-event.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readDetails, readRecord } from '../../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begun, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const DIED: OrderEvent = {
  event: 'orphaned',
  at: 1,
  key: 'k.1',
  session: 'worker',
  code: 'ALM_SEND_OWNER_DIED',
  message: 'died',
};
const adopt = async (batch: TestBatch, index: number, session = 'worker', toDoubt = false, nonce = 'one') =>
  orphan(
    batch.ledger,
    { no: batch.no, index },
    {
      session,
      row: batch.row(index),
      attempt: (await readRecord(batch.ref, index)).nonce ?? '',
    },
    { detail: DIED, to: toDoubt ? 'D' : 'u', nonce },
  );

describe('orphan', () => {
  test('an order that a dead session was sending becomes unknown, due at once, with its key and first time', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7, reference: 'r' }]);
    await feedAll(batch);
    const { sentAt } = await begun(batch, 1);
    expect(await adopt(batch, 1)).toBe(true);
    expect(await readRecord(batch.ref, 1)).toMatchObject({
      code: 'u',
      keyNumber: 1,
      attempts: 1,
      sentAt,
      nonce: 'nonce-1',
    });
    expect(await tieUp(ledger)).toEqual([]);
    expect(await begun(batch, 1, { nonce: 'two', keyAgeMaxMs: 60_000 })).toMatchObject({
      resend: true,
      firstSentAt: sentAt,
      keyFirstAt: sentAt,
    });
  });

  test('it becomes a doubt if nothing can resolve it, and the last one finishes the batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7 }]);
    await feedAll(batch);
    await begun(batch, 1);
    expect(await adopt(batch, 1, 'worker', true)).toBe(true);
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'done', counts: { doubt: 1 } });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('repeated, it is recorded once, and a second finder learns that it came too late', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    await begun(batch, 1);
    expect(await adopt(batch, 1)).toBe(true);
    expect(await adopt(batch, 1)).toBe(true);
    expect(await adopt(batch, 1, 'worker', false, 'another finder')).toBe(false);
    expect(await readDetails(batch.ref, 1)).toHaveLength(1);
    expect((await readBatch(batch.ref))?.counts).toEqual({ unknown: 1 });
  });

  test('changes nothing for another session, an unsent order, or a settled one', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}, {}]);
    await feedAll(batch);
    await begun(batch, 1);
    await sendAs(batch, 2, 'P');
    expect(await adopt(batch, 1, 'somebody-else')).toBe(false);
    expect(await adopt(batch, 2)).toBe(false);
    expect(await adopt(batch, 3)).toBe(false);
    expect((await readBatch(batch.ref))?.counts).toEqual({ sending: 1, paid: 1, planned: 1 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a late answer to a given-up attempt settles nothing', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    const attempt = await begun(batch, 1);
    await adopt(batch, 1);
    expect(await settleAs(batch, 1, 'P', attempt)).toEqual({ settled: false, state: 'unknown' });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('such an order of a cancelled batch stays open until it is resolved', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await begun(batch, 1);
    await cancelBatch(batch.ref, audit('cancelled'));
    await adopt(batch, 1);
    expect((await readBatch(batch.ref))?.counts).toEqual({ unknown: 1, cancelled: 1 });
    expect(await ledger.scripts.redis.zrange(`${ledger.keyPrefix}:open`, 0, '-1')).toEqual([batch.no]);
    expect(await tieUp(ledger)).toEqual([]);
  });
});
