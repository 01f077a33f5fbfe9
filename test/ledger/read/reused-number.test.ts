import { expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { sealBatch } from '../../../src/ledger/moves/import-batch.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { importState } from '../../../src/ledger/read/batch-facts.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { ledgersOnRedis, sealed } from '../../support/ledgers-on-redis.js';
import { audit, WHY } from '../../support/order-moves.js';

/** A store that was put back gives the number of a batch it has forgotten to the next one. */
const bench = ledgersOnRedis();

test('whoever knows a batch by its number and its id never takes another for it', async () => {
  const { ref } = await sealed(await bench.ledger(), [{}]);
  const forgotten = { ...ref, id: batchId('forgotten') };
  expect(await readBatch(forgotten)).toBeUndefined();
  expect(await importState(forgotten)).toBeNull();
  expect(await pauseBatch(forgotten, WHY, audit('paused'))).toEqual({ done: false, state: 'gone' });
  expect(await resumeBatch(forgotten, null, { owner: 'a' })).toEqual({ done: false, state: 'gone' });
  const there = await readBatch(ref);
  expect(there).toMatchObject({ state: 'planned', owner: '' });
  if (there === undefined) throw new Error('not sealed');
  const at = { no: ref.no, importer: 'another', owner: '' };
  const manifest = { ...there.manifest, batch: forgotten.id };
  expect(await sealBatch(ref.ledger, at, manifest, {}, audit('sealed'))).toBe('not-importer');
  expect(await sealBatch(ref.ledger, at, there.manifest, {}, audit('sealed'))).toBe('already');
});
