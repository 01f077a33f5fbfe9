import { expect, test } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import { planRows } from '../../src/intake/plan.js';
import type { OrderRow } from '../../src/intake/row.js';
import { AWARD_SHEET } from '../../src/intake/rules/award-rows.js';
import { acceptMissing, REMOVED } from '../../src/ledger/accept-missing.js';
import { newNonce } from '../../src/ledger/caller.js';
import { openBatch, PlanReader } from '../../src/ledger/plan-store.js';
import { mergeContext } from '../support/journaled-attempt.js';
import { ledgerBench, sealed } from '../support/ledger.js';
import { testProfile } from '../support/realm-profile.js';

const bench = ledgerBench();

test('after an accepted loss a file is refused that may be among it, also where its import was begun before', async () => {
  const batch = await sealed(await bench.books(), [{}]);
  const { books } = batch;
  const order = { op: 'credit', member: memberId('1'), recipient: null, tokens: tokens(5) } as const;
  const rows: OrderRow[] = [
    { kind: 'order', line: 2, order, reference: null, reason: null, replaces: null, cells: [] },
  ];
  const plan = async (again: string | null, now = Date.now()) => {
    const options = { books, plans: new PlanReader(books), profile: testProfile(), skipInvalid: false };
    const {
      findings,
      content,
      batch: id,
    } = await planRows('pay.csv', AWARD_SHEET, [rows], {
      ...options,
      again,
      now,
    });
    return { codes: findings.faults().map(({ code }) => code), content, id };
  };
  const before = await plan(null);
  expect(before.codes).toEqual([]);
  await acceptMissing(mergeContext(batch, 'manual'), REMOVED, { who: 'ada', at: Date.now() });
  expect((await plan(null)).codes).toEqual(['ALM_PLAN_MAYBE_FORGOTTEN']);
  const { content, id } = before;
  if (content === null || id === null) throw new Error('the rows make no batch');
  await openBatch(books, { content, id, importer: newNonce(), createdAt: 1 });
  expect((await plan(null)).codes).toEqual(['ALM_PLAN_MAYBE_FORGOTTEN']);
  expect((await plan('looked')).codes).toEqual([]);
  expect((await plan(null, Date.now() + 31 * 24 * 3600_000)).codes).toEqual([]);
});
