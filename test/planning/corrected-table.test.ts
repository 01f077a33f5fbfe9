import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { orderId } from '../../src/core/ids.js';
import { batchKeys } from '../../src/ledger/keys.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { refuseChanged } from '../../src/planning/paid-before/before-seal.js';
import { PaidSince } from '../../src/planning/paid-before/looks-paid.js';
import { faultCodes, giveCsv, planCsv, putPlan, settleRows } from '../support/ledger/csv-plans.js';
import { ledgersOnRedis, START, type TestBatch } from '../support/ledger/ledgers-on-redis.js';

/** Under a corrected table the same row is another order, to another member, but still the same debt. */
const bench = ledgersOnRedis();
const table = (...pairs: [handle: string, member: number][]) =>
  `member,handle\n${pairs.map(([handle, member]) => `${member},${handle}\n`).join('')}`;
const OLD = table(['ann', 1], ['ben', 2], ['cid', 3]);
const NEW = table(['ann', 11], ['ben', 2], ['cid', 3]);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const csv = (...rows: string[]) => `handle,tokens\n${rows.join('\n')}\n`;

function retry({ ref, rows: [row] }: TestBatch) {
  if (row?.order == null) throw new Error('no order');
  const letter = { index: 1, row: { ...row, order: row.order } };
  const by = { who: 'anna', at: START, why: null, nonce: 'n' };
  return new PaidSince(ref, [letter]).retry(letter, by);
}

