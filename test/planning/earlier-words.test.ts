import { expect, test } from 'vitest';
import { tokens } from '../../src/core/points.js';
import { archiveBatch } from '../../src/ledger/moves/archive-batch.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { EarlierWords } from '../../src/planning/paid-before/earlier-words.js';
import { planCsv, putPlan, settleRows } from '../support/ledger/csv-plans.js';
import { type Line, ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { tempFolder } from '../support/temp-folder.js';

/** What a row is told of the order that stands against it: what both do, where the old one stands, what became of it. */
const bench = ledgersOnRedis();

const CSV = 'member,tokens,reference\n7,50,a1\n8,1200,a2\n';

test('a spent reference gives the old order with its batch, line, amount and state, and the new one', async () => {
  const ledger = await bench.ledger();
  const batch = await settleRows(await putPlan(ledger, await planCsv(ledger, CSV)), 'P');
  const { findings } = await planCsv(ledger, 'member,amount,Reference\n7,77,a1\n9,1200,a2\n7,50,a1\n');
  const held = (index: number) =>
    `is already spent by order ${batch.ref.id}-${index}, which has other content. That order:`;
  const at = `in batch ${batch.ref.id}`;
  expect(findings.faults()).toEqual([
    {
      line: 2,
      column: 'Reference',
      code: 'ALM_ROW_REFERENCE_SPENT',
      message: `The reference "a1" ${held(1)} give 50 to 7 (line 2 of - ${at}, paid). This row: give 77 to 7.`,
    },
    {
      line: 3,
      column: 'Reference',
      code: 'ALM_ROW_REFERENCE_SPENT',
      message: `The reference "a2" ${held(2)} give 1,200 to 8 (line 3 of - ${at}, not settled yet). This row: give 1,200 to 9.`,
    },
    expect.objectContaining({ line: 4, code: 'ALM_ROW_REFERENCE_CONFLICT' }),
  ]);
});

test('an archived one is read from its archive; where that cannot be read, its id and the new order are what is known', async () => {
  const folder = await tempFolder();
  const { realm } = await bench.ledger();
  const open = (archive: string | null) =>
    openLedger(new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: archive }), realm);
  const [here, elsewhere] = [open(folder), open(null)];
  const batch = await sealed(here, [{ op: 'debit', member: '7', tokens: 3, reference: 'a1' }]);
  await settleRows(batch, 'P');
  expect(await archiveBatch(batch.ref, folder)).toBeDefined();
  const told = async (ledger: typeof here) =>
    (await planCsv(ledger, 'member,tokens,reference\n7,3,a1\n')).findings
      .faults()
      .map(({ message }) => message);
  const spent = `The reference "a1" is already spent by order ${batch.ref.id}-1, which has other content.`;
  expect(await told(here)).toEqual([
    expect.stringMatching(
      `^${spent} That order: take 3 from 7 \\(line \\d+ of .* in batch ${batch.ref.id}, paid\\). This row: give 3 to 7.$`,
    ),
  ]);
  expect(await told(elsewhere)).toEqual([
    `${spent} This process cannot read the rows of its batch. This row: give 3 to 7.`,
  ]);
});

test('a row that may not stand in for an order is told of that order where it is another one', async () => {
  const ledger = await bench.ledger();
  const batch = await settleRows(await putPlan(ledger, await planCsv(ledger, 'member,tokens\n7,50\n')), 'P');
  const told = async (tokens: number) =>
    (await planCsv(ledger, `member,tokens,almoner_order\n7,${tokens},${batch.ref.id}-1\n`)).findings.faults();
  const paid = `Order ${batch.ref.id}-1 is paid: it was paid or may still be paid, so this row would pay it twice.`;
  expect(await told(50)).toMatchObject([{ message: paid }]);
  expect(await told(51)).toMatchObject([
    {
      code: 'ALM_ROW_ORDER_MAY_BE_PAID',
      message: `${paid} That order: give 50 to 7 (line 2 of - in batch ${batch.ref.id}, paid). This row: give 51 to 7.`,
    },
  ]);
});

test('thousands of them, in any order, cost one question for each block; past the bound the new order alone is told', async () => {
  const ledger = await bench.ledger();
  const rows = 5_000;
  const lines: Line[] = Array.from({ length: rows }, (_, i) => ({
    member: String(i + 1),
    reference: `a${i}`,
  }));
  const { no, row } = await sealed(ledger, lines);
  const csv = (at: (i: number) => number) =>
    `member,tokens,reference\n${lines.map((_, i) => `${at(i) + 1},6,a${at(i)}\n`).join('')}`;
  const asked = async () =>
    Number(/cmdstat_get:calls=(\d+)/.exec(await ledger.scripts.redis.info('commandstats'))?.[1] ?? 0);
  for (const at of [(i: number) => i, (i: number) => (i * 7919) % rows]) {
    const before = await asked();
    const { findings } = await planCsv(ledger, csv(at));
    expect((await asked()) - before).toBe(Math.ceil(rows / 256));
    expect(findings.faultCount).toBe(rows);
    expect(findings.faults(1_000).every(({ message }) => message.includes('That order: give 5 to '))).toBe(
      true,
    );
  }
  const bounded = new EarlierWords(ledger, new PlanReader(ledger), 1);
  const told = (index: number) => bounded.beside({ no, index }, { ...row(1).order, tokens: tokens(6) });
  expect(await told(1)).toMatch('That order: give 5 to 1 ');
  expect(await told(300)).toBe(' This row: give 6 to 1.');
  expect(await told(256)).toMatch('That order: give 5 to 256 ');
}, 30_000);
