import { expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { BatchRef, RealmLedger } from '../../src/ledger/realm-ledger.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { planCsv } from '../support/ledger/csv-plans.js';
import { forgotten, happensBefore, mergeAttempts, placeOf } from '../support/ledger/forgotten-batch.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START } from '../support/ledger/ledgers-on-redis.js';
import { begin, begun, concludeAs, sendAs, settleAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { give, placed } from '../support/machines/forgotten-pasts.js';

/** The references of orders that a journal has brought back as paid. */
const bench = ledgersOnRedis();
const REFS = 'member,tokens,reference\n1,5,a\n2,6,b\n3,7,c\n';
const spent = async (ledger: RealmLedger) => [...(await findSpent(ledger, ['a', 'b', 'c'])).keys()].sort();

async function undoFirst({ ledger, id }: BatchRef): Promise<void> {
  await sendAs(await give(ledger, `member,op,tokens,reference\n1,debit,5,undo:${id}-1\n`), 1, 'P');
}

test.each([
  ['P', ['a']],
  ['R', []],
] as const)(
  'an order that lost its reference on its way ends as %s; the order that took it is undone',
  async (code, left) => {
    const batch = await forgotten(bench, REFS);
    const { ledger } = batch;
    const second = await give(ledger, 'member,tokens,reference\n1,5,a\n');
    const of = await begun(second, 1);
    await mergeAttempts(batch, attemptOf(batch, 1, PAID));
    expect(await settleAs(second, 1, code, of)).toMatchObject({ settled: true });
    expect(await spent(ledger)).toEqual(['a']);
    const { id } = await placeOf(batch);
    await sendAs(await give(ledger, `member,op,tokens,reference\n1,debit,5,undo:${id}-1\n`), 1, 'P');
    expect(await spent(ledger)).toEqual(left);
  },
);

test('a doubt that never held its reference is called paid; the order that holds it is undone', async () => {
  const batch = await forgotten(bench, REFS);
  const { ledger } = batch;
  const second = await give(ledger, 'member,tokens,reference\n1,5,a\n');
  await sendAs(second, 1, 'P');
  await mergeAttempts(batch, attemptOf(batch, 1, null));
  await concludeAs(await placed(ledger, batch), 1, 'D', 'P');
  await undoFirst(second.ref);
  expect(await spent(ledger)).toEqual(['a']);
  await undoFirst(await placeOf(batch));
  expect(await spent(ledger)).toEqual([]);
});

test.each(['open-batch', 'put-block', 'seal-batch'])(
  'an order comes back at another line of its file before %s: it keeps its reference',
  async (script) => {
    const batch = await forgotten(bench, REFS);
    const { ledger } = batch;
    const csv = REFS.replace('\n', '\nbad,5,x\n');
    const plan = await planCsv(ledger, csv, { skipInvalid: true });
    const importer = happensBefore(ledger, script, () => mergeAttempts(batch, attemptOf(batch, 1, PAID)));
    await expect(importPlan(plan, importing(importer, { now: START }))).rejects.toMatchObject({
      code: 'ALM_PLAN_CHANGED',
    });
    expect((await readRecord(await placeOf(batch), 1)).code).toBe('P');
    expect(await spent(ledger)).toEqual(['a']);
    await undoFirst(await placeOf(batch));
    expect(await spent(ledger)).toEqual([]);
  },
);

test.each(['was never sent', 'waits after a definite no'])(
  'an order that may have been paid takes its reference from one that %s',
  async (holder) => {
    const batch = await forgotten(bench, REFS);
    const { ledger } = batch;
    const second = await give(ledger, 'member,tokens,reference\n1,5,a\n');
    if (holder !== 'was never sent') await sendAs(second, 1, 'w');
    await mergeAttempts(batch, attemptOf(batch, 1, null));
    expect(await begin(second, 1)).toMatchObject({ refusal: 'instead', code: 'ALM_SEND_REFERENCE_HELD' });
    expect((await readRecord(second.ref, 1)).code).toBe('X');
  },
);

test('an order whose key is honoured stays unknown, and is sent again, where the other one under its reference waits', async () => {
  const batch = await forgotten(bench, REFS);
  await give(batch.ledger, 'member,tokens,reference\n1,5,a\n');
  await mergeAttempts(batch, attemptOf(batch, 1, null, { certainty: 'idempotent' }));
  expect((await readRecord(await placeOf(batch), 1)).code).toBe('u');
});

test('rows that were read under a name are not those of another past', async () => {
  const id = batchId('spring');
  const batch = await forgotten(bench, REFS, id);
  const { ledger } = batch;
  const back = await photograph(ledger);
  const plans = new PlanReader(ledger);
  const first = await importPlan(await planCsv(ledger, REFS), importing(ledger, { now: START, batchId: id }));
  expect(await plans.rowOf(first.ref.no, 1, id)).toMatchObject({ reference: 'a' });
  await back();
  const other = REFS.replace('1,5,a', '9,9,z');
  const second = await importPlan(
    await planCsv(ledger, other),
    importing(ledger, { now: START, batchId: id }),
  );
  plans.clear();
  expect(await plans.rowOf(second.ref.no, 1, id)).toMatchObject({ reference: 'z' });
});
