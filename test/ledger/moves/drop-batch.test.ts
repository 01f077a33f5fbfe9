import { describe, expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { batchKeys, PLAN_BLOCK_ROWS } from '../../../src/ledger/keys.js';
import { dropBatch, openBatch } from '../../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../../src/ledger/moves/put-block.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { encodePlanBlock } from '../../../src/ledger/plan-block.js';
import { listBatches } from '../../../src/ledger/read/batches.js';
import { findSpent } from '../../../src/ledger/read/earlier.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import {
  type Line,
  ledgersOnRedis,
  planRow,
  sealed,
  type TestBatch,
} from '../../support/ledger/ledgers-on-redis.js';
import { feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const BY = { who: 'ada', why: null, at: 1, nonce: 'retry' };

/** Two blocks: each has one reference, and the second has a row that stands in for a dead letter. */
async function twoBlocks(ledger: RealmLedger, dead: TestBatch, importer: string, blocks: readonly number[]) {
  const { no } = await openBatch(ledger, { content: 'c', id: batchId('later'), importer, createdAt: 1 });
  const lines: Line[][] = [
    [{ reference: 'r-1' }],
    [{ reference: 'r-2', replaces: { batch: dead.ref.id, index: 1 } }],
  ];
  const rowsOf = (block: number) =>
    (lines[block] ?? []).map((line, i) => planRow(line, block * PLAN_BLOCK_ROWS + i + 1));
  const claimsOf = (block: number) => blockClaims(block * PLAN_BLOCK_ROWS + 1, rowsOf(block), () => dead.no);
  for (const block of blocks)
    expect(
      await putBlock(ledger, { no, importer, block }, encodePlanBlock(rowsOf(block)), claimsOf(block)),
    ).toBe('ok');
  return {
    no,
    drop: (as: string, count: number) =>
      dropBatch(ledger, { no, importer: as }, count, async (block) => claimsOf(block)),
  };
}

async function deadOrder(ledger: RealmLedger): Promise<TestBatch> {
  const dead = await sealed(ledger, [{ reference: 'old' }]);
  await feedAll(dead);
  await sendAs(dead, 1, 'X');
  return dead;
}

describe('drop-batch', () => {
  test('returns references and marks, and removes the batch', async () => {
    const ledger = await bench.ledger();
    const dead = await deadOrder(ledger);
    const { no, drop } = await twoBlocks(ledger, dead, 'one', [0, 1]);
    await drop('one', 2);
    expect((await listBatches(ledger)).map((ref) => ref.no)).toEqual([dead.no]);
    expect(await ledger.scripts.redis.keys(`${batchKeys(ledger.keyPrefix, no).meta}*`)).toEqual([]);
    await sealed(ledger, [{ reference: 'r-1' }, { reference: 'r-2' }]);
    expect(await retryOrder(dead.ref, 1, dead.row(1), BY)).toBe('ok');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('repeated, does no harm, and the same orders can be imported again', async () => {
    const ledger = await bench.ledger();
    const dead = await deadOrder(ledger);
    const first = await twoBlocks(ledger, dead, 'one', [0]);
    await first.drop('one', 1);
    await first.drop('one', 1);
    const second = await twoBlocks(ledger, dead, 'two', [0, 1]);
    expect(second.no).not.toBe(first.no);
  });

  test('after a takeover also returns the blocks of the first importer', async () => {
    const ledger = await bench.ledger();
    const dead = await deadOrder(ledger);
    await twoBlocks(ledger, dead, 'one', [0, 1]);
    const { drop } = await twoBlocks(ledger, dead, 'two', [0]);
    await drop('two', 1);
    expect(await retryOrder(dead.ref, 1, dead.row(1), BY)).toBe('ok');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('is refused to any process but the importer', async () => {
    const ledger = await bench.ledger();
    const dead = await deadOrder(ledger);
    const { drop } = await twoBlocks(ledger, dead, 'one', [0, 1]);
    await drop('two', 2);
    expect(await listBatches(ledger)).toHaveLength(2);
    expect(await retryOrder(dead.ref, 1, dead.row(1), BY)).not.toBe('ok');
  });

  test('never drops a sealed batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ reference: 'r-1' }], { importer: 'one' });
    const claims = blockClaims(1, batch.rows, () => undefined);
    await dropBatch(ledger, { no: batch.no, importer: 'one' }, 1, async () => claims);
    expect([...(await findSpent(ledger, ['r-1'])).values()]).toMatchObject([{ no: batch.no }]);
    expect(await tieUp(ledger)).toEqual([]);
  });
});
