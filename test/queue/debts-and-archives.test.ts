import { describe, expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { archiveBatch } from '../../src/ledger/moves/archive-batch.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { bareCsv, faultCodes, planCsv } from '../support/ledger/csv-plans.js';
import { forgotten, mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, REFUSED } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, concludeAs, feedAll, sendAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  archived,
  give,
  lateMachine,
  lateStandIn,
  mended,
  onOneMachine,
  placed,
  retryFirst,
  saidTwice,
} from '../support/machines/forgotten-pasts.js';
import { tempFolder } from '../support/temp-folder.js';

/**
 * One debt may have several orders: some archived, left out, undone, or imported under another name. It must be paid
 * once.
 */
const bench = ledgersOnRedis();

const ONE = 'member,tokens,reference\n1,5,a\n';
const TWO = 'member,tokens,reference\n1,5,a\n2,6,b\n';

describe('the original of a left-out row was refused and has a stand-in; then the left-out row proves paid', () => {
  async function history() {
    const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1, 2));
    const restore = await photograph(ledger);
    const { late, comeBack } = await lateMachine(machines, sender);
    await cancelBatch(first.ref, audit('cancelled'));
    const second = await give(ledger, bareCsv(1, 2, 3));
    expect(await late.send(second, 1, 'paid')).toBe(true);
    await sender.die();
    await late.die();
    await restore();
    const { sender: next } = await again();
    const file = await give(ledger, bareCsv(1, 2, 3), { newRowsOnly: true });
    expect((await readRecord(file.ref, 1)).code).toBe('d');
    expect(await next.send(first, 1, 'refused')).toBe(true);
    const stand = await give(ledger, mended(first, 6));
    return { ledger, first, file, stand, next, comeBack };
  }
  test('a waiting stand-in is not sent', async () => {
    const { file, stand, next, comeBack } = await history();
    const back = await comeBack(next);
    expect((await readRecord(file.ref, 1)).code).toBe('P');
    const sent = await next.send(stand, 1, 'paid');
    await next.die();
    await back.die();
    expect(sent).toBe(false);
  });
  test('a paid stand-in is reported as a second payment', async () => {
    const { file, first, stand, next, comeBack } = await history();
    expect(await next.send(stand, 1, 'paid')).toBe(true);
    const back = await comeBack(next);
    const said = await saidTwice(first, file, stand);
    await next.die();
    await back.die();
    expect(said).toHaveLength(1);
  });
});

describe('an order with stand-ins from two histories is archived before the late journal comes', () => {
  async function history() {
    const { ledger, first, one, next, own, comeBack } = await lateStandIn(bench, 'paid');
    const other = await give(ledger, mended(first, 7));
    const folder = await archived(first, own);
    return { ledger, first, one, other, next, comeBack, folder };
  }
  test('the waiting stand-in is not sent', async () => {
    const { other, next, comeBack, folder } = await history();
    const back = await comeBack(next, folder);
    const sent = await next.send(other, 1, 'paid');
    await next.die();
    await back.die();
    expect(sent).toBe(false);
  });
  test('two paid stand-ins are reported as a second payment', async () => {
    const { first, one, other, next, comeBack, folder } = await history();
    expect(await next.send(other, 1, 'paid')).toBe(true);
    const back = await comeBack(next, folder);
    const said = await saidTwice(first, one, other);
    await next.die();
    await back.die();
    await expect(said).toHaveLength(1);
  });
});

