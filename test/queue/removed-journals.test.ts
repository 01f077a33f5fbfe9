import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listJournals, noteRemoved, readRemoved } from '../../src/ledger/journal/folder.js';
import { fileName } from '../../src/ledger/journal/journal.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { acceptMissing, lossOf, REMOVED } from '../../src/ledger/sessions/accept-missing.js';
import { mergeContext } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { begin, feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** Order 1 is paid. Its journal was removed after the ledger had settled it, and the floor records that. */
const bench = ledgersOnRedis();

async function removedAfterPaying() {
  const batch = await sealed(await bench.ledger(), [{}, {}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const folder = await tempFolder();
  const payer = await machines.start(folder);
  expect(await payer.sender.recover()).toBe(true);
  // The backup is from before this machine joined: it knows neither its session nor its folder.
  const { redis } = batch.ledger.scripts;
  const registry = [`${batch.ledger.keyPrefix}:sessions`, `${batch.ledger.keyPrefix}:dataFolders`];
  await redis.del(...registry);
  const restore = await photograph(batch.ledger);
  await payer.sender.begin(1);
  await payer.sender.finish('paid');
  const { era, seq } = await readFence(batch.ledger);
  await payer.sender.die();
  const journals = join(folder, 'journal');
  const [journal] = await listJournals(journals);
  const session = journal?.session ?? '';
  const removed = { [batch.ledger.keyPrefix]: { [era]: seq } };
  await noteRemoved(journals, session, removed, () => Promise.resolve(false));
  await rm(fileName(journals, session, 1));
  return { batch, machines, folder, journals, restore };
}

const removedHere = async (batch: TestBatch, journals: string) =>
  (await readRemoved(journals))[batch.ledger.keyPrefix] ?? {};

describe('a store restored to before a removed journal', () => {
  test('is not trusted: the ledger stays closed and says why', async () => {
    const { batch, machines, folder, restore } = await removedAfterPaying();
    await restore();
    const { sender } = await machines.start(folder);
    expect(await sender.recover()).toBe(false);
    expect(await sender.recover()).toBe(false);
    expect(await readFence(batch.ledger)).toMatchObject({
      armed: false,
      reason: { code: 'ALM_LEDGER_ROLLED_BACK' },
    });
    await sender.begin(1);
    expect(sender.open).toEqual([]);
    expect((await readRecord(batch.ref, 1)).code).toBe('p');
    await sender.die();
  });

  test('stays untrusted after another machine has opened the ledger and advanced past that point', async () => {
    const { batch, machines, folder, restore } = await removedAfterPaying();
    await restore();
    const other = await machines.start(await tempFolder());
    expect(await other.sender.recover()).toBe(true);
    for (const index of [2, 3]) {
      await other.sender.begin(index);
      await other.sender.finish('paid');
    }
    expect(await readFence(batch.ledger)).toMatchObject({ armed: true });
    const late = await machines.start(folder);
    expect(await late.sender.recover()).toBe(false);
    expect(await readFence(batch.ledger)).toMatchObject({ armed: false });
    await other.sender.begin(1);
    expect(other.sender.open).toEqual([]);
    // A machine’s finding keeps the ledger closed for all, even after that machine has left in order.
    expect(await other.sender.recover()).toBe(false);
    await late.sender.leave();
    // The other machine cannot know that folder.
    await batch.ledger.scripts.redis.del(`${batch.ledger.keyPrefix}:dataFolders`);
    expect(await listSessions(batch.ledger)).toHaveLength(1);
    expect(await other.sender.recover()).toBe(false);
    await other.sender.begin(1);
    expect(other.sender.open).toEqual([]);
    // An acceptance on any machine counts for all.
    await acceptMissing(mergeContext(batch, 'manual'), REMOVED, { who: 'ada', at: Date.now() });
    expect(await other.sender.recover()).toBe(true);
    await other.sender.die();
    const last = await machines.start(folder);
    expect(await last.sender.recover()).toBe(true);
    expect((await readBatch(batch.ref))?.counts).toEqual({ doubt: 1, paid: 2 });
    expect(machines.realm.applied.get(1)).toBe(1);
    await last.sender.die();
  });

  test('once a person accepts, unsettled orders are doubts, and the ledger continues without stopping again', async () => {
    const { batch, machines, folder, journals, restore } = await removedAfterPaying();
    await restore();
    const { sender } = await machines.start(folder);
    expect(await sender.recover()).toBe(false);
    const context = mergeContext(batch, 'manual');
    expect(await lossOf(context, REMOVED)).toEqual({ exact: false, orders: 3, tokens: 15n });
    const by = { who: 'ada', at: Date.now() };
    const removed = await removedHere(batch, journals);
    expect(await acceptMissing(context, REMOVED, by, removed)).toEqual({
      exact: false,
      orders: 3,
      tokens: 15n,
    });
    expect(await sender.recover()).toBe(true);
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'done', counts: { doubt: 3 } });
    await sender.die();
    const next = await machines.start(folder);
    expect(await next.sender.recover()).toBe(true);
    expect(await begin(batch, 1, { nonce: 'never' })).toEqual({ refusal: 'batch', state: 'done' });
    expect(machines.realm.applied.get(1)).toBe(1);
    expect(await tieUp(batch.ledger)).toEqual([]);
    await next.sender.die();
  });
});

describe('a store that knows everything removed', () => {
  test('is opened again after every restart', async () => {
    const { batch, machines, folder } = await removedAfterPaying();
    for (let restarts = 0; restarts < 3; restarts++) {
      await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'armed', `server-${restarts}`);
      const { sender } = await machines.start(folder);
      expect(await sender.recover()).toBe(true);
      await sender.die();
    }
    expect((await readRecord(batch.ref, 1)).code).toBe('P');
  });

  test('restored to before a later move, but not before the removed ones: the journals complete it', async () => {
    const { batch, machines, folder } = await removedAfterPaying();
    const restore = await photograph(batch.ledger);
    const { sender } = await machines.start(folder);
    expect(await sender.recover()).toBe(true);
    await sender.begin(2);
    await sender.finish('paid');
    await sender.die();
    await restore();
    const next = await machines.start(folder);
    expect(await next.sender.recover()).toBe(true);
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 2, planned: 1 });
    expect(await tieUp(batch.ledger)).toEqual([]);
    await next.sender.die();
  });
});
