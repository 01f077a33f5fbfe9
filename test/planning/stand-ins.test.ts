import { describe, expect, test } from 'vitest';
import { batchKeys } from '../../src/ledger/keys.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { heldByImports } from '../../src/operations/orders/dead-letters.js';
import { orderStory } from '../../src/operations/orders/order-story.js';
import { PaidSince } from '../../src/planning/paid-before/looks-paid.js';
import {
  bareCsv as bare,
  faultCodes as codes,
  standInCsv as failed,
  giveCsv as given,
  planCsv,
  putPlan,
  settleRows,
} from '../support/ledger/csv-plans.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, moment } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';

/** The same payment through another door: whichever way it comes, it is known as the same. */
const bench = ledgersOnRedis();

async function run(csv: string, ...states: readonly ('P' | 'R')[]): Promise<TestBatch> {
  return given(await bench.ledger(), csv, {}, ...states);
}

describe('a row that stands in for an order', () => {
  test('is taken or refused with its whole file: skipped, it would forget that order', async () => {
    const first = await run(bare(1, 2, 3), 'P', 'R', 'R');
    const csv = failed(first, 1, 2, 3);
    expect(codes(await planCsv(first.ledger, csv, { skipInvalid: true }))).toEqual([
      'ALM_ROW_ORDER_MAY_BE_PAID',
    ]);
    // The same file given again is the same batch, also where faulty rows were to be skipped.
    const right = csv.replace(/^1,.*\n/m, '');
    const second = await given(first.ledger, right, { skipInvalid: true });
    const again = await planCsv(first.ledger, right, { skipInvalid: true });
    expect([codes(again), again.existing?.no]).toEqual([[], second.no]);
  });

  test('keeps that order’s reference, which would be free otherwise', async () => {
    const first = await run('member,tokens,reference\n1,5,r-1\n', 'R');
    const order = `${first.ref.id}-1`;
    for (const cells of ['1,5,,', '1,5,r-2,'])
      expect(
        (
          await planCsv(first.ledger, `member,tokens,reference,almoner_order\n${cells}${order}\n`)
        ).findings.faults(),
      ).toEqual([
        {
          line: 2,
          column: 'reference',
          code: 'ALM_ROW_REFERENCE_OTHER',
          message: expect.stringContaining('whose reference is "r-1"'),
        },
      ]);
    await given(first.ledger, `member,tokens,reference,almoner_order\n1,6,r-1,${order}\n`, {}, 'P');
    expect(await tieUp(first.ledger)).toEqual([]);
  });

  test('is in that order’s currency', async () => {
    const first = await run(bare(1), 'R');
    const gold = await planCsv(first.ledger, failed(first, 1), { currency: 'gold' });
    expect(codes(gold)).toEqual(['ALM_ROW_CURRENCY_OTHER']);
  });

  test('that was a duplicate is compared with what it was a duplicate of', async () => {
    const first = await run(bare(1, 2, 3, 4, 5), 'P', 'P', 'P', 'P', 'P');
    const second = await given(first.ledger, bare(1, 2, 3, 4, 5, 6), { newRowsOnly: true });
    const duplicates = await planCsv(first.ledger, failed(second, 1, 2, 3, 4, 5));
    expect(codes(duplicates)).toEqual(['ALM_PLAN_LOOKS_PAID']);
  });

  test('and was mended is compared like any other: its new content may have been paid before', async () => {
    const first = await run(bare(1, 2), 'P', 'P');
    const second = await given(first.ledger, bare(8, 9), {}, 'R', 'P');
    expect(codes(await planCsv(first.ledger, failed(second, 1)))).toEqual(['ALM_PLAN_LOOKS_PAID']);
    expect(codes(await planCsv(first.ledger, failed(second, 8)))).toEqual([]);
    expect(codes(await planCsv(first.ledger, failed(second, 7)))).toEqual([]);
    // Also in the very batch whose order it stands in for.
    expect(codes(await planCsv(first.ledger, failed(second, 9)))).toEqual(['ALM_PLAN_LOOKS_PAID']);
  });

  test('and is left out marks nothing', async () => {
    const first = await run(bare(1, 2), 'P', 'R');
    await given(first.ledger, bare(2, 3), {}, 'P', 'P');
    const stands = `member,tokens,almoner_order\n2,5,${first.ref.id}-2\n4,5,\n`;
    const second = await given(first.ledger, stands, { newRowsOnly: true });
    expect(second.row(1).duplicateOf).not.toBeNull();
    expect((await readRecord(first.ref, 2)).replacedBy).toBeNull();
  });
});

test('rows whose orders were undone are paid again', async () => {
  const first = await run(bare(1, 2, 3, 4, 5, 6), 'P', 'P', 'P', 'P', 'P', 'P');
  const undone = [1, 2, 3, 4].map((n) => `${n},debit,5,undo:${first.ref.id}-${n}\n`).join('');
  await given(first.ledger, `member,op,tokens,reference\n${undone}`, {}, 'P', 'P', 'P', 'P');
  const again = await planCsv(first.ledger, bare(1, 2, 3, 4, 5, 6, 7), { newRowsOnly: true });
  expect([codes(again), again.spent.count]).toEqual([[], 2]);
});

