import { expect, test } from 'vitest';
import { onFailPoint } from '../../src/core/fail-point.js';
import { mergeParked } from '../../src/ledger/journal/merge.js';
import { park, parkedAttempts } from '../../src/ledger/journal/parked.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { attemptOf, mergeContext, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** The store has forgotten a batch of which an attempt was under way. What became of the attempt is known later. */
const bench = ledgersOnRedis();

/** The attempt is kept, without a result, until its file is imported again. */
async function parkedUnderWay() {
  const ledger = await bench.ledger();
  const back = await photograph(ledger);
  const batch = await sealed(ledger, [{}, {}], { id: 'forgotten' });
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const folder = await tempFolder();
  const { sender } = await machines.start(folder);
  expect(await sender.recover()).toBe(true);
  await sender.begin(1);
  await back();
  for (let look = 0; look < 3; look++) await sender.recover();
  expect(await parkedAttempts(ledger)).toMatchObject([{ attempts: [{ result: null }] }]);
  const importAgain = () => sealed(ledger, [{}, {}], { id: 'forgotten' });
  return { ledger, batch, machines, folder, sender, importAgain };
}

test('an answer that only the journal has is found there when the file is imported again', async () => {
  const { machines, folder, sender, importAgain } = await parkedUnderWay();
  onFailPoint((point) => {
    if (point === 'result-journaled') throw new Error('killed');
  });
  await sender.finish('paid').catch(() => {});
  onFailPoint(() => {});
  await sender.die();
  const { sender: next } = await machines.start(folder);
  for (let look = 0; look < 3; look++) await next.recover();
  const again = await importAgain();
  for (let look = 0; look < 3; look++) await next.recover();
  expect((await readRecord(again.ref, 1)).code).toBe('P');
  await next.die();
});

test('an answer that is kept while the attempt is put back is not forgotten with it', async () => {
  const ledger = await bench.ledger();
  const elsewhere = { ...(await sealed(await bench.ledger(), [{}, {}], { id: 'forgotten' })), ledger };
  await park(ledger, attemptOf(elsewhere, 1, null, { nonce: 'one' }));
  const again = await sealed(ledger, [{}, {}], { id: 'forgotten' });
  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {});
  const script = scripts.script.bind(scripts);
  scripts.script = async (name, ...rest) => {
    if (name === 'unpark') await park(ledger, attemptOf(elsewhere, 1, PAID, { nonce: 'one' }));
    return script(name, ...rest);
  };
  await mergeParked({ ...mergeContext(again, 'manual'), ledger: openLedger(scripts, ledger.realm) });
  await mergeParked(mergeContext(again, 'manual'));
  expect((await readBatch(again.ref))?.counts).toEqual({ paid: 1, planned: 1 });
});

test('an attempt that is taken back lets its slot go, and its order is sent anew', async () => {
  const { batch, sender, importAgain } = await parkedUnderWay();
  const [open] = sender.open;
  if (open === undefined) throw new Error('nothing is open');
  await sender.attempts.takeBack({ no: batch.no, index: 1 }, open.nonce, open.begun, 'ALM_SEND_NOT_SENT');
  const again = await importAgain();
  for (let look = 0; look < 3; look++) await sender.recover();
  expect((await readRecord(again.ref, 1)).code).toBe('p');
  await sender.die();
});
