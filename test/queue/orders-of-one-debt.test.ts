import { describe, expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { mergeTidings, tidingsFor } from '../../src/ledger/sessions/merge.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { bareCsv, faultCodes, planCsv } from '../support/ledger/csv-plans.js';
import { forgotten, mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, mergeContext, PAID, REFUSED } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, type TestBatch, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, begin, begun, concludeAs, sendAs, settleAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  give,
  lateMachine,
  lateStandIn,
  mended,
  onOneMachine,
  placed,
  retryFirst,
  saidTwice,
  undoOf,
} from '../support/machines/forgotten-pasts.js';

/**
 * Two histories sent different orders of one debt. Either one of them is no longer sent, or both were paid and a second
 * payment is reported.
 */
const bench = ledgersOnRedis();
const ONE = 'member,tokens,reference\n1,5,a\n';
const TWO = 'member,tokens,reference\n1,5,a\n2,6,b\n';
const refCsv = (...members: number[]) =>
  `member,tokens,reference\n${members.map((member) => `${member},5,r${member}\n`).join('')}`;
const spent = async (ledger: RealmLedger) => [...(await findSpent(ledger, ['a', 'b'])).keys()].sort();

/** One of the batches reports this order as paid twice. */
async function expectTwice(...batches: readonly TestBatch[]) {
  expect(await saidTwice(...batches)).toHaveLength(1);
}

describe('an order was refused; one stand-in was sent in a forgotten history, another one here', () => {
  async function twoStandIns(certainty: 'manual' | 'idempotent', fate: 'paid' | 'lost-before') {
    const history = await lateStandIn(bench, fate, certainty);
    return { ...history, other: await give(history.ledger, mended(history.first, 7)) };
  }

  test('the waiting one is not sent once the other one is known as paid', async () => {
    const { other, next, comeBack } = await twoStandIns('manual', 'paid');
    const back = await comeBack(next);
    expect(await next.send(other, 1, 'paid')).toBe(false);
    expect((await readRecord(other.ref, 1)).code).toBe('X');
    expect(await retryFirst(other)).toMatchObject({ why: expect.stringMatching(/.+/) });
    await next.die();
    await back.die();
  });

  test('two paid ones are reported once', async () => {
    const { first, one, other, next, comeBack } = await twoStandIns('manual', 'paid');
    expect(await next.send(other, 1, 'paid')).toBe(true);
    const back = await comeBack(next);
    await expectTwice(first, one, other);
    await next.die();
    await back.die();
  });

  test('an unknown one is not resent if the other one was paid', async () => {
    const { ledger, one, other, next, comeBack } = await twoStandIns('idempotent', 'lost-before');
    expect(await next.send(other, 1, 'paid')).toBe(true);
    const back = await comeBack(next);
    const place = await placed(ledger, one);
    expect((await readRecord(place.ref, 1)).code).toBe('D');
    expect(await next.send(place, 1, 'paid')).toBe(false);
    await next.die();
    await back.die();
  });
});

test('a retried order was paid in a forgotten history: neither its stand-in nor the next one is sent', async () => {
  const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1));
  await sender.send(first, 1, 'refused');
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  expect(await retryFirst(first)).toBe('ok');
  expect(await late.send(first, 1, 'paid')).toBe(true);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next } = await again();
  const other = await give(ledger, mended(first, 7));
  expect(await next.send(other, 1, 'refused')).toBe(true);
  const third = await give(ledger, mended(other, 8));
  const back = await comeBack(next);
  expect((await readRecord(first.ref, 1)).code).toBe('P');
  expect(await next.send(third, 1, 'paid')).toBe(false);
  await next.die();
  await back.die();
});

test('an order and its stand-in both return as paid: a second payment is reported', async () => {
  const ledger = await bench.ledger();
  const first = await give(ledger, bareCsv(1));
  await sendAs(first, 1, 'R');
  const second = await give(ledger, mended(first, 6));
  await sendAs(second, 1, 'P');
  await mergeAttempts(first, attemptOf(first, 1, PAID, { nonce: 'late', attempts: 2 }));
  expect((await readRecord(first.ref, 1)).code).toBe('P');
  await expectTwice(first, second);
});

test('a perhaps paid order of the debt was refused: the stand-in can be sent', async () => {
  const ledger = await bench.ledger();
  const first = await give(ledger, bareCsv(1));
  await sendAs(first, 1, 'R');
  const second = await give(ledger, mended(first, 6));
  const late = { nonce: 'late', attempts: 2 };
  const open = attemptOf(first, 1, null, late);
  await mergeTidings(mergeContext(first, 'idempotent', ['late']), await tidingsFor(ledger, [open]));
  expect((await readRecord(first.ref, 1)).code).toBe('D');
  await mergeAttempts(first, attemptOf(first, 1, REFUSED, late));
  expect((await readRecord(first.ref, 1)).code).toBe('R');
  expect(await begin(second, 1)).not.toHaveProperty('refusal');
});

