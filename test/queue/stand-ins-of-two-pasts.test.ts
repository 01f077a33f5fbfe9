import { expect, test } from 'vitest';
import { readRecord } from '../../src/ledger/read/rows.js';
import { faultCodes, planCsv } from '../support/ledger/csv-plans.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs } from '../support/ledger/order-moves.js';
import {
  archived,
  give,
  lateStandIn,
  mended,
  placed,
  retryFirst,
  saidTwice,
} from '../support/machines/forgotten-pasts.js';

/** A row stands in for an order in two histories: of one debt, one order is sent at a time. */
const bench = ledgersOnRedis();

/** The row that stands in for the late stand-in was paid in the discarded history. */
async function chain() {
  const history = await lateStandIn(bench, 'refused', 'manual', async (late, one) => {
    const two = await give(one.ledger, mended(one, 7));
    expect(await late.send(two, 1, 'paid')).toBe(true);
    return two;
  });
  const { ledger, first, one, next, comeBack, made: two } = history;
  if (two === undefined) throw new Error('it was not made');
  return { first, one, two, other: await give(ledger, mended(first, 8)), next, comeBack };
}

test('the stand-in of a stand-in was paid: another stand-in of the first order is not sent', async () => {
  const { other, next, comeBack } = await chain();
  const back = await comeBack(next);
  const sent = await next.send(other, 1, 'paid');
  await next.die();
  await back.die();
  expect(sent).toBe(false);
});

test('the stand-in of a stand-in and another stand-in were both paid: a second payment is reported', async () => {
  const { first, one, two, other, next, comeBack } = await chain();
  expect(await next.send(other, 1, 'paid')).toBe(true);
  const back = await comeBack(next);
  const said = await saidTwice(first, one, two, other);
  await next.die();
  await back.die();
  expect(said).toHaveLength(1);
});

test.each([true, false])(
  'two doubts of one debt are both called paid: a second payment is reported (the one that came back last: %s)',
  async (isLast) => {
    const { ledger, first, one, next, comeBack } = await lateStandIn(bench, 'lost-after');
    const other = await give(ledger, mended(first, 7));
    await next.send(other, 1, 'lost-after');
    const back = await comeBack(next);
    const place = await placed(ledger, one);
    expect([(await readRecord(place.ref, 1)).code, (await readRecord(other.ref, 1)).code]).toEqual([
      'D',
      'D',
    ]);
    for (const each of isLast ? [other, place] : [place, other]) await concludeAs(each, 1, 'D', 'P');
    const said = await saidTwice(first, place, other);
    await next.die();
    await back.die();
    expect(said).toHaveLength(1);
  },
);

test('an order was paid here, and the doubt of its returned stand-in is called paid: a second payment is reported', async () => {
  const { ledger, first, one, next, comeBack } = await lateStandIn(bench, 'lost-after');
  expect(await retryFirst(first)).toBe('ok');
  expect(await next.send(first, 1, 'paid')).toBe(true);
  const back = await comeBack(next);
  const place = await placed(ledger, one);
  expect([(await readRecord(place.ref, 1)).code, (await readRecord(first.ref, 1)).code]).toEqual(['D', 'P']);
  await concludeAs(place, 1, 'D', 'P');
  const said = await saidTwice(first, place);
  await next.die();
  await back.die();
  expect(said).toHaveLength(1);
});

test('a stand-in returns as refused while another one waits: one of them is sent', async () => {
  const { ledger, first, one, next, comeBack } = await lateStandIn(bench, 'refused');
  const other = await give(ledger, mended(first, 7));
  const back = await comeBack(next);
  const place = await placed(ledger, one);
  expect((await readRecord(place.ref, 1)).code).toBe('R');
  expect(await retryFirst(place)).not.toBe('ok');
  expect(await next.send(place, 1, 'paid')).toBe(false);
  expect(await next.send(other, 1, 'paid')).toBe(true);
  await next.die();
  await back.die();
});

test('a stand-in returns as refused after another one was paid: it is not retried', async () => {
  const { ledger, first, one, next, comeBack } = await lateStandIn(bench, 'refused');
  const other = await give(ledger, mended(first, 7));
  expect(await next.send(other, 1, 'paid')).toBe(true);
  const back = await comeBack(next);
  const place = await placed(ledger, one);
  expect(await retryFirst(place)).not.toBe('ok');
  expect(await next.send(place, 1, 'paid')).toBe(false);
  await next.die();
  await back.die();
});

test('a stand-in returns as refused after the order itself was retried and paid: it is not retried', async () => {
  const { ledger, first, one, next, comeBack } = await lateStandIn(bench, 'refused');
  expect(await retryFirst(first)).toBe('ok');
  expect(await next.send(first, 1, 'paid')).toBe(true);
  const back = await comeBack(next);
  const place = await placed(ledger, one);
  expect(await retryFirst(place)).not.toBe('ok');
  expect(await next.send(place, 1, 'paid')).toBe(false);
  await next.die();
  await back.die();
});

test('a stand-in that returns as refused after the order was paid cannot be replaced', async () => {
  const { ledger, first, one, next, comeBack } = await lateStandIn(bench, 'refused');
  expect(await retryFirst(first)).toBe('ok');
  expect(await next.send(first, 1, 'paid')).toBe(true);
  const back = await comeBack(next);
  const plan = await planCsv(ledger, mended(await placed(ledger, one), 8));
  expect(faultCodes(plan)).toEqual(['ALM_ROW_ORDER_REPLACED']);
  await next.die();
  await back.die();
});

test('a perhaps paid stand-in was refused and archived: the other one is sent', async () => {
  const { ledger, first, one, next, own, comeBack } = await lateStandIn(bench, 'lost-before', 'idempotent');
  const other = await give(ledger, mended(first, 7));
  const back = await comeBack(next);
  const place = await placed(ledger, one);
  expect((await readRecord(place.ref, 1)).code).toBe('u');
  expect(await next.send(place, 1, 'refused')).toBe(true);
  await archived(place, own);
  const sent = await next.send(other, 1, 'paid');
  await next.die();
  await back.die();
  expect(sent).toBe(true);
});

test('a stand-in that was called unpaid is archived: the other one was paid once', async () => {
  const { ledger, first, one, next, own, comeBack } = await lateStandIn(bench, 'lost-before', 'idempotent');
  const other = await give(ledger, mended(first, 7));
  next.works(other);
  await next.begin(1);
  const back = await comeBack(next);
  const place = await placed(ledger, one);
  expect((await readRecord(place.ref, 1)).code).toBe('D');
  await concludeAs(place, 1, 'D', 'X');
  await archived(place, own);
  await next.finish('paid');
  for (const each of [back, next, back, next]) await each.recover();
  expect((await readRecord(other.ref, 1)).code).toBe('P');
  const said = await saidTwice(first, other);
  await next.die();
  await back.die();
  expect(said).toEqual([]);
});
