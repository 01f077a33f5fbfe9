import { expect, test } from 'vitest';
import { PaidSince } from '../../src/intake/paid-since.js';
import { mergeParked } from '../../src/ledger/merge.js';
import { park } from '../../src/ledger/parked.js';
import { planCsv, putPlan } from '../support/csv-plans.js';
import { attemptOf, mergeContext, PAID, REFUSED } from '../support/journaled-attempt.js';
import { ledgerBench, sealed } from '../support/ledger.js';

const bench = ledgerBench();
const CSV = `member,tokens\n${[1, 2, 3, 4, 5, 6].map((n) => `${n},5\n`).join('')}`;

test('a forgotten batch is put back as it was, though its rows look paid: under a label it would be paid twice', async () => {
  const [books, elsewhere] = [await bench.books(), await bench.books()];
  const before = await putPlan(elsewhere, await planCsv(elsewhere, CSV));
  await sealed(
    books,
    [1, 2, 3, 4, 5, 6].map((n) => ({ member: String(n), tokens: 5 })),
  );
  expect((await planCsv(books, CSV)).findings.faults()).toMatchObject([{ code: 'ALM_PLAN_LOOKS_PAID' }]);
  await park(books, attemptOf(before, 1, PAID));
  const again = await planCsv(books, CSV);
  expect(again.findings.faults()).toEqual([]);
  expect((await putPlan(books, again)).ref.id).toBe(before.ref.id);
});

test('what was put back was compared with nothing: its dead letters are compared with everything', async () => {
  const [books, before] = [await bench.books(), await bench.books()];
  const first = await putPlan(before, await planCsv(before, CSV));
  // Later than the first, it had paid the row; after the loss it was given again before the first.
  const second = await putPlan(books, await planCsv(books, `${CSV}7,5\n`));
  await park(books, attemptOf(first, 2, REFUSED));
  const again = await putPlan(books, await planCsv(books, CSV));
  await mergeParked(mergeContext(again, 'manual'));
  const letter = { index: 2, row: again.row(2) };
  const by = { who: 'ada', why: null, at: Date.now(), nonce: 'n' };
  expect(await new PaidSince(again.ref, [letter]).retry(letter, by)).toMatchObject({
    why: expect.stringContaining(`the same row is order ${second.ref.id}-2`),
  });
  const failed = `member,tokens,almoner_order\n2,5,${again.ref.id}-2\n`;
  expect((await planCsv(books, failed)).findings.faults()).toMatchObject([{ code: 'ALM_PLAN_LOOKS_PAID' }]);
});