test('of an order that was paid twice an undo takes back one payment: its row is not paid again', async () => {
  const first = await run(bare(1, 2), 'P', 'P');
  const { ledger, ref } = first;
  await ledger.scripts.redis.hset(batchKeys(ledger.keyPrefix, ref.no).meta, 'second', ' 1:x:P 12:y:u');
  const undone = [1, 2].map((n) => `${n},debit,5,undo:${ref.id}-${n}\n`).join('');
  await given(ledger, `member,op,tokens,reference\n${undone}`, {}, 'P', 'P');
  const again = await planCsv(ledger, bare(1, 2, 3), { newRowsOnly: true });
  expect([codes(again), again.spent.count]).toEqual([[], 1]);
});

test('the cap of a batch counts what is paid by it', async () => {
  const first = await run('member,tokens,reference\n1,5,a\n2,5,b\n', 'P', 'P');
  const csv = 'member,tokens,reference\n1,5,a\n2,5,b\n3,5,c\n';
  expect(codes(await planCsv(first.ledger, csv, { maxTokensPerBatch: 5 }))).toEqual([]);
  expect(codes(await planCsv(first.ledger, csv, { maxTokensPerBatch: 4 }))).toEqual([
    'ALM_PLAN_OVER_BATCH_CAP',
  ]);
});

test('a row is no duplicate of one that is invalid, but invalid as well', async () => {
  const first = await run('member,tokens,reference\n1,5,a\n', 'P');
  const csv = 'member,tokens,reference\n1,6,a\n1,6,a\n2,5,b\n';
  const planned = await planCsv(first.ledger, csv, { skipInvalid: true });
  expect([planned.totals.invalid, planned.totals.duplicates]).toEqual([2, 0]);
});

test('a file without any order is refused', async () => {
  const ledger = await bench.ledger();
  expect(codes(await planCsv(ledger, 'member,tokens\nx,5\n', { skipInvalid: true }))).toEqual([
    'ALM_FILE_NO_ROWS',
  ]);
});

