import { expect, test } from 'vitest';
import { readRecord } from '../../src/ledger/read/rows.js';
import { bareCsv, faultCodes, planCsv } from '../support/ledger/csv-plans.js';
import { happensBefore, mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { attemptOf, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs, sendAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  give,
  lateMachine,
  ONE_ROW,
  onOneMachine,
  onTwoMachines,
  ROW_AGAIN,
  retryFirst,
  saidTwice,
  undoOf,
} from '../support/machines/forgotten-pasts.js';

/** A paid undo returned, and its order is not known as paid, although it must have been. */
const bench = ledgersOnRedis();

/** A late machine pays the order after the backup, and this one its undo; then the store is rolled back. */
async function undoneInThePast(csv: string, was: 'unknown' | 'waiting', certainty: 'manual' | 'idempotent') {
  const { ledger, first, sender, again, machines } = await onOneMachine(bench, csv, certainty);
  if (was === 'unknown') await sender.send(first, 1, 'lost-after');
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  expect(await late.send(first, 1, 'paid')).toBe(true);
  const undo = await give(ledger, undoOf(first));
  expect(await sender.send(undo, 1, 'paid')).toBe(true);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next } = await again();
  return { ledger, first, undo, next, comeBack };
}

test.each(['unknown', 'waiting'] as const)(
  'its order was %s: it is not sent, and once it is known as paid it can be paid again',
  async (was) => {
    const { ledger, first, next, comeBack } = await undoneInThePast(ONE_ROW, was, 'idempotent');
    expect(await next.send(first, 1, 'paid')).toBe(false);
    const { code } = await readRecord(first.ref, 1);
    expect(code).toBe(was === 'unknown' ? 'D' : 'X');
    if (was === 'unknown') await concludeAs(first, 1, 'D', 'P');
    const back = await comeBack(next);
    expect((await readRecord(first.ref, 1)).code).toBe('P');
    const twice = await give(ledger, ROW_AGAIN);
    expect((await readRecord(twice.ref, 1)).code).toBe('p');
    expect(await saidTwice(first)).toEqual([]);
    await next.die();
    await back.die();
  },
);

test('a person retries its order: its row in another file then looks paid', async () => {
  const { ledger, first, next, comeBack } = await undoneInThePast(bareCsv(1), 'waiting', 'manual');
  expect(await next.send(first, 1, 'paid')).toBe(false);
  expect(faultCodes(await planCsv(ledger, bareCsv(1, 2)))).toEqual([]);
  expect(await retryFirst(first)).toBe('ok');
  expect(await next.send(first, 1, 'paid')).toBe(true);
  expect(faultCodes(await planCsv(ledger, bareCsv(1, 2)))).toEqual(['ALM_PLAN_LOOKS_PAID']);
  const back = await comeBack(next);
  expect(await saidTwice(first)).toHaveLength(1);
  await next.die();
  await back.die();
});

test.each(['order first', 'undo first', 'at once'])(
  'two processes restore an order and its undo (%s)',
  async (how) => {
    const past = await bench.ledger();
    const paid = await give(past, ONE_ROW);
    await sendAs(paid, 1, 'P');
    const undo = await give(past, undoOf(paid));
    const ledger = await bench.ledger();
    const order = { ...paid, ledger };
    const { undoes } = undo.row(1);
    const { shard = '', fieldHex = '' } = undoes ?? {};
    const attempt = attemptOf({ ...undo, ledger }, 1, PAID, {
      nonce: 'undo',
      undoes: { shard, fieldHex, account: '' },
    });
    const tellOrder = () => mergeAttempts(order, attemptOf(order, 1, PAID, { nonce: 'paid' }));
    if (how === 'order first') await tellOrder();
    const own = how === 'at once' ? happensBefore(ledger, 'replay', tellOrder) : ledger;
    await mergeAttempts({ ...undo, ledger: own }, attempt);
    if (how === 'undo first') await tellOrder();
    const again = await give(ledger, ROW_AGAIN);
    expect((await readRecord(again.ref, 1)).code).toBe('p');
  },
);

test('two machines recover at the same time, one with the order and the other with its undo', async () => {
  for (let round = 0; round < 5; round++) {
    const { ledger, a, b, die } = await onTwoMachines(bench, bareCsv(77));
    const restore = await photograph(ledger);
    const order = await give(ledger, ONE_ROW);
    expect(await a.send(order, 1, 'paid')).toBe(true);
    const undo = await give(ledger, undoOf(order));
    expect(await b.send(undo, 1, 'paid')).toBe(true);
    await restore();
    for (let look = 0; look < 4; look++) await Promise.all([a.recover(), b.recover()]);
    const again = await give(ledger, ROW_AGAIN);
    expect((await readRecord(again.ref, 1)).code).toBe('p');
    await die();
  }
});
