import { describe, expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { openBatch, sealBatch } from '../../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../../src/ledger/moves/put-block.js';
import { encodePlanBlock } from '../../../src/ledger/plan-block.js';
import { listBatches } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import {
  contentHash,
  ledgersOnRedis,
  manifestOf,
  planRow,
  sealed,
} from '../../support/ledger/ledgers-on-redis.js';
import { audit } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const open = (ledger: RealmLedger, importer: string, id = 'spring', content = 'content-1') =>
  openBatch(ledger, { content, id: batchId(id), importer, createdAt: 1 });

describe('open-batch', () => {
  test('begins a batch under the next number, with the requested id', async () => {
    const ledger = await bench.ledger();
    expect(await open(ledger, 'one')).toEqual({ status: 'new', no: '1', id: 'spring' });
    expect(await open(ledger, 'one', 'summer', 'content-2')).toEqual({
      status: 'new',
      no: '2',
      id: 'summer',
    });
    expect((await listBatches(ledger)).map(({ id }) => id)).toEqual(['spring', 'summer']);
  });

  test('repeated by the same importer, gives the same answer and begins nothing', async () => {
    const ledger = await bench.ledger();
    const first = await open(ledger, 'one');
    expect(await open(ledger, 'one')).toEqual(first);
    expect(await listBatches(ledger)).toHaveLength(1);
  });

  test('lets a second importer of the same orders take over an unsealed import, and locks the first one out', async () => {
    const ledger = await bench.ledger();
    await open(ledger, 'one');
    expect(await open(ledger, 'two')).toMatchObject({ status: 'taken-over', no: '1' });
    const rows = [planRow({}, 1)];
    const put = (importer: string) =>
      putBlock(
        ledger,
        { no: '1', importer, block: 0 },
        encodePlanBlock(rows),
        blockClaims(1, rows, () => undefined),
      );
    expect(await put('one')).toBe('not-importer');
    expect(await put('two')).toBe('ok');
    const manifest = manifestOf(ledger, batchId('spring'), rows);
    const seal = (importer: string) =>
      sealBatch(ledger, { no: '1', importer, owner: '' }, { manifest, counts: {}, audit: audit('import') });
    expect(await seal('one')).toBe('not-importer');
  });

  test('takes over an existing import in order to drop it, and begins nothing', async () => {
    const ledger = await bench.ledger();
    const wanted = { content: 'content-1', id: batchId('spring'), createdAt: 1, takesBack: true };
    expect(await openBatch(ledger, { ...wanted, importer: 'two' })).toMatchObject({ status: 'gone' });
    expect(await listBatches(ledger)).toEqual([]);
    await open(ledger, 'one');
    expect(await openBatch(ledger, { ...wanted, importer: 'two' })).toMatchObject({ status: 'taken-over' });
  });

  test('finds the sealed batch of the same orders under any requested id', async () => {
    const ledger = await bench.ledger();
    const lines = [{ tokens: 3 }];
    const batch = await sealed(ledger, lines, { id: 'first-name' });
    const again = await open(ledger, 'two', 'other-name', contentHash(lines, 'first-name'));
    expect(again).toEqual({ status: 'sealed', no: batch.no, id: 'first-name' });
    expect(await listBatches(ledger)).toHaveLength(1);
  });

  test('refuses an id that names other orders, and begins nothing', async () => {
    const ledger = await bench.ledger();
    await open(ledger, 'one');
    expect(await open(ledger, 'one', 'spring', 'content-2')).toMatchObject({ status: 'id-taken', no: '1' });
    expect(await open(ledger, 'one', 'autumn', 'content-2')).toMatchObject({ status: 'new', no: '2' });
  });
});