test.each([
  ['Rule:thanks:2026-W09:1', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:2026-W09:2', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:2026-w09:1', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:2026-W9:1', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:2026-W54:1', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:2026-13:1', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:Once:1', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:2026-W09: 1', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:2026-W09:1:1', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:2026-W09:\uff11', 'ALM_ROW_REFERENCE_INVALID'],
  ['rule:thanks:2026-W09:x', 'ALM_ROW_REFERENCE_INVALID'],
  ['r u l e                    :thanks:2026-W09:1', 'ALM_ROW_REFERENCE_INVALID'],
  ['\uff32ULE\uff1athanks:2026-W09:1', 'ALM_ROW_REFERENCE_INVALID'],
])('the reference %s on a row of member 1 is a fault', async (reference, code) => {
  const planned = await planCsv(await bench.ledger(), `member,tokens,reference\n1,5,${reference}\n`);
  expect(codes(planned)).toEqual([code]);
});

describe('an award that takes points', () => {
  const AWARD = 'rule:fines:2026-W09:1';
  const ours = (op: string, order = '') =>
    `member,op,tokens,reference,almoner_order\n1,${op},5,${AWARD},${order}\n`;

  test('is not typed by a person: the rule would take the member for rewarded', async () => {
    const planned = await planCsv(await bench.ledger(), ours('debit'));
    expect(codes(planned)).toEqual(['ALM_ROW_REFERENCE_INVALID']);
    expect(planned.findings.faults()[0]?.message).toMatch(/takes points/);
  });

  test.each([
    ['debit', 'debit', []],
    ['debit', 'credit', ['ALM_ROW_REFERENCE_INVALID']],
    ['credit', 'credit', []],
    ['credit', 'debit', ['ALM_ROW_REFERENCE_INVALID']],
  ] as const)('a refused %s of a rule is followed by a %s: %j', async (was, is, faults) => {
    const ledger = await bench.ledger();
    const batch = await settleRows(
      await sealed(ledger, [{ member: '1', op: was, tokens: 5, reference: AWARD }]),
      'R',
    );
    const planned = await planCsv(ledger, ours(is, `${batch.ref.id}-1`));
    expect(codes(planned)).toEqual(faults);
  });

  test('nor is it one by standing in for a row without a reference', async () => {
    const first = await run('member,op,tokens\n1,debit,5\n', 'R');
    const planned = await planCsv(first.ledger, ours('debit', `${first.ref.id}-1`));
    expect(codes(planned)).toEqual(['ALM_ROW_REFERENCE_INVALID']);
  });
});

test('equal rows that stand in for orders of two batches are one debt or two: a person has to tell', async () => {
  const first = await run(bare(1, 2, 2), 'P', 'R', 'R');
  const { ledger } = first;
  const copy = await given(ledger, bare(2, 3), {}, 'R', 'P');
  const together = `member,tokens,almoner_order\n2,5,${first.ref.id}-2\n2,5,${copy.ref.id}-1\n2,5,${first.ref.id}-3\n`;
  const twin = [{ line: 3, column: 'almoner_order', code: 'ALM_PLAN_LOOKS_PAID' }];
  for (const newRowsOnly of [false, true])
    expect((await planCsv(ledger, together, { newRowsOnly })).findings.faults()).toMatchObject(twin);
  // Two of one file are both meant.
  const own = together.replace(/^.*-1\n/m, '');
  expect(codes(await planCsv(ledger, own))).toEqual([]);
  expect(codes(await planCsv(ledger, together, { again: 'both' }))).toEqual([]);
});

test('a row that stands in for an order and was paid since stops its file, however few they are', async () => {
  const rows = Array.from({ length: 18 }, (_, i) => i + 1);
  const first = await run(bare(100, ...rows), 'P', ...rows.map(() => 'R' as const));
  const { ledger } = first;
  await given(ledger, bare(7, 101), {}, 'P', 'P');
  expect(codes(await planCsv(ledger, bare(...rows)))).toEqual([]);
  const stands = failed(first, 100, ...rows).replace(/^100,.*\n/m, '');
  expect(codes(await planCsv(ledger, stands))).toEqual(['ALM_PLAN_LOOKS_PAID']);
});

test('under a label all is meant once more, but for what was given under that label', async () => {
  const first = await run(bare(1, 2, 3, 4, 5, 6), 'P', 'P', 'P', 'P', 'P', 'P');
  const { ledger } = first;
  await given(ledger, bare(1, 2, 3, 4, 5, 6), { again: 'week 46' }, 'P');
  const copy = bare(1, 2, 3, 4, 5, 6, 7);
  expect(codes(await planCsv(ledger, copy, { again: 'week 47' }))).toEqual([]);
  const again = await planCsv(ledger, copy, { again: 'week 46' });
  expect(again.findings.faults()).toMatchObject([
    { code: 'ALM_PLAN_LOOKS_PAID', message: expect.stringContaining('under the label "week 46" before') },
  ]);
});

test('new rows of a file are compared with its cancelled batch, however old that is', async () => {
  const first = await run(bare(1, 2, 3), 'P');
  await cancelBatch(first.ref, audit('cancelled'));
  const rest = await planCsv(first.ledger, bare(1, 2, 3), {
    newRowsOnly: true,
    now: Date.now() + 40 * 24 * 3600_000,
  });
  expect([codes(rest), rest.spent.count]).toEqual([[], 1]);
});

test('a row in an import that has not finished is paid by nobody: retry, list and story say so, and how to end it', async () => {
  const first = await run(bare(1, 2, 3), 'P', 'R', 'R');
  const { ledger, ref } = first;
  const stands = `member,tokens,almoner_order\n2,5,${ref.id}-2\n3,5,${ref.id}-3\n`;
  const planned = await planCsv(ledger, stands);
  const script = ledger.scripts.script.bind(ledger.scripts);
  ledger.scripts.script = (name, ...rest) =>
    name === 'seal-batch' ? Promise.reject(new Error('power cut')) : script(name, ...rest);
  await expect(putPlan(ledger, planned)).rejects.toThrow('power cut');
  ledger.scripts.script = script;

  const ends = new RegExp(
    `${planned.batch}\\), whose import has not finished.*almoner cancel ${planned.batch}`,
  );
  const letter = { index: 2, row: first.row(2) };
  const by = { who: 'ada', why: null, at: moment(), nonce: 'n' };
  const retried = await new PaidSince(ref, [letter]).retry(letter, by);
  expect(retried).toEqual({
    why: expect.stringMatching(ends),
    against: { order: null, code: 'ALM_ROW_ORDER_REPLACED', message: expect.stringMatching(ends) },
  });
  expect((await orderStory({ ref, index: 2 })).next).toEqual([expect.stringMatching(ends)]);
  const held = [{ batch: planned.batch, orders: 2 }];
  expect(await heldByImports(ledger.scripts, { batch: ref.id, realm: ledger.realm.realmId })).toEqual(held);
  expect(
    await heldByImports(ledger.scripts, { batch: ref.id, realm: ledger.realm.realmId, state: 'exhausted' }),
  ).toEqual([]);

  const second = await putPlan(ledger, await planCsv(ledger, stands));
  expect((await orderStory({ ref, index: 2 })).next).toEqual([
    `Its row was put into another file: an order of batch ${second.ref.id} stands in for it, and only that one can be paid or retried (\`almoner status ${second.ref.id}\`).`,
  ]);
  expect(await heldByImports(ledger.scripts, { batch: ref.id, realm: ledger.realm.realmId })).toEqual([]);
});