describe('the original of a left-out row is under way when the row proves paid', () => {
  test.each([
    ['bare', bareCsv, { newRowsOnly: true }],
    ['with references', refCsv, {}],
  ] as const)('and is paid as well: said (%s)', async (_, csv, changes) => {
    const { ledger, first, sender, again, machines } = await onOneMachine(bench, csv(1, 2));
    const restore = await photograph(ledger);
    const { late, comeBack } = await lateMachine(machines, sender);
    await cancelBatch(first.ref, audit('cancelled'));
    const second = await give(ledger, csv(1, 2, 3));
    expect(await late.send(second, 2, 'paid')).toBe(true);
    await sender.die();
    await late.die();
    await restore();
    const { sender: next } = await again();
    const file = await give(ledger, csv(1, 2, 3), changes);
    next.works(first);
    await next.begin(2);
    const back = await comeBack(next);
    await next.finish('paid');
    for (const one of [back, next, back, next]) await one.recover();
    expect((await readRecord(first.ref, 2)).code).toBe('P');
    await expectTwice(first, file);
    await next.die();
    await back.die();
  });
});

describe('an order returns under a reference that another one holds', () => {
  test('as paid, while the other one is under way and is paid too: a second payment is reported', async () => {
    const batch = await forgotten(bench, TWO);
    const other = await give(batch.ledger, ONE);
    const of = await begun(other, 1);
    await mergeAttempts(batch, attemptOf(batch, 1, PAID));
    await settleAs(other, 1, 'P', of);
    await expectTwice(batch, other);
  });

  test('as perhaps paid: undoing the other one leaves the reference spent, and a later payment is reported', async () => {
    const batch = await forgotten(bench, TWO);
    const { ledger } = batch;
    const other = await give(ledger, ONE);
    await sendAs(other, 1, 'P');
    await mergeAttempts(batch, attemptOf(batch, 1, null));
    const undo = await give(ledger, `member,op,tokens,reference\n1,debit,5,undo:${other.ref.id}-1\n`);
    await sendAs(undo, 1, 'P');
    expect(await spent(ledger)).toEqual(['a']);
    await concludeAs(await placed(ledger, batch), 1, 'D', 'P');
    expect(await spent(ledger)).toEqual(['a']);
  });

  test('as a doubt that is called paid beside the other one: a second payment is reported', async () => {
    const batch = await forgotten(bench, TWO);
    const { ledger } = batch;
    const other = await give(ledger, ONE);
    await sendAs(other, 1, 'P');
    await mergeAttempts(batch, attemptOf(batch, 1, null));
    await concludeAs(await placed(ledger, batch), 1, 'D', 'P');
    await expectTwice(batch, other);
  });
});

test('a left-out row was under way and is refused: its reference is free for the original', async () => {
  const batch = await forgotten(bench, TWO);
  const { ledger } = batch;
  const first = await give(ledger, ONE);
  const file = await give(ledger, TWO);
  expect([file.ref.id, (await readRecord(file.ref, 1)).code]).toEqual([batch.ref.id, 'd']);
  const open = attemptOf(batch, 1, null);
  await mergeTidings(mergeContext(batch, 'manual', [open.intent.nonce]), await tidingsFor(ledger, [open]));
  await mergeAttempts(batch, attemptOf(batch, 1, REFUSED));
  expect(await begin(first, 1)).not.toHaveProperty('refusal');
});

test('a left-out row beside a payment was under way and is refused: undoing the payment frees the reference', async () => {
  const batch = await forgotten(bench, TWO);
  const { ledger } = batch;
  const first = await give(ledger, ONE);
  await sendAs(first, 1, 'P');
  const file = await give(ledger, TWO);
  expect([file.ref.id, (await readRecord(file.ref, 1)).code]).toEqual([batch.ref.id, 'd']);
  const open = attemptOf(batch, 1, null);
  await mergeTidings(mergeContext(batch, 'manual', [open.intent.nonce]), await tidingsFor(ledger, [open]));
  await mergeAttempts(batch, attemptOf(batch, 1, REFUSED));
  const undo = await give(ledger, undoOf(first));
  await sendAs(undo, 1, 'P');
  expect(await spent(ledger)).toEqual(['b']);
});

test('a paid stand-in whose name is another file here is not retried or replaced', async () => {
  const november = batchId('november');
  const past = await bench.ledger();
  const pastFirst = await give(past, bareCsv(1));
  await sendAs(pastFirst, 1, 'R');
  const plan = await planCsv(past, mended(pastFirst, 6), { batchId: november });
  const { ref } = await importPlan(plan, importing(past, { now: START, batchId: november }));
  const rows = await new PlanReader(past).block(ref.no, 0);
  const ledger = await bench.ledger();
  const second = { ...testBatch(past, ref.no, ref.id, rows), ledger };
  const first = await give(ledger, bareCsv(1));
  await sendAs(first, 1, 'R');
  const other = await planCsv(ledger, 'member,tokens\n7,5\n8,5\n', { batchId: november });
  await importPlan(other, importing(ledger, { now: START, batchId: november }));
  await mergeAttempts(second, attemptOf(second, 1, PAID));
  expect(faultCodes(await planCsv(ledger, mended(first, 7)))).toEqual(['ALM_ROW_ORDER_REPLACED']);
  expect(await retryFirst(first)).not.toBe('ok');
});
