import { describe, expect, test } from 'vitest';
import type { OrderState } from '../../../src/core/states.js';
import { discardOrder } from '../../../src/ledger/moves/retry.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import { readRecord, readRow, rowContext } from '../../../src/ledger/read/rows.js';
import { snapshotBatch } from '../../../src/ledger/read/snapshot.js';
import { attention } from '../../../src/ledger/read/unsettled.js';
import type { BatchRecord, RowView } from '../../../src/ledger/views.js';
import { feed } from '../../support/ledger/feed-one.js';
import { type Line, ledgersOnRedis, START, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begun, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();

async function rowsOf(record: BatchRecord): Promise<RowView[]> {
  const rows: RowView[] = [];
  for await (const row of record.rows) rows.push(row);
  return rows;
}

/** Counts and sums of the rows, in the shape of a view. */
function tally(rows: readonly RowView[]) {
  const counts: Partial<Record<OrderState, number>> = {};
  const sums: Partial<Record<OrderState, bigint>> = {};
  for (const { state, tokens } of rows) {
    counts[state] = (counts[state] ?? 0) + 1;
    sums[state] = (sums[state] ?? 0n) + BigInt(tokens ?? 0);
  }
  return { counts, sums };
}

const FIVE: Line[] = [
  { tokens: 3 },
  { tokens: 4, op: 'debit' },
  { invalid: true },
  { duplicateOf: 'old-7' },
  { member: '1', to: '2' },
];

describe('a snapshot of a batch', () => {
  test('has one row for each input row, in order, with its outcome and reason', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, FIVE);
    await feedAll(batch);
    await sendAs(batch, 1, 'P', { sentAt: START });
    await sendAs(batch, 2, 'R', { sentAt: START });
    await discardOrder(batch.ref, 2, { who: 'ada', why: 'enough', at: 1 });
    const record = await snapshotBatch(batch.ref, new PlanReader(ledger), ['a caveat']);
    const rows = await rowsOf(record);
    expect(rows.map(({ state }) => state)).toEqual(['paid', 'refused', 'invalid', 'duplicate', 'planned']);
    expect(rows[0]).toMatchObject({
      order: `${batch.ref.id}-1`,
      line: 2,
      balanceAfter: '105',
      evidence: 'answer',
      sentAt: (await readRecord(batch.ref, 1)).sentAt,
      error: null,
    });
    expect((rows[0]?.settledAt ?? 0) - (rows[0]?.sentAt ?? 0)).toBe(40);
    expect(rows[1]).toMatchObject({
      errorCode: 'ALM_REFUSED_NOT_FOUND',
      error: 'ended as R',
      marks: ['discarded'],
      httpStatus: 404,
    });
    expect(rows[2]).toMatchObject({ op: null, errorCode: 'ALM_ROW_TOKENS_INVALID' });
    expect(rows[3]).toMatchObject({
      errorCode: 'ALM_ROW_DUPLICATE',
      error: expect.stringContaining('old-7'),
    });
    expect(rows[4]).toMatchObject({ op: 'transfer', recipient: '2', attempts: 0 });
    expect(tally(rows)).toMatchObject({ counts: record.batch.counts, sums: record.batch.sums });
    expect(record.latency.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    expect(record.series.slices).toMatchObject([{ requests: 2, paid: 1, failed: 1 }]);
    expect(record).toMatchObject({ caveats: ['a caveat'], audit: [{ what: 'imported' }] });
  });

  test('taken while the batch moves still agrees: each order is in exactly one state', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(
      ledger,
      Array.from({ length: 600 }, (_, i) => ({ tokens: i + 1 })),
    );
    await feed(ledger, batch.no, 600, '');
    let moving = true;
    const moves = (async () => {
      for (let index = 1; moving && index <= 600; index++) await sendAs(batch, index, index % 3 ? 'P' : 'D');
    })();
    for (let i = 0; i < 8; i++) {
      const record = await snapshotBatch(batch.ref, new PlanReader(ledger), []);
      const rows = await rowsOf(record);
      expect(rows).toHaveLength(600);
      expect(tally(rows)).toEqual({ counts: record.batch.counts, sums: record.batch.sums });
    }
    moving = false;
    await moves;
  });

  test('of a cancelled batch shows unsent orders as cancelled', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}, {}]);
    await feedAll(batch);
    await settleAs(batch, 1, 'w', await begun(batch, 1));
    await sendAs(batch, 2, 'P');
    await cancelBatch(batch.ref, audit('cancelled'));
    const rows = await rowsOf(await snapshotBatch(batch.ref, new PlanReader(ledger), []));
    expect(rows.map(({ state }) => state)).toEqual(['cancelled', 'paid', 'cancelled']);
    const context = await rowContext(batch.ref, new PlanReader(ledger));
    expect((await readRow(context, 3)).state).toBe('cancelled');
  });

  test('of an unsealed import is refused with an explanation', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await ledger.scripts.redis.hdel(`${ledger.keyPrefix}:b:${batch.no}`, 'manifest');
    expect(await readBatch(batch.ref)).toBeUndefined();
    await expect(snapshotBatch(batch.ref, new PlanReader(ledger), [])).rejects.toMatchObject({
      code: 'ALM_BATCH_CANNOT',
    });
  });

  test('reads a plan with a missing block as missing, and rows beyond the end as absent', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await expect(new PlanReader(ledger).row(batch.no, 2)).rejects.toMatchObject({
      code: 'ALM_BATCH_ORDER_NOT_FOUND',
    });
    await expect(new PlanReader(ledger).row(batch.no, 257)).rejects.toMatchObject({
      code: 'ALM_LEDGER_PLAN_MISSING',
    });
  });
});

describe('the attention list', () => {
  test('lists the orders of a state in file order, page after page, without a scan', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(
      ledger,
      Array.from({ length: 6 }, () => ({})),
    );
    await feedAll(batch);
    await sendAs(batch, 5, 'D');
    await sendAs(batch, 2, 'D');
    await sendAs(batch, 3, 'X');
    await sendAs(batch, 1, 'P');
    const list = async (state: Parameters<typeof attention>[1]) => {
      const found: number[] = [];
      for await (const index of attention(batch.ref, state)) found.push(index);
      return found;
    };
    expect(await list('doubt')).toEqual([2, 5]);
    expect(await list('exhausted')).toEqual([3]);
    expect(await list('sending')).toEqual([]);
    const many = Array.from({ length: 2_345 }, (_, i) => i + 1);
    const key = `${ledger.keyPrefix}:b:${batch.no}:a`;
    await ledger.scripts.redis.zadd(key, ...many.flatMap((index) => [3 * 2 ** 32 + index, `${index}`]));
    expect(await list('refused')).toEqual(many);
  });
});
