import { expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { conclude } from '../../../src/ledger/moves/conclude.js';
import { sealBatch } from '../../../src/ledger/moves/import-batch.js';
import { discardOrder, retryOrder } from '../../../src/ledger/moves/retry.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { importState } from '../../../src/ledger/read/batch-facts.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { judgedAt, judgeReplaced } from '../../../src/ledger/read/earlier.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, sendAs, WHY } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

/** A rolled-back store gives the number of a forgotten batch to the next one. */
const bench = ledgersOnRedis();

test('a reader that knows a batch by number and id never takes another for it', async () => {
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
  expect(await sealBatch(ref.ledger, at, { manifest, counts: {}, audit: audit('sealed') })).toBe(
    'not-importer',
  );
  expect(
    await sealBatch(ref.ledger, at, { manifest: there.manifest, counts: {}, audit: audit('sealed') }),
  ).toBe('already');
});

test('no order of another batch moves in place of a forgotten one', async () => {
  const batch = await sealed(await bench.ledger(), [{}, {}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  await sendAs(batch, 2, 'D');
  const forgotten = { ...batch.ref, id: batchId('forgotten') };
  const by = { who: 'ada', why: 'mended', at: 1, nonce: 'one' };
  const gone = { why: 'its batch is not in the store any more' };
  expect(await retryOrder(forgotten, 1, batch.row(1), by)).toEqual(gone);
  expect(await discardOrder(forgotten, 1, by)).toEqual(gone);
  const detail = {
    event: 'concluded',
    at: 1,
    state: 'paid',
    by: 'ada',
    code: null,
    message: 'seen',
  } as const;
  const { doubt } = await readRecord(batch.ref, 2);
  const verdict = {
    about: { batch: forgotten.id, doubt: doubt ?? '' },
    to: 'paid',
    evidence: null,
    detail,
    dueInMs: 0,
  } as const;
  const more = { audit: null, balance: null, tries: null };
  const order = { no: batch.no, index: 2 };
  const conclusion = { ...verdict, ...more };
  const mistaken = await conclude(batch.ledger, order, batch.row(2), conclusion);
  expect(mistaken.concluded).toBe(false);
  // A row that names an order of the forgotten batch does not stand in for an order of this one.
  const named = [[batch.no, '1', '0', forgotten.id]] as const;
  expect(await judgeReplaced(batch.ledger, named)).toMatchObject([{ why: 'gone' }]);
  expect(await judgeReplaced(batch.ledger, [[batch.no, '1', '0', batch.ref.id]])).toEqual([]);
  // Before any process has merged its journals, the store may have forgotten a payment.
  expect(await retryOrder(batch.ref, 1, batch.row(1), { ...by, store: 'another era' })).toMatchObject({
    why: expect.stringContaining('the journals are not merged'),
  });
  const { store } = await judgedAt(batch.ledger);
  expect(await retryOrder(batch.ref, 1, batch.row(1), { ...by, store })).toBe('ok');
  expect(await tieUp(batch.ledger)).toEqual([]);
});
