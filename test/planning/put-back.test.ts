import { expect, test } from 'vitest';
import { runAgain } from '../../src/cli/commands/recover.js';
import { batchId } from '../../src/core/ids.js';
import { mergeParked } from '../../src/ledger/journal/merge.js';
import { park } from '../../src/ledger/journal/parked.js';
import { listBatches } from '../../src/ledger/read/batches.js';
import { PaidSince } from '../../src/planning/looks-paid.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { planCsv, putPlan } from '../support/ledger/csv-plans.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, mergeContext, PAID, REFUSED } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, sealed } from '../support/ledger/ledgers-on-redis.js';

const bench = ledgersOnRedis();
const CSV = `member,tokens\n${[1, 2, 3, 4, 5, 6].map((n) => `${n},5\n`).join('')}`;

test('a forgotten batch is put back as it was, though its rows look paid: under a label it would be paid twice', async () => {
  const [ledger, elsewhere] = [await bench.ledger(), await bench.ledger()];
  const before = await putPlan(elsewhere, await planCsv(elsewhere, CSV));
  await sealed(
    ledger,
    [1, 2, 3, 4, 5, 6].map((n) => ({ member: String(n), tokens: 5 })),
  );
  expect((await planCsv(ledger, CSV)).findings.faults()).toMatchObject([{ code: 'ALM_PLAN_LOOKS_PAID' }]);
  await park(ledger, attemptOf(before, 1, PAID));
  const again = await planCsv(ledger, CSV);
  expect(again.findings.faults()).toEqual([]);
  expect((await putPlan(ledger, again)).ref.id).toBe(before.ref.id);
});

test('what was put back was compared with nothing: its dead letters are compared with everything', async () => {
  const [ledger, before] = [await bench.ledger(), await bench.ledger()];
  const first = await putPlan(before, await planCsv(before, CSV));
  // Later than the first, it had paid the row; after the loss it was given again before the first.
  const second = await putPlan(ledger, await planCsv(ledger, `${CSV}7,5\n`));
  await park(ledger, attemptOf(first, 2, REFUSED));
  const again = await putPlan(ledger, await planCsv(ledger, CSV));
  await mergeParked(mergeContext(again, 'manual'));
  const letter = { index: 2, row: again.row(2) };
  const by = { who: 'ada', why: null, at: Date.now(), nonce: 'n' };
  expect(await new PaidSince(again.ref, [letter]).retry(letter, by)).toMatchObject({
    why: expect.stringContaining(`the same row is order ${second.ref.id}-2`),
  });
  const failed = `member,tokens,almoner_order\n2,5,${again.ref.id}-2\n`;
  expect((await planCsv(ledger, failed)).findings.faults()).toMatchObject([{ code: 'ALM_PLAN_LOOKS_PAID' }]);
});

test('a forgotten batch is not imported under another name, where what the journals know would not be found', async () => {
  const [ledger, elsewhere] = [await bench.ledger(), await bench.ledger()];
  const before = await putPlan(elsewhere, await planCsv(elsewhere, CSV));
  const plan = await planCsv(ledger, CSV);
  await park(ledger, attemptOf(before, 1, PAID));
  const as = (id: string) => importPlan(plan, { ...importing(ledger, { now: START }), batchId: batchId(id) });
  await expect(as('november-a')).rejects.toMatchObject({
    code: 'ALM_BATCH_ID_OTHER',
    message: expect.stringMatching(
      `forgotten batch ${before.ref.id} .*as batch november-a .*Nothing was enq`,
    ),
  });
  expect(await listBatches(ledger)).toEqual([]);
  expect((await as(before.ref.id)).ref.id).toBe(before.ref.id);
});

test('recover says under which names forgotten batches are given again', () => {
  expect(runAgain(['7k3m9q2x4v8w'])).toContain('with the --batch-id that it was given, if any');
  expect(runAgain(['7k3m9q2x4v8w', 'november', 'week-12'])).toContain(
    '(--batch-id november, --batch-id week-12), the others without one',
  );
});