describe('the stand-in of an order was refused and archived', () => {
  async function history() {
    const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1));
    await sender.send(first, 1, 'refused');
    const restore = await photograph(ledger);
    const { late, comeBack } = await lateMachine(machines, sender);
    expect(await retryFirst(first)).toBe('ok');
    expect(await late.send(first, 1, 'paid')).toBe(true);
    await sender.die();
    await late.die();
    await restore();
    const { sender: next, ledger: own } = await again();
    const stand = await give(ledger, mended(first, 6));
    expect(await next.send(stand, 1, 'refused')).toBe(true);
    return { ledger, first, stand, next, own, comeBack };
  }
  test('the order returns as paid: no second payment is reported', async () => {
    const { first, stand, next, own, comeBack } = await history();
    const folder = await archived(stand, own);
    const back = await comeBack(next, folder);
    const said = await saidTwice(first, stand);
    await next.die();
    await back.die();
    expect(said).toEqual([]);
  });
  test('the stand-in’s own stand-in is not sent once the order is known as paid', async () => {
    const { ledger, stand, next, own, comeBack } = await history();
    const third = await give(ledger, mended(stand, 8));
    const folder = await archived(stand, own);
    const back = await comeBack(next, folder);
    const sent = await next.send(third, 1, 'paid');
    await next.die();
    await back.die();
    expect(sent).toBe(false);
  });
});

test.each([true, false])(
  'a refused stand-in returns; the one imported here was refused and archived (%s): it can be retried',
  async (isArchived) => {
    const { ledger, first, one, next, own, comeBack } = await lateStandIn(bench, 'refused');
    const other = await give(ledger, mended(first, 7));
    expect(await next.send(other, 1, 'refused')).toBe(true);
    const folder = isArchived ? await archived(other, own) : null;
    const back = await comeBack(next, folder);
    const place = await placed(ledger, one);
    const r = await retryFirst(place);
    await next.die();
    await back.die();
    expect(r).toBe('ok');
  },
);

test('an order called unpaid while its request may still arrive is not archived before the settle time is over', async () => {
  const { ledger, first, one, next, comeBack } = await lateStandIn(bench, 'lost-late');
  const other = await give(ledger, mended(first, 7));
  const back = await comeBack(next);
  const place = await placed(ledger, one);
  expect((await readRecord(place.ref, 1)).code).toBe('D');
  await concludeAs(place, 1, 'D', 'X', { settleMs: 600_000 });
  expect(await archiveBatch(place.ref, await tempFolder())).toBeUndefined();
  const sent = await next.send(other, 1, 'paid');
  await next.die();
  await back.die();
  expect(sent).toBe(false);
});

test('a debt is not paid again if its stand-in was refused and that one’s own stand-in was paid, though the name is another file here', async () => {
  const november = batchId('november');
  const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1));
  await sender.send(first, 1, 'refused');
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  const named = async (csv: string) => {
    const plan = await planCsv(ledger, csv, { batchId: november });
    expect(faultCodes(plan)).toEqual([]);
    const { ref } = await importPlan(plan, importing(ledger, { now: START, batchId: november }));
    const b = testBatch(ledger, ref.no, ref.id, await new PlanReader(ledger).block(ref.no, 0));
    await feedAll(b);
    return b;
  };
  const one = await named(mended(first, 6));
  expect(await late.send(one, 1, 'refused')).toBe(true);
  const two = await give(ledger, mended(one, 8));
  expect(await late.send(two, 1, 'paid')).toBe(true);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next } = await again();
  await named('member,tokens\n7,5\n8,5\n');
  const other = await give(ledger, mended(first, 7));
  const back = await comeBack(next);
  expect(await next.send(other, 1, 'paid')).toBe(false);
  await next.die();
  await back.die();
});

test('a refused order that returns can be paid if the other order under its reference was undone', async () => {
  const batch = await forgotten(bench, TWO);
  const { ledger } = batch;
  const other = await give(ledger, ONE);
  await sendAs(other, 1, 'P');
  await mergeAttempts(batch, attemptOf(batch, 1, REFUSED));
  const undo = await give(ledger, `member,op,tokens,reference\n1,debit,5,undo:${other.ref.id}-1\n`);
  await sendAs(undo, 1, 'P');
  const place = await placed(ledger, batch);
  expect(await retryFirst(place)).toBe('ok');
});