describe('a row that was paid by another table', () => {
  test('is not paid again to another member', async () => {
    const ledger = await bench.ledger();
    const { ref } = await giveCsv(ledger, csv('ann,5', 'ben,6'), { members: OLD }, 'P', 'P');
    const again = await planCsv(ledger, csv('ann,5', 'cid,7'), { members: NEW });
    expect(faultCodes(again)).toEqual(['ALM_PLAN_LOOKS_PAID']);
    expect(again.findings.faults()[0]?.message).toContain(`line 2 in batch ${ref.id}`);
    expect(again.repeats).toMatchObject({ count: 1, compared: 2 });
  });

  test('is counted once where its content was paid as well, and once for each order', async () => {
    const ledger = await bench.ledger();
    await giveCsv(ledger, csv('ann,5', 'ben,6', 'ann,5'), { members: OLD }, 'P', 'P', 'P');
    const same = await planCsv(ledger, csv('ann,5', 'ben,6', 'ann,5', 'ann,5'), { members: OLD });
    expect(same.repeats.count).toBe(3);
    const corrected = await planCsv(ledger, csv('ann,5', 'ben,6', 'ann,5', 'ann,5'), { members: NEW });
    expect(corrected.repeats.count).toBe(3);
  });

  test('is left out with new rows only', async () => {
    const ledger = await bench.ledger();
    await giveCsv(ledger, csv('ann,5'), { members: OLD }, 'P');
    const rest = await planCsv(ledger, csv('ann,5', 'cid,7'), { members: NEW, newRowsOnly: true });
    expect(faultCodes(rest)).toEqual([]);
    expect(rest.spent.count).toBe(1);
  });

  test('is free where the first was refused, and the retry of that one is refused then', async () => {
    const ledger = await bench.ledger();
    const first = await giveCsv(ledger, csv('ann,5'), { members: OLD }, 'R');
    const second = await giveCsv(ledger, csv('ann,5'), { members: NEW }, 'P');
    expect(await retry(first)).toMatchObject({
      why: expect.stringContaining(orderId(second.ref.id, 1)),
    });
  });

  test('is found at the seal as well, where the other file came in between', async () => {
    const ledger = await bench.ledger();
    const shown = await planCsv(ledger, csv('ann,5'), { members: NEW });
    expect(faultCodes(shown)).toEqual([]);
    await giveCsv(ledger, csv('ann,5'), { members: OLD }, 'P');
    await expect(refuseChanged(shown, ledger, '0', START)).rejects.toThrow(
      /1 row is by now among the orders/,
    );
  });

  test('is not paid by its failed row either, with whichever table', async () => {
    const ledger = await bench.ledger();
    const first = await giveCsv(ledger, csv('ann,5'), { members: OLD }, 'R');
    await giveCsv(ledger, csv('ann,5'), { members: NEW }, 'P');
    const failed = `handle,tokens,almoner_order\nann,5,${orderId(first.ref.id, 1)}\n`;
    for (const members of [OLD, NEW])
      expect(faultCodes(await planCsv(ledger, failed, { members }))).toEqual(['ALM_PLAN_LOOKS_PAID']);
  });

  test('its failed row is not held against the other rows of its own file', async () => {
    const ledger = await bench.ledger();
    const first = await giveCsv(ledger, csv('ann,5', 'ann,5'), { members: OLD }, 'P', 'R');
    const failed = `handle,tokens,almoner_order\nann,5,${orderId(first.ref.id, 2)}\n`;
    expect(faultCodes(await planCsv(ledger, failed, { members: NEW }))).toEqual([]);
  });

  test('two dead letters of one debt: the second is not retried after the first', async () => {
    const ledger = await bench.ledger();
    const one = await giveCsv(ledger, csv('ann,5'), { members: OLD }, 'R');
    const other = await giveCsv(ledger, csv('ann,5'), { members: NEW }, 'R');
    expect(await retry(one)).toBe('ok');
    expect(await retry(other)).toMatchObject({ why: expect.stringContaining(orderId(one.ref.id, 1)) });
  });

  test('is found where the sketch is gone, from the rows themselves', async () => {
    const ledger = await bench.ledger();
    const first = await giveCsv(ledger, csv('ann,5'), { members: OLD }, 'R');
    const second = await giveCsv(ledger, csv('ann,5'), { members: NEW }, 'P');
    await ledger.scripts.redis.del(batchKeys(ledger.keyPrefix, second.ref.no).sketch);
    expect(await retry(first)).toMatchObject({ why: expect.stringContaining(orderId(second.ref.id, 1)) });
  });

  test('stops the file however few such rows there are, and says that they were another’s', async () => {
    const ledger = await bench.ledger();
    await giveCsv(ledger, csv('ann,5'), { members: OLD }, 'P');
    const many = Array.from({ length: 40 }, (_, i) => `cid,${100 + i}`);
    const [fault] = (await planCsv(ledger, csv('ann,5', ...many), { members: NEW })).findings.faults();
    expect(fault?.message).toContain('1 of them is to another member there');
  });

  test('another amount, or another cell, is another debt', async () => {
    const ledger = await bench.ledger();
    await giveCsv(ledger, csv('ann,5'), { members: OLD }, 'P');
    expect(faultCodes(await planCsv(ledger, csv('ann,6', 'cid,5'), { members: NEW }))).toEqual([]);
  });
});

test('table and file are sealed with the batch, by the hashes of their bytes', async () => {
  const ledger = await bench.ledger();
  const { ref } = await settleRows(
    await putPlan(ledger, await planCsv(ledger, csv('ann,5'), { members: OLD })),
  );
  expect((await readBatch(ref))?.manifest).toMatchObject({
    fileSha256: sha256(csv('ann,5')),
    table: { name: 'members.csv', sha256: sha256(OLD) },
  });
});

test('unknown and ambiguous cells are faults with their lines', async () => {
  const ledger = await bench.ledger();
  const twice = `${OLD}4,ann\n`;
  const planned = await planCsv(ledger, csv('ann,5', 'dan,6', 'ben,7'), { members: twice });
  expect(planned.findings.faults().map(({ line, column, code }) => `${line} ${column} ${code}`)).toEqual([
    '2 handle ALM_ROW_MEMBER_AMBIGUOUS',
    '3 handle ALM_ROW_MEMBER_UNKNOWN',
  ]);
});
