import { expect, test } from 'vitest';
import { onFailPoint } from '../../src/core/fail-point.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { mergeTidings, tidingsFor } from '../../src/ledger/sessions/merge.js';
import { attemptOf, mergeContext, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { placed } from '../support/machines/forgotten-pasts.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** The store has forgotten a batch with an attempt under way. The outcome of the attempt becomes known later. */
const bench = ledgersOnRedis();

async function forgottenUnderWay() {
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
  const code = async () => (await readRecord((await placed(ledger, batch)).ref, 1)).code;
  expect(await code()).toBe('s');
  return { ledger, batch, machines, folder, sender, code };
}

test('an answer that only the journal holds is found there', async () => {
  const { machines, folder, sender, code } = await forgottenUnderWay();
  onFailPoint((point) => {
    if (point === 'result-journaled') throw new Error('killed');
  });
  await sender.finish('paid').catch(() => {});
  onFailPoint(() => {});
  await sender.die();
  const { sender: next } = await machines.start(folder);
  for (let look = 0; look < 3; look++) await next.recover();
  expect(await code()).toBe('P');
  await next.die();
});

test('an attempt that was taken back is not resent before a person decides', async () => {
  const { batch, sender, ledger, code } = await forgottenUnderWay();
  const [open] = sender.open;
  if (open === undefined) throw new Error('nothing is open');
  const place = await placed(ledger, batch);
  await sender.attempts.takeBack({ no: place.no, index: 1 }, open.nonce, open.begun, 'ALM_SEND_NOT_SENT');
  for (let look = 0; look < 3; look++) await sender.recover();
  expect(await code()).toBe('X');
  await sender.die();
});

test('an attempt that its process gave up before it died is not resent before a person decides', async () => {
  const { machines, folder, sender, code } = await forgottenUnderWay();
  const [open] = sender.open;
  if (open === undefined) throw new Error('nothing is open');
  // Only the journal records that nothing was sent.
  sender.session.journal.unsent(open.nonce);
  await sender.die();
  const { sender: next } = await machines.start(folder);
  for (let look = 0; look < 3; look++) await next.recover();
  expect(await code()).toBe('X');
  await next.die();
});

test('no order of the batch is fed while one is under way', async () => {
  const ledger = await bench.ledger();
  const known = { ...(await sealed(await bench.ledger(), [{}, {}, {}], { id: 'forgotten' })), ledger };
  const context = mergeContext(known, 'idempotent');
  const unknown = attemptOf(known, 3, null, { certainty: 'idempotent' });
  await mergeTidings(context, await tidingsFor(ledger, [unknown]));
  const place = await placed(ledger, known);
  expect(await readBatch(place.ref)).toMatchObject({ state: 'running', counts: { unknown: 1 } });
  expect(await feedAll(place)).toEqual([]);
});

test('the journals of two machines are combined', async () => {
  const ledger = await bench.ledger();
  const known = { ...(await sealed(await bench.ledger(), [{}, {}, {}], { id: 'forgotten' })), ledger };
  const context = mergeContext(known, 'manual');
  const [one, two] = [1, 2].map((index) => attemptOf(known, index, PAID, { nonce: `n${index}` }));
  if (one === undefined || two === undefined) throw new Error('two attempts');
  const [first, second] = [await tidingsFor(ledger, [one]), await tidingsFor(ledger, [two])];
  await Promise.all([mergeTidings(context, first), mergeTidings(context, second)]);
  expect((await readBatch((await placed(ledger, known)).ref))?.counts).toEqual({ paid: 2 });
});

test('a journal merged into a store that is replaced meanwhile is merged there as well', async () => {
  const { ledger, batch, machines, folder, sender } = await forgottenUnderWay();
  await sender.finish('paid');
  await sender.die();
  const restore = await photograph(ledger);
  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {});
  const script = scripts.script.bind(scripts);
  scripts.script = async (name, ...rest) => {
    const reply = await script(name, ...rest);
    if (name === 'replay') await restore();
    return reply;
  };
  const known = { ...batch, ledger: openLedger(scripts, ledger.realm) };
  const late = attemptOf(batch, 2, PAID, { nonce: 'late' });
  await mergeTidings(mergeContext(known, 'manual'), await tidingsFor(ledger, [late]));
  expect((await readBatch((await placed(ledger, batch)).ref))?.counts).toEqual({ paid: 1 });
  // The next process to look finds it missing.
  await mergeTidings(mergeContext({ ...batch, ledger }, 'manual'), await tidingsFor(ledger, [late]));
  expect((await readBatch((await placed(ledger, batch)).ref))?.counts).toEqual({ paid: 2 });
  const { sender: next } = await machines.start(folder);
  expect(await next.recover()).toBe(true);
  await next.die();
});
