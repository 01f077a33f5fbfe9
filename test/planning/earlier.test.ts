import { expect, test } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import type { OrderRow } from '../../src/csv/row.js';
import { openBatch } from '../../src/ledger/moves/import-batch.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { newNonce } from '../../src/ledger/script-client.js';
import { acceptMissing, REMOVED } from '../../src/ledger/sessions/accept-missing.js';
import { arm } from '../../src/ledger/sessions/fence.js';
import { type Plan, planRows } from '../../src/planning/plan.js';
import { AWARD_SHEET } from '../../src/rules/awards.js';
import { planCsv, putPlan, settleRows } from '../support/ledger/csv-plans.js';
import { attemptOf, merge, mergeContext, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { audit } from '../support/ledger/order-moves.js';
import { testProfile } from '../support/ledger/realm-profile.js';

const bench = ledgersOnRedis();

test('after an accepted loss a file is refused that may be among it, also where its import was begun before', async () => {
  const batch = await sealed(await bench.ledger(), [{}]);
  const { ledger } = batch;
  const order = { op: 'credit', member: memberId('1'), recipient: null, tokens: tokens(5) } as const;
  const rows: OrderRow[] = [
    { kind: 'order', line: 2, order, reference: null, reason: null, replaces: null, cells: [] },
  ];
  const plan = async (again: string | null, now = Date.now()) => {
    const options = { ledger, profile: testProfile(), skipInvalid: false };
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
  await openBatch(ledger, { content, id, importer: newNonce(), createdAt: 1 });
  expect((await plan(null)).codes).toEqual(['ALM_PLAN_MAYBE_FORGOTTEN']);
  expect((await plan('looked')).codes).toEqual([]);
  expect((await plan(null, Date.now() + 31 * 24 * 3600_000)).codes).toEqual([]);
});

/** In another store: a file whose batch was cancelled, and so was the next, before anything of it was sent. */
async function cancelledTwice() {
  const ledger = await bench.ledger();
  const first = await settleRows(await putPlan(ledger, await planCsv(ledger, CSV)), 'P', 'P');
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await putPlan(ledger, await planCsv(ledger, CSV, { newRowsOnly: true }));
  await cancelBatch(second.ref, audit('cancelled'));
  return { second, third: await putPlan(ledger, await planCsv(ledger, CSV, { newRowsOnly: true })) };
}

const CSV = `member,tokens\n${[1, 2, 3, 4, 5, 6].map((n) => `${n},5\n`).join('')}`;
const said = ({ findings }: Plan) => findings.faults().map(({ code, message }) => `${code} ${message}`);

test('payments of any later batch of the file stop it: the store has forgotten that the ones before were cancelled', async () => {
  const { third } = await cancelledTwice();
  const ledger = await bench.ledger();
  const fresh = await planCsv(ledger, CSV);
  await merge({ ...third, ledger }, 'manual', attemptOf(third, 3, PAID));
  const stops = [expect.stringMatching(`ALM_PLAN_LOOKS_PAID .* batch ${third.ref.id}`)];
  expect(said(await planCsv(ledger, CSV))).toEqual(stops);
  await expect(putPlan(ledger, fresh)).rejects.toMatchObject({ code: 'ALM_PLAN_CHANGED' });
  await arm(ledger, (await readFence(ledger)).run, 0);
  const rest = await putPlan(ledger, await planCsv(ledger, CSV, { newRowsOnly: true }));
  expect((await readBatch(rest.ref))?.counts).toEqual({ duplicate: 1, planned: 5 });
});
