import { expect, test } from 'vitest';
import { park } from '../../src/ledger/parked.js';
import { planCsv, putPlan } from '../support/csv-plans.js';
import { attemptOf, PAID } from '../support/journaled-attempt.js';
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
