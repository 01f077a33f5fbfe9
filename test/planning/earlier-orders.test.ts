import { describe, expect, test } from 'vitest';
import { orderId } from '../../src/core/ids.js';
import { openBatch } from '../../src/ledger/moves/import-batch.js';
import { putBlock } from '../../src/ledger/moves/put-block.js';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { decodePlanBlock } from '../../src/ledger/plan-block.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { writeUndo } from '../../src/operations/batches/undo.js';
import { denial } from '../../src/planning/paid-before/judge-earlier.js';
import type { Plan } from '../../src/planning/plan.js';
import { planCsv, putPlan, settleRows } from '../support/ledger/csv-plans.js';
import { ledgersOnRedis, START, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, concludeAs, feedAll, moment, sendAs } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';

/** What a row says of an earlier order, from the file to the books: that it stands in for it, or undoes it. */
const bench = ledgersOnRedis();

const plan = planCsv;
const put = putPlan;
const pay = (batch: TestBatch) => settleRows(batch, 'P');
const faultsOf = (planned: Plan) => planned.findings.faults();

async function refused(ledger: RealmLedger): Promise<TestBatch> {
  const batch = await sealed(ledger, [{ member: '1' }]);
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  return batch;
}

const retry = (batch: TestBatch) =>
  retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: moment(), nonce: String(moment()) });

