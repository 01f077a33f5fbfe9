import { describe, expect, test } from 'vitest';
import { batchId, orderId } from '../../../src/core/ids.js';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { openBatch } from '../../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../../src/ledger/moves/put-block.js';
import { discardOrder, retryOrder } from '../../../src/ledger/moves/retry.js';
import { encodePlanBlock } from '../../../src/ledger/plan-block.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { findSpent } from '../../../src/ledger/read/earlier.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import {
  type Line,
  ledgersOnRedis,
  planRow,
  sealed,
  type TestBatch,
} from '../../support/ledger/ledgers-on-redis.js';
import { begun, concludeAs, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';

/**
 * A person calls a doubt unpaid while its request may still be under way. Until the settle time since its last attempt
 * is over, every way to pay it a second time is blocked.
 */
const bench = ledgersOnRedis();
const LONG_MS = 3_600_000;

async function saidUnpaid(line: Line, settleMs: number, sentAt = Date.now()): Promise<TestBatch> {
  const batch = await sealed(await bench.ledger(), [line]);
  await feedAll(batch);
  await sendAs(batch, 1, 'D', { sentAt });
  await concludeAs(batch, 1, 'D', 'X', { settleMs });
  return batch;
}

const retry = (batch: TestBatch, nonce = 'one') =>
  retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: 1, nonce });

/** Puts one row as a separate file would. */
async function put(batch: TestBatch, line: Line): Promise<unknown> {
  const { ledger } = batch;
  const at = { importer: 'other', block: 0 };
  const opened = await openBatch(ledger, { content: 'other', id: batchId('other'), createdAt: 1, ...at });
  const rows = [planRow(line, 1)];
  const claims = blockClaims(1, rows, () => batch.no);
  return putBlock(ledger, { ...at, no: opened.no }, encodePlanBlock(rows), claims);
}

describe('an order called unpaid before its settle time is over', () => {
  test('is exhausted, keeps its key and reports until when its request may arrive', async () => {
    const sentAt = Date.now();
    const batch = await saidUnpaid({ tokens: 7, reference: 'r' }, LONG_MS, sentAt);
    const record = await readRecord(batch.ref, 1);
    expect(record).toMatchObject({ code: 'X', keyNumber: 1, evidence: 'operator', marks: [] });
    expect(record.arrivesUntil).toBeGreaterThanOrEqual(sentAt + LONG_MS);
    expect(record.arrivesUntil).toBeLessThan(sentAt + LONG_MS + 60_000);
    expect((await readBatch(batch.ref))?.counts).toEqual({ exhausted: 1 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('is not retried, and reports when it may be', async () => {
    const batch = await saidUnpaid({ reference: 'r' }, LONG_MS);
    const { arrivesUntil } = await readRecord(batch.ref, 1);
    const message = expect.stringContaining(new Date(arrivesUntil ?? 0).toISOString());
    expect(await retry(batch)).toEqual({
      why: message,
      against: { order: orderId(batch.ref.id, 1), code: 'ALM_ROW_ORDER_MAY_BE_PAID', message },
    });
    expect((await readBatch(batch.ref))?.counts).toEqual({ exhausted: 1 });
  });

  test('cannot be replaced by a row of another file', async () => {
    const batch = await saidUnpaid({}, LONG_MS);
    expect(await put(batch, { replaces: { batch: batch.ref.id, index: 1 } })).toMatchObject([
      { kind: 'replaces', no: batch.no, index: 1 },
    ]);
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 'X', replacedBy: null });
  });

  test('keeps its reference spent, and reports until when', async () => {
    const batch = await saidUnpaid({ reference: 'r' }, LONG_MS);
    const { arrivesUntil } = await readRecord(batch.ref, 1);
    expect((await findSpent(batch.ledger, ['r'])).get('r')).toMatchObject({ no: batch.no, arrivesUntil });
    expect(await put(batch, { reference: 'r' })).toMatchObject([{ kind: 'reference', index: 1 }]);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('may be discarded, and stays blocked all the same', async () => {
    const batch = await saidUnpaid({ reference: 'r' }, LONG_MS);
    expect(await discardOrder(batch.ref, 1, { who: 'ada', why: 'enough', at: 1 })).toBe('ok');
    expect(await readRecord(batch.ref, 1)).toMatchObject({
      marks: ['discarded'],
      arrivesUntil: expect.any(Number),
    });
    expect((await findSpent(batch.ledger, ['r'])).has('r')).toBe(true);
  });

  test('keeps its batch out of the archive, where a reference would stay spent for ever', async () => {
    const folder = await tempFolder();
    const early = await saidUnpaid({ reference: 'r' }, LONG_MS);
    expect(await archiveBatch(early.ref, folder)).toBeUndefined();
    expect((await findSpent(early.ledger, ['r'])).has('r')).toBe(true);
    const late = await saidUnpaid({ reference: 'r' }, 1, Date.now() - LONG_MS);
    expect(await archiveBatch(late.ref, folder)).toMatchObject({ rows: 1 });
    expect((await findSpent(late.ledger, ['r'])).has('r')).toBe(false);
  });

  test('can be retried and replaced again once the settle time is over', async () => {
    const batch = await saidUnpaid({ reference: 'r' }, 700);
    expect(await retry(batch)).toHaveProperty('why');
    await until('the settle time to be over', async () => (await retry(batch, 'two')) === 'ok');
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 'w', arrivesUntil: null });
    expect(await begun(batch, 1, { nonce: 'two' })).toMatchObject({ keyNumber: 1 });
    expect(await tieUp(batch.ledger)).toEqual([]);

    const other = await saidUnpaid({ reference: 'r' }, 700);
    await until('its reference to be free', async () => !(await findSpent(other.ledger, ['r'])).has('r'));
    const row = { reference: 'r', replaces: { batch: other.ref.id, index: 1 } };
    expect(await put(other, row)).toBe('ok');
  });

  test('an old doubt is not marked, and one without a known time counts from now', async () => {
    const old = await saidUnpaid({ reference: 'r' }, 1_000, Date.now() - LONG_MS);
    expect((await readRecord(old.ref, 1)).arrivesUntil).toBeNull();
    expect((await findSpent(old.ledger, ['r'])).has('r')).toBe(false);
    expect(await retry(old)).toBe('ok');

    const batch = await sealed(await bench.ledger(), [{ reference: 'r' }]);
    await feedAll(batch);
    const key = `${batch.ledger.keyPrefix}:b:${batch.no}`;
    await sendAs(batch, 1, 'D');
    await batch.ledger.scripts.redis.hset(`${key}:o:0`, '1', 'D|1|0|0||||||');
    const before = Date.now();
    await concludeAs(batch, 1, 'D', 'X', { settleMs: LONG_MS });
    const { arrivesUntil } = await readRecord(batch.ref, 1);
    expect(arrivesUntil).toBeGreaterThanOrEqual(before + LONG_MS);
  });

  test('an order that a person called paid needs no waiting', async () => {
    const batch = await sealed(await bench.ledger(), [{ reference: 'r' }]);
    await feedAll(batch);
    await sendAs(batch, 1, 'D', { sentAt: Date.now() });
    await concludeAs(batch, 1, 'D', 'P', { settleMs: LONG_MS });
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 'P', arrivesUntil: null });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });
});
