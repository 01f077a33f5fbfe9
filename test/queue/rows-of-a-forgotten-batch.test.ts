import { expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { openBatch } from '../../src/ledger/moves/import-batch.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { newNonce } from '../../src/ledger/script-client.js';
import {
  contentHash,
  type Line,
  ledgersOnRedis,
  planRow,
  START,
  sealed,
  type TestBatch,
  testBatch,
} from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { type Machine, Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** A batch is known by its orders: rows that are none may come and go between two imports of the same one. */
const bench = ledgersOnRedis();
const A: Line = { member: '1001', tokens: 5 };
const B: Line = { member: '1002', tokens: 700 };
const C: Line = { member: '1003', tokens: 9 };
const BAD: Line = { invalid: true };

const codesOf = ({ ref }: TestBatch, rows: number) =>
  Promise.all(Array.from({ length: rows }, async (_, i) => (await readRecord(ref, i + 1)).code));

const disarmings = (...machines: Machine[]) =>
  machines.flatMap(({ scripts }) => scripts).filter((name) => name === 'disarm').length;

async function started(batch: TestBatch, folder: string): Promise<Machine> {
  const machine = await new Machines(bench.redis(), batch, 'manual').start(folder);
  expect(await machine.sender.recover()).toBe(true);
  return machine;
}

test('a living process does not take the rows of before for those of now', async () => {
  const ledger = await bench.ledger();
  const restore = await photograph(ledger);
  const first = await sealed(ledger, [BAD, A, B, C], { id: 'same' });
  await feedAll(first);
  const folder = await tempFolder();
  const living = await started(first, folder);
  const other = await started(first, folder);
  await other.sender.begin(3);
  await other.sender.die();
  await living.sender.adoptDead();
  expect((await readRecord(first.ref, 3)).code).toBe('D');
  await living.sender.begin(2);
  await living.sender.finish('paid');
  await restore();
  await living.sender.recover();
  // Somebody has taken the bad row out, and runs the file again.
  const again = await sealed(ledger, [A, B, C], { id: 'same' });
  for (let look = 0; look < 2; look++) await living.sender.recover();
  expect(await codesOf(again, 3)).toEqual(['D', 'D', 'D']);
  await living.sender.die();
});

test('a payment of a row beyond the end of the file makes doubts of its orders, and the fence comes to rest', async () => {
  const ledger = await bench.ledger();
  const other = await sealed(ledger, [{}, {}, {}], { id: 'other' });
  await feedAll(other);
  const two = await started(other, await tempFolder());
  const restore = await photograph(ledger);
  const first = await sealed(ledger, [A, BAD, B], { id: 'same' });
  await feedAll(first);
  const one = await started(first, await tempFolder());
  await one.sender.begin(3);
  await one.sender.finish('paid');
  await restore();
  // Nothing is sealed before the journals are merged.
  for (let look = 0; look < 2; look++) for (const { sender } of [one, two]) await sender.recover();
  const again = await sealed(ledger, [A, B], { id: 'same' });
  for (let look = 0; look < 10; look++) {
    await one.sender.recover();
    await two.sender.recover();
  }
  expect(disarmings(one, two)).toBeLessThan(4);
  expect(await codesOf(again, 2)).toEqual(['D', 'D']);
  expect((await readBatch(again.ref))?.counts).toEqual({ doubt: 2 });
  for (const { sender } of [one, two]) await sender.die();
});

test('the fence comes to rest beside a forgotten batch whose new import was killed half-way', async () => {
  const ledger = await bench.ledger();
  const other = await sealed(ledger, [{}, {}, {}], { id: 'other' });
  await feedAll(other);
  const rows = [A, B].map((line, i) => planRow(line, i + 1));
  const one = await started(testBatch(ledger, '2', batchId('same'), rows), await tempFolder());
  const two = await started(other, await tempFolder());
  const restore = await photograph(ledger);
  const first = await sealed(ledger, [A, B], { id: 'same' });
  await feedAll(first);
  await one.sender.begin(1);
  await one.sender.finish('paid');
  expect((await readRecord(first.ref, 1)).code).toBe('P');
  await restore();
  const content = contentHash([A, B], 'same');
  await openBatch(ledger, { content, id: batchId('same'), importer: newNonce(), createdAt: START });
  for (let look = 0; look < 10; look++) {
    await one.sender.recover();
    await two.sender.recover();
  }
  expect(disarmings(one, two)).toBeLessThan(4);
  for (const { sender } of [one, two]) await sender.die();
});