describe('a row that stands in for an order', () => {
  const mended = (dead: TestBatch, tokens = 5) =>
    `member,tokens,almoner_order\n1,${tokens},${dead.ref.id}-1\n`;

  test('stands alone: the same order on two rows of one file is a fault that names both lines', async () => {
    const ledger = await bench.ledger();
    const dead = await refused(ledger);
    const twice = `${mended(dead)}\n2,9,\n1,5,${dead.ref.id}-1\n`;
    expect(faultsOf(await plan(ledger, twice))).toEqual([
      {
        line: 5,
        column: 'almoner_order',
        code: 'ALM_ROW_ORDER_TWICE',
        message: expect.stringContaining(`Order ${dead.ref.id}-1 is already on line 2`),
      },
    ]);
    // An invalid row would forget the order that it stood in for.
    expect((await plan(ledger, twice, { skipInvalid: true })).findings.faultCount).toBe(1);
  });

  test('of two files that were planned before either was imported, one is', async () => {
    const ledger = await bench.ledger();
    const dead = await refused(ledger);
    const plans = [await plan(ledger, mended(dead)), await plan(ledger, mended(dead, 6))];
    expect(plans.flatMap(faultsOf)).toEqual([]);
    const puts = await Promise.allSettled(plans.map((planned) => put(ledger, planned)));
    expect(puts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(puts.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: {
        code: 'ALM_ROW_ORDER_REPLACED',
        message: expect.stringMatching(/^Line 2: Order .* Nothing was imported\.$/),
      },
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('of an import that never finished keeps the order, and the fault says how to give it up', async () => {
    const ledger = await bench.ledger();
    const dead = await refused(ledger);
    const half = await plan(ledger, mended(dead));
    const { content, batch, blocks, referenceWrites } = half;
    if (content === null || batch === null || !blocks[0] || !referenceWrites[0])
      throw new Error('no whole plan');
    const { no } = await openBatch(ledger, { content, id: batch, importer: 'gone', createdAt: START });
    await putBlock(ledger, { no, importer: 'gone', block: 0 }, blocks[0], referenceWrites[0]);
    const other = await plan(ledger, mended(dead, 6));
    expect(faultsOf(other)).toEqual([]);
    await expect(put(ledger, other)).rejects.toMatchObject({
      code: 'ALM_ROW_ORDER_REPLACED',
      message: expect.stringContaining(`\`almoner cancel ${batch}\` gives it up`),
    });
    // The same file goes on with it.
    expect((await put(ledger, await plan(ledger, mended(dead)))).no).toBe(no);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('is refused once the order was retried, and an order that it stands in for is not retried', async () => {
    const ledger = await bench.ledger();
    const first = await refused(ledger);
    const planned = await plan(ledger, mended(first));
    expect(await retry(first)).toBe('ok');
    await expect(put(ledger, planned)).rejects.toMatchObject({
      code: 'ALM_ROW_ORDER_MAY_BE_PAID',
      message: expect.stringContaining('Line 2: '),
    });
    expect((await readRecord(first.ref, 1)).marks).toEqual([]);
    expect(await denial(ledger, 'replaces', orderId(first.ref.id, 1), { state: 'doubt' })).toMatchObject({
      message: expect.stringContaining('is in doubt: it was paid or may still be paid'),
    });
    const others = await bench.ledger();
    const second = await refused(others);
    await put(others, await plan(others, mended(second)));
    expect(await retry(second)).toMatchObject({ why: expect.stringContaining('put into another file') });
  });

  test.each([0, 1, 2])('replaced and retried at once, one of the two holds (%i)', async () => {
    const ledger = await bench.ledger();
    const dead = await refused(ledger);
    const planned = await plan(ledger, mended(dead));
    const [replaced, retried] = await Promise.all([
      put(ledger, planned).then(
        () => true,
        () => false,
      ),
      retry(dead).then((answer) => answer === 'ok'),
    ]);
    expect([replaced, retried].filter(Boolean)).toHaveLength(1);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('the same file again is its own batch, and no fault', async () => {
    const ledger = await bench.ledger();
    const dead = await refused(ledger);
    const batch = await put(ledger, await plan(ledger, mended(dead)));
    const again = await plan(ledger, mended(dead));
    expect([faultsOf(again), again.existing?.id]).toEqual([[], batch.ref.id]);
    expect(faultsOf(await plan(ledger, mended(dead, 6)))).toMatchObject([
      { line: 2, code: 'ALM_ROW_ORDER_REPLACED', message: expect.stringContaining(batch.ref.id) },
    ]);
  });

  test('a batch has no order behind its last row, also when it was cancelled', async () => {
    const ledger = await bench.ledger();
    const old = await sealed(ledger, [{}]);
    await cancelBatch(old.ref, audit('cancelled'));
    expect(faultsOf(await plan(ledger, `member,tokens,almoner_order\n1,5,${old.ref.id}-2\n`))).toMatchObject([
      { line: 2, column: 'almoner_order', code: 'ALM_ROW_ORDER_UNKNOWN' },
    ]);
  });
});

describe('an undo row', () => {
  const undo = (order: string, row = '1,,debit,5') =>
    `memberID,recipient,op,amount,reference\n${row},undo:${order}\n`;

  async function paid(ledger: RealmLedger, reference = 'a1'): Promise<TestBatch> {
    return pay(await sealed(ledger, [{ member: '1', reference }]));
  }

  test.each([
    ['another member', '2,,debit,5', 'memberID'],
    ['another op', '1,,credit,5', 'op'],
    ['a transfer', '1,2,transfer,5', 'op'],
    ['more', '1,,debit,6', 'amount'],
  ])('is no undo of a credit with %s', async (_, row, column) => {
    const ledger = await bench.ledger();
    const { ref } = await paid(ledger);
    expect(faultsOf(await plan(ledger, undo(`${ref.id}-1`, row)))).toEqual([
      {
        line: 2,
        column,
        code: 'ALM_ROW_UNDO_OTHER',
        message: expect.stringContaining(`the undo of order ${ref.id}-1: take 5 from 1`),
      },
    ]);
  });

  test('of less takes back a part, and frees nothing', async () => {
    const ledger = await bench.ledger();
    const { ref } = await paid(ledger);
    const part = await plan(ledger, undo(`${ref.id}-1`, '1,,debit,4'));
    expect(faultsOf(part)).toEqual([]);
    const rows = part.blocks.flatMap((block) => decodePlanBlock(block));
    expect(rows.map(({ order, undoes }) => [order?.tokens, undoes])).toEqual([[4, null]]);
  });

  test('turns a transfer round', async () => {
    const ledger = await bench.ledger();
    const { ref } = await pay(await sealed(ledger, [{ member: '1', to: '2' }]));
    expect(faultsOf(await plan(ledger, undo(`${ref.id}-1`, '2,1,transfer,5')))).toEqual([]);
    for (const [row, column] of [
      ['1,2,transfer,5', 'memberID'],
      ['2,3,transfer,5', 'recipient'],
    ] as const)
      expect(faultsOf(await plan(ledger, undo(`${ref.id}-1`, row)))).toMatchObject([
        { line: 2, column, code: 'ALM_ROW_UNDO_OTHER' },
      ]);
  });

  test('is in the currency of what it takes back, whether the file says so or not', async () => {
    const ledger = await bench.ledger();
    const { ref } = await paid(ledger);
    expect(faultsOf(await plan(ledger, undo(`${ref.id}-1`), { currency: 'gems' }))).toMatchObject([
      { line: 2, column: 'reference', code: 'ALM_ROW_CURRENCY_OTHER' },
    ]);
  });

  test.each([
    ['not paid', async (ledger: RealmLedger) => `${(await sealed(ledger, [{ member: '1' }])).ref.id}-1`],
    ['behind the last row', async (ledger: RealmLedger) => `${(await paid(ledger)).ref.id}-2`],
    ['of no batch', () => Promise.resolve('nobody-1')],
  ])('is refused for an order that is %s', async (_, order) => {
    const ledger = await bench.ledger();
    expect(faultsOf(await plan(ledger, undo(await order(ledger))))).toMatchObject([
      { line: 2, column: 'reference', code: 'ALM_ROW_UNDO_NOT_PAID' },
    ]);
  });

  test('is not undone itself, and the fault says how the points are given again', async () => {
    const ledger = await bench.ledger();
    const { ref } = await paid(ledger);
    const undone = await pay(await put(ledger, await plan(ledger, undo(`${ref.id}-1`))));
    expect(faultsOf(await plan(ledger, undo(`${undone.ref.id}-1`, '1,,credit,5')))).toEqual([
      {
        line: 2,
        column: 'reference',
        code: 'ALM_ROW_UNDO_OF_UNDO',
        message: expect.stringContaining('make a new order with a reference of its own'),
      },
    ]);
  });

  test('takes an order back once, whichever files are run and whenever they were planned', async () => {
    const ledger = await bench.ledger();
    const { ref } = await paid(ledger);
    const csv = undo(`${ref.id}-1`);
    const other = `${csv}2,,credit,1,other\n`;
    const [one, two] = [await plan(ledger, csv), await plan(ledger, other)];
    // At once: the second finds the first being imported, or its duplicate.
    const puts = await Promise.allSettled([put(ledger, one), put(ledger, two)]);
    const batches = puts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const holders = batches.flatMap(({ rows }) =>
      rows.filter(({ undoes, duplicateOf }) => undoes && !duplicateOf),
    );
    expect(holders).toHaveLength(1);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('frees the reference when it is paid, and not while it is in doubt; nobody else undoes meanwhile', async () => {
    const ledger = await bench.ledger();
    const { ref } = await paid(ledger);
    const isSpent = async () => (await findSpent(ledger, ['a1'])).has('a1');
    const doubtful = await put(ledger, await plan(ledger, undo(`${ref.id}-1`)));
    await feedAll(doubtful);
    await sendAs(doubtful, 1, 'D');
    expect(await isSpent()).toBe(true);
    const rival = await plan(ledger, `${undo(`${ref.id}-1`)}2,,credit,1,other\n`);
    expect(rival.spent.count).toBe(1);
    const { rows, leftOut } = await writeUndo(ref, { profiles: [] }, () => undefined);
    expect([rows, leftOut]).toMatchObject([0, [{ why: 'undo-in-doubt', orders: 1, tokens: 5n }]]);
    await concludeAs(doubtful, 1, 'D', 'P');
    expect(await isSpent()).toBe(false);
    // Spent again by the corrected row: nothing that is said of the undo frees it a second time.
    await pay(await sealed(ledger, [{ member: '1', tokens: 50, reference: 'a1' }]));
    await concludeAs(doubtful, 1, 'D', 'P');
    expect(await isSpent()).toBe(true);
  });

  test('one payment of two that is taken back frees nothing', async () => {
    const ledger = await bench.ledger();
    const { ref } = await paid(ledger);
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:b:${ref.no}`, 'second', ' 1:other-attempt:P');
    await pay(await put(ledger, await plan(ledger, undo(`${ref.id}-1`))));
    expect((await findSpent(ledger, ['a1'])).has('a1')).toBe(true);
  });
});
