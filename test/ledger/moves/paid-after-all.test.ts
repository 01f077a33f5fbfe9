import { expect, test } from 'vitest';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { openLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { acceptMissing } from '../../../src/ledger/sessions/accept-missing.js';
import { attemptOf, merge, mergeContext, PAID } from '../../support/ledger/journaled-attempt.js';
import { joinAs, ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { concludeAs, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { Machines } from '../../support/machines/machines.js';
import { tempFolder } from '../../support/temp-folder.js';

/** An order is called unpaid and its batch is archived. Then a journal or a frozen process shows that it was paid. */
const bench = ledgersOnRedis();

async function withArchive() {
  const folder = await tempFolder();
  const { realm } = await bench.ledger();
  const ledger = openLedger(
    new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: folder }),
    realm,
  );
  await joinAs(ledger, 'worker');
  const batch = await sealed(ledger, [{ member: '1', reference: 'r' }], { id: 'first' });
  await feedAll(batch);
  return { folder, ledger, batch };
}

const notesOf = async ({ ref }: TestBatch) => (await readBatch(ref))?.notes;

test('its reference is spent, and the batch reports it as paid after all, not twice', async () => {
  const { folder, ledger, batch } = await withArchive();
  await sendAs(batch, 1, 'D', { nonce: 'one', sentAt: Date.now() - 1e7 });
  await concludeAs(batch, 1, 'D', 'X', { settleMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await archiveBatch(batch.ref, folder)).toBeDefined();
  const late = attemptOf(batch, 1, PAID, { nonce: 'one' });
  expect((await merge(batch, 'manual', late)).second).toEqual(['first-1']);
  expect((await merge(batch, 'manual', late)).second).toEqual([]);
  expect(await notesOf(batch)).toEqual([expect.stringMatching(/^Paid after all, or perhaps: first-1\./)]);
  expect((await readBatch(batch.ref))?.twice.size).toBe(0);
  await expect(sealed(ledger, [{ member: '1', reference: 'r' }], { id: 'second' })).rejects.toThrow();
});

test('a given-up process that gets the answer reports it', async () => {
  const { folder, ledger, batch } = await withArchive();
  const machines = new Machines(bench.redis(), batch, 'manual');
  const { sender, ledger: seen } = await machines.start(await tempFolder());
  Object.assign(seen.scripts, { archiveFolder: folder });
  expect(await sender.recover()).toBe(true);
  await sender.begin(1);
  await acceptMissing(mergeContext(batch, 'manual'), sender.session.id, { who: 'ada', at: 5 });
  await concludeAs(batch, 1, 'D', 'X', { settleMs: 1 });
  // The settle time is over.
  const records = `${ledger.keyPrefix}:b:${batch.no}:o:0`;
  const record = (await ledger.scripts.redis.hget(records, '1')) ?? '';
  await ledger.scripts.redis.hset(records, '1', record.replace(/a\d+/, ''));
  expect(await archiveBatch(batch.ref, folder)).toBeDefined();
  await sender.finish('paid');
  expect(await notesOf(batch)).toHaveLength(1);
  await sender.die();
});
