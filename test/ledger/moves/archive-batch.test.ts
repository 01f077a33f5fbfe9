import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OrderRow, OrdersQuery } from '../../../src/desk/api/index.js';
import { ordersPage } from '../../../src/desk/orders/orders-page.js';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { discardOrder } from '../../../src/ledger/moves/retry.js';
import { batchesIn } from '../../../src/ledger/read/batch-lists.js';
import { openDead, readBatch } from '../../../src/ledger/read/batches.js';
import { findSpent } from '../../../src/ledger/read/earlier.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import { readDetails, readRow, rowContext } from '../../../src/ledger/read/rows.js';
import { readAudit, snapshotBatch } from '../../../src/ledger/read/snapshot.js';
import { openLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { deadLetters } from '../../../src/operations/orders/dead-letters.js';
import { scanRows, wantMember } from '../../../src/operations/orders/scan-rows.js';
import { feed } from '../../support/ledger/feed-one.js';
import {
  type Line,
  ledgersOnRedis,
  START,
  sealed,
  type TestBatch,
} from '../../support/ledger/ledgers-on-redis.js';
import { begun, settleAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';
import { tempFolder } from '../../support/temp-folder.js';

const bench = ledgersOnRedis();

const LINES: Line[] = Array.from({ length: 300 }, (_, i) => ({ reference: `ref-${i + 1}`, tokens: i + 1 }));
const REFUSED = 7;

/** A finished batch: one order was refused, all others were paid. */
async function finished(folder: string, upTo = LINES.length) {
  const { realm } = await bench.ledger();
  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: folder });
  const batch = await sealed(openLedger(scripts, realm), LINES);
  while ((await feed(batch.ledger, batch.no, 500, '')).length > 0);
  for (let index = 1; index <= upTo; index++)
    await settleAs(batch, index, index === REFUSED ? 'R' : 'P', await begun(batch, index));
  return batch;
}

async function everything({ ref }: TestBatch) {
  const record = await snapshotBatch(ref, new PlanReader(ref.ledger), ['a caveat']);
  const rows = [];
  for await (const row of record.rows) rows.push(row);
  const { version: _, archived, ...batch } = { version: 0, ...record.batch };
  return { archived, all: { ...record, batch, rows } };
}

/** Searches as the desk does: by state, by reference, by words of an error. */
async function search({ ref }: TestBatch) {
  const context = await rowContext(ref, new PlanReader(ref.ledger));
  const view = await readBatch(ref);
  if (view === undefined) throw new Error('the batch is gone');
  const queries: OrdersQuery[] = [
    { state: 'refused' },
    { search: 'ref-250', field: 'reference' },
    { search: 'ended as r', field: 'error' },
  ];
  return Promise.all(
    queries.map(async (query) => {
      const found: OrderRow[] = [];
      // A page may stop early on a slow machine.
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await ordersPage(context, view, { ...query, ...(cursor && { cursor }) });
        found.push(...page.orders);
        cursor = page.next;
      }
      return found;
    }),
  );
}

async function keysOf({ ledger, no }: TestBatch): Promise<string[]> {
  const keys = await ledger.scripts.redis.keys('*');
  return keys.filter((key) => key.startsWith(`${ledger.keyPrefix}:b:${no}`)).sort();
}

test('an archived batch reads as before, and only its summary, counters and references stay in the store', async () => {
  const folder = await tempFolder();
  const batch = await finished(folder);
  const before = await everything(batch);
  const details = await readDetails(batch.ref, REFUSED);
  expect(details).not.toEqual([]);
  const searched = await search(batch);
  expect(searched.map((orders) => orders.map(({ line }) => line - 1))).toEqual([[REFUSED], [250], [REFUSED]]);

  const archived = await archiveBatch(batch.ref, folder);
  expect(archived).toMatchObject({ batch: batch.ref.id, rows: 300 });
  expect(await keysOf(batch)).toEqual([
    `${batch.ledger.keyPrefix}:b:${batch.no}`,
    `${batch.ledger.keyPrefix}:b:${batch.no}:a`,
    `${batch.ledger.keyPrefix}:b:${batch.no}:n`,
    `${batch.ledger.keyPrefix}:b:${batch.no}:unpaid`,
  ]);

  const after = await everything(batch);
  expect(after.all).toEqual(before.all);
  expect(await search(batch)).toEqual(searched);
  expect([before.archived, after.archived]).toEqual([false, true]);
  expect(await readBatch(batch.ref)).toMatchObject({ state: 'done', counts: { paid: 299, refused: 1 } });
  expect(await readDetails(batch.ref, REFUSED)).toEqual(details);
  const context = await rowContext(batch.ref, new PlanReader(batch.ledger));
  expect(await readRow(context, REFUSED)).toMatchObject({ state: 'refused', error: 'ended as R' });
  const bounds = { from: 1, limit: 9, untilMs: Number.POSITIVE_INFINITY };
  const { found } = await scanRows(context, 300, wantMember(String(9000 + 12)), bounds);
  expect(found.map(({ index }) => index)).toEqual([12]);
  // Archiving again does nothing.
  expect(await archiveBatch(batch.ref, folder)).toMatchObject({ batch: batch.ref.id });
});

