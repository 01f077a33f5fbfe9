import { describe, expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { openBatches } from '../../../src/ledger/moves/feed.js';
import { openBatch, sealBatch } from '../../../src/ledger/moves/import-batch.js';
import { NO_CLAIMS, putBlock } from '../../../src/ledger/moves/put-block.js';
import { encodePlanBlock } from '../../../src/ledger/plan-block.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readAudit } from '../../../src/ledger/read/snapshot.js';
import {
  blocksOf,
  countersOf,
  ledgersOnRedis,
  manifestOf,
  planRow,
  sealed,
} from '../../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();

describe('seal-batch', () => {
  test('turns a plan into a batch whose counts and sums agree with its manifest', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [
      { tokens: 3 },
      { tokens: 4, op: 'debit' },
      { invalid: true },
      { tokens: 9, duplicateOf: 'x-1' },
    ]);
    const view = await readBatch(batch.ref);
    expect(view).toMatchObject({
      state: 'planned',
      counts: { planned: 2, duplicate: 1, invalid: 1 },
      sums: { planned: 7n, duplicate: 9n },
    });
    expect((await openBatches(ledger)).map(({ no }) => no)).toEqual([batch.no]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('repeated by the same importer, gives the same answer and starts nothing', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}], { importer: 'one' });
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    const again = (importer: string) =>
      sealBatch(
        ledger,
        { no: batch.no, importer, owner: '' },
        {
          manifest: manifestOf(ledger, batch.ref.id, batch.rows),
          counts: countersOf(batch.rows),
          audit: audit('again'),
        },
      );
    expect(await again('one')).toBe('sealed');
    expect(await again('two')).toBe('already');
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 1, planned: 1 });
    expect(await readAudit(batch.ref)).toHaveLength(1);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('writes nothing that cannot be read back', async () => {
    const ledger = await bench.ledger();
    const odd = { manifest: { again: 5 as never } };
    await expect(sealed(ledger, [{}], odd)).rejects.toThrow(/again/);
    expect(await openBatches(ledger)).toEqual([]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('is refused to any process but the importer, and for a batch that was never begun', async () => {
    const ledger = await bench.ledger();
    const { no, id } = await openBatch(ledger, {
      content: 'c',
      id: batchId('spring'),
      importer: 'one',
      createdAt: 1,
    });
    const seal = (of: string, importer: string) =>
      sealBatch(
        ledger,
        { no: of, importer, owner: '' },
        { manifest: manifestOf(ledger, id, []), counts: {}, audit: audit('import') },
      );
    expect(await seal(no, 'two')).toBe('not-importer');
    expect(await seal('77', 'one')).toBe('not-importer');
    expect(await readBatch({ ledger, no, id })).toBeUndefined();
    expect(await openBatches(ledger)).toEqual([]);
  });

  test('seals nothing while a block of the plan is missing', async () => {
    const ledger = await bench.ledger();
    const rows = Array.from({ length: 600 }, (_, i) => planRow({}, i + 1));
    const { no, id } = await openBatch(ledger, {
      content: 'c',
      id: batchId('holey'),
      importer: 'one',
      createdAt: 1,
    });
    const at = { no, importer: 'one', owner: '' };
    const put = (block: number) =>
      putBlock(ledger, { ...at, block }, encodePlanBlock(blocksOf(rows)[block] ?? []), NO_CLAIMS);
    const seal = () =>
      sealBatch(ledger, at, {
        manifest: manifestOf(ledger, id, rows),
        counts: countersOf(rows),
        audit: audit('import'),
      });
    for (const block of [0, 2]) await put(block);
    expect(await seal()).toBe('incomplete');
    expect(await readBatch({ ledger, no, id })).toBeUndefined();
    expect(await openBatches(ledger)).toEqual([]);
    await put(1);
    expect(await seal()).toBe('sealed');
    expect((await readBatch({ ledger, no, id }))?.counts).toEqual({ planned: 600 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a batch without orders to send is done at once', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ invalid: true }, { duplicateOf: 'x-1' }]);
    expect((await readBatch(batch.ref))?.state).toBe('done');
    expect(await feedAll(batch)).toEqual([]);
    expect(await tieUp(ledger)).toEqual([]);
  });
});
