import { expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { openBatch } from '../../src/ledger/moves/import-batch.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { newNonce } from '../../src/ledger/script-client.js';
import { faultCodes, planCsv, putPlan } from '../support/ledger/csv-plans.js';
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

/** A batch is identified by its orders. Left-out rows may come and go between two imports of it. */
const bench = ledgersOnRedis();
const A: Line = { member: '1001', tokens: 5 };
const B: Line = { member: '1002', tokens: 700 };

const disarmings = (...machines: Machine[]) =>
  machines.flatMap(({ scripts }) => scripts).filter((name) => name === 'disarm').length;

async function started(batch: TestBatch, folder: string): Promise<Machine> {
  const machine = await new Machines(bench.redis(), batch, 'manual').start(folder);
  expect(await machine.sender.recover()).toBe(true);
  return machine;
}

const csv = (...rows: readonly string[]) => `member,tokens\n${rows.map((row) => `${row}\n`).join('')}`;

test.each([
  [
    'was taken out above them',
    csv('bad,5', '1001,5', '1002,700', '1003,9'),
    csv('1001,5', '1002,700', '1003,9'),
    3,
  ],
  ['was taken out between them', csv('1001,5', 'bad,5', '1002,700'), csv('1001,5', '1002,700'), 3],
])(
  'a file in which a row that is no order %s is not taken for the batch that journals know',
  async (_, before, now, paid) => {
    const ledger = await bench.ledger();
    const restore = await photograph(ledger);
    const first = await putPlan(ledger, await planCsv(ledger, before, { skipInvalid: true }));
    await feedAll(first);
    const living = await started(first, await tempFolder());
    await living.sender.begin(paid);
    await living.sender.finish('paid');
    await restore();
    for (let look = 0; look < 2; look++) await living.sender.recover();
    const again = await planCsv(ledger, now);
    expect(again.batch).toBe(first.ref.id);
    expect(faultCodes(again)).toEqual(['ALM_BATCH_ID_TAKEN']);
    const whole = await putPlan(ledger, await planCsv(ledger, before, { skipInvalid: true }));
    expect((await readRecord(whole.ref, paid)).code).toBe('P');
    expect(disarmings(living)).toBeLessThan(4);
    await living.sender.die();
  },
);

test('the ledger opens for good beside a forgotten batch whose new import was killed half-way', async () => {
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