test('references of paid orders stay spent, and all others are free', async () => {
  const folder = await tempFolder();
  const batch = await finished(folder);
  await archiveBatch(batch.ref, folder);
  const spent = await findSpent(batch.ledger, ['ref-1', `ref-${REFUSED}`, 'ref-300']);
  expect([...spent.keys()]).toEqual(['ref-1', 'ref-300']);
});

test('a batch that is unfinished or waits for a person is not archived', async () => {
  const folder = await tempFolder();
  const running = await finished(folder, 5);
  expect(await archiveBatch(running.ref, folder)).toBeUndefined();
  await settleAs(running, 6, 'D', await begun(running, 6));
  for (let index = 7; index <= 300; index++) await settleAs(running, index, 'P', await begun(running, index));
  expect((await readBatch(running.ref))?.state).toBe('done');
  expect(await archiveBatch(running.ref, folder)).toBeUndefined();
  expect((await keysOf(running)).length).toBeGreaterThan(5);
});

test('a truncated or changed archive is refused by its checksum', async () => {
  const folder = await tempFolder();
  const batch = await finished(folder);
  await archiveBatch(batch.ref, folder);
  const path = join(folder, batch.ledger.id, `${batch.ref.id}.alm`);
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(200) ^ 1, 200);
  await writeFile(path, bytes);
  await expect(everything(batch)).rejects.toMatchObject({ code: 'ALM_LEDGER_ARCHIVE_DAMAGED' });
  await writeFile(path, bytes.subarray(0, 10));
  await expect(everything(batch)).rejects.toMatchObject({ code: 'ALM_LEDGER_ARCHIVE_DAMAGED' });
});

test('an open dead letter stays listed and counted in an archive until a person discards it', async () => {
  const folder = await tempFolder();
  const batch = await finished(folder);
  expect(await archiveBatch(batch.ref, folder)).toMatchObject({ rows: LINES.length });
  const { ledger, ref } = batch;
  const letters = async () => {
    const found = [];
    const filter = { batch: ref.id, realm: ledger.realm.realmId };
    for await (const { order } of deadLetters(ledger.scripts, filter)) found.push(order);
    return found;
  };
  const counted = async () => {
    const view = await readBatch(ref);
    return view === undefined ? null : openDead(view);
  };
  expect([await letters(), await counted()]).toEqual([[`${ref.id}-${REFUSED}`], 1]);
  expect((await batchesIn(ledger, 'dead')).map(({ no }) => no)).toEqual([batch.no]);
  expect(await tieUp(ledger)).toEqual([]);
  const by = { who: 'ada', why: 'written off', at: START };
  expect(await discardOrder(ref, REFUSED, by)).toBe('ok');
  expect(await discardOrder(ref, REFUSED, by)).toBe('ok');
  expect(await discardOrder(ref, REFUSED + 1, by)).toMatchObject({
    why: expect.stringContaining('archived'),
  });
  expect([await letters(), await counted(), await batchesIn(ledger, 'dead')]).toEqual([[], 0, []]);
  expect((await readAudit(ref)).at(-1)).toMatchObject({ who: 'ada', why: 'written off' });
  expect(await tieUp(ledger)).toEqual([]);
});

test('a dead letter that was discarded before is not listed in the archive', async () => {
  const folder = await tempFolder();
  const batch = await finished(folder);
  expect(await discardOrder(batch.ref, REFUSED, { who: 'ada', why: 'known', at: START })).toBe('ok');
  await archiveBatch(batch.ref, folder);
  expect(await batchesIn(batch.ledger, 'dead')).toEqual([]);
  expect(await batch.ledger.scripts.redis.exists(`${batch.ledger.keyPrefix}:b:${batch.no}:a`)).toBe(0);
  expect(await tieUp(batch.ledger)).toEqual([]);
});
