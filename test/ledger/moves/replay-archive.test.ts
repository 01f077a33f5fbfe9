import { expect, test } from 'vitest';
import { orderId } from '../../../src/core/ids.js';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { batchSource } from '../../../src/ledger/read/batch-source.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { findSpent } from '../../../src/ledger/read/earlier.js';
import { openLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { mergeTidings, tidingsFor } from '../../../src/ledger/sessions/merge.js';
import { attemptOf, merge, mergeContext, PAID, REFUSED } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, type SettledCode, sendAs } from '../../support/ledger/order-moves.js';
import { tempFolder } from '../../support/temp-folder.js';

/** A journal arrives late, from a data folder that was away, and its batch is archived. */
const bench = ledgersOnRedis();
const HERE = { nonce: 'here' };

async function withArchive() {
  const folder = await tempFolder();
  const { realm } = await bench.ledger();
  const at = (path: string) =>
    openLedger(new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: path }), realm);
  return { folder, at, ledger: at(folder) };
}

async function archived(code: SettledCode, isHere = true) {
  const { folder, at } = await withArchive();
  const batch = await sealed(at(folder), [{}]);
  await feedAll(batch);
  await sendAs(batch, 1, code, HERE);
  expect(await archiveBatch(batch.ref, folder)).toBeDefined();
  const ledger = isHere ? batch.ledger : at(await tempFolder());
  return { ...batch, ledger, ref: { ...batch.ref, ledger } };
}

test.each([
  ['paid', 'P', PAID],
  ['unanswered', 'P', null],
  ['paid', 'R', PAID],
] as const)(
  'an attempt that the archive does not know is told once: %s there, %s in the archive',
  async (_, code, record) => {
    const batch = await archived(code);
    const order = orderId(batch.ref.id, 1);
    const late = attemptOf(batch, 1, record);
    expect(await merge(batch, 'manual', late)).toMatchObject({ moved: 0, second: [order] });
    expect(await merge(batch, 'manual', late)).toMatchObject({ moved: 0, second: [] });
    expect(await readBatch(batch.ref)).toMatchObject({ notes: [expect.stringContaining(order)] });
    expect((await (await batchSource(batch.ref)).audit()).at(-1)).toContain(order);
  },
);

test('an attempt that the archive holds, and a definite refusal, are not reported', async () => {
  const batch = await archived('P');
  const known = attemptOf(batch, 1, PAID, HERE);
  const no = attemptOf(batch, 1, REFUSED);
  expect(await merge(batch, 'manual', known, no)).toMatchObject({ moved: 0, second: [] });
});

test('without access to the archive the journal is merged nevertheless', async () => {
  const batch = await archived('P', false);
  expect(await merge(batch, 'manual', attemptOf(batch, 1, PAID))).toMatchObject({ moved: 0, second: [] });
});

test('an order cancelled before it was sent has no record in the archive, and its late payment is reported', async () => {
  const { folder, ledger } = await withArchive();
  const batch = await sealed(ledger, [{ reference: 'r' }, {}]);
  await cancelBatch(batch.ref, audit('cancelled'));
  expect(await archiveBatch(batch.ref, folder)).toBeDefined();
  const late = attemptOf(batch, 1, PAID);
  expect(await merge(batch, 'manual', late)).toMatchObject({ second: [orderId(batch.ref.id, 1)] });
});

test('an attempt whose batch is archived between look and merge is reported', async () => {
  const { folder, ledger } = await withArchive();
  const batch = await sealed(ledger, [{}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'R', HERE);
  const tidings = await tidingsFor(ledger, [attemptOf(batch, 1, PAID, { nonce: 'other' })]);
  expect(await archiveBatch(batch.ref, folder)).toBeDefined();
  const merged = await mergeTidings(mergeContext(batch, 'manual'), tidings);
  expect(merged).toMatchObject({ second: [orderId(batch.ref.id, 1)] });
});

test.each([
  [1, 2],
  [2, 1],
])(
  'a recovered batch was archived with order %i, and a journal knows that order %i was paid: it is told',
  async (here, there) => {
    const { folder, ledger } = await withArchive();
    const past = await sealed(await bench.ledger(), [{ reference: 'a' }, { reference: 'b' }]);
    const batch = { ...past, ledger };
    await merge(batch, 'manual', attemptOf(batch, here, PAID));
    const no = (await ledger.scripts.redis.hget(`${ledger.keyPrefix}:batches`, past.ref.id)) ?? '';
    expect(await archiveBatch({ ledger, no, id: past.ref.id }, folder)).toBeDefined();
    const late = await merge(batch, 'manual', attemptOf(batch, there, PAID));
    expect(late).toMatchObject({ moved: 0, second: [orderId(past.ref.id, there)] });
    expect([...(await findSpent(ledger, ['a', 'b'])).keys()].sort()).toEqual(['a', 'b']);
  },
);
