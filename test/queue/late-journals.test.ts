import { expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { carryReferences, packReferences } from '../../src/ledger/moves/carry-references.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { storeNowMs } from '../../src/ledger/realm-ledger.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { forgotten, mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { attemptOf } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, begin, begun, concludeAs, sendAs, settleAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  archived,
  give,
  lateMachine,
  onOneMachine,
  placed,
  retryFirst,
  saidTwice,
} from '../support/machines/forgotten-pasts.js';
import { until } from '../support/until.js';

/** Journals that return one after the other, references, and orders that are held for a payment. */
const bench = ledgersOnRedis();

const ONE = 'member,tokens,reference\n1,5,a\n';
const TWO = 'member,tokens,reference\n1,5,a\n2,6,b\n';

test('a held order that returns as unknown becomes a doubt, and is not resent', async () => {
  const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1), 'idempotent');
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  // The request never arrived. A person looked it up at the realm and rightly called it unpaid.
  await late.send(first, 1, 'lost-before');
  expect((await readRecord(first.ref, 1)).code).toBe('u');
  await concludeAs(first, 1, 'u', 'X');
  const second = await give(ledger, bareCsv(1, 2));
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next } = await again();
  expect(await next.send(first, 1, 'paid')).toBe(false);
  expect((await readRecord(first.ref, 1)).code).toBe('X');
  const back = await comeBack(next);
  const sent = await next.send(first, 1, 'paid');
  await next.die();
  await back.die();
  expect(sent).toBe(false);
});

test.each([false, true])(
  'a finished batch reopens for a late journal after others were archived (archive: %s)',
  async (isArchived) => {
    const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1), 'idempotent');
    await sender.send(first, 1, 'refused');
    const old = await give(ledger, bareCsv(77));
    await sender.send(old, 1, 'paid');
    const restore = await photograph(ledger);
    const { late, comeBack } = await lateMachine(machines, sender);
    expect(await retryFirst(first)).toBe('ok');
    await late.send(first, 1, 'lost-before');
    await concludeAs(first, 1, 'u', 'X');
    const second = await give(ledger, bareCsv(1, 2));
    expect(await sender.send(second, 1, 'paid')).toBe(true);
    await sender.die();
    await late.die();
    await restore();
    const { sender: next, ledger: own } = await again();
    const archive = isArchived ? await archived(old, own) : null;
    const back = await comeBack(next, archive);
    const sent = await next.send(first, 1, 'paid');
    await next.die();
    await back.die();
    expect(sent).toBe(false);
  },
);

test('an equal order is sent once the resend of a perhaps paid one is refused', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1), 'idempotent');
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await give(ledger, bareCsv(1, 2));
  await sender.send(second, 1, 'lost-before');
  await sender.die();
  await restore();
  const { sender: next } = await again();
  const place = await placed(ledger, second);
  expect((await readRecord(place.ref, 1)).code).toBe('u');
  expect(await next.send(place, 1, 'refused')).toBe(true);
  expect((await readRecord(place.ref, 1)).code).toBe('R');
  const sent = await next.send(first, 1, 'paid');
  await next.die();
  expect(sent).toBe(true);
});

test('an equal order of a file planned in between is held if a later attempt of the first is known as paid', async () => {
  const { ledger, sender, again, machines } = await onOneMachine(bench, bareCsv(77), 'idempotent');
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  const second = await give(ledger, bareCsv(1, 2));
  await sender.send(second, 1, 'lost-before');
  await late.send(second, 1, 'refused');
  expect((await readRecord(second.ref, 1)).code).toBe('R');
  expect(await retryFirst(second)).toBe('ok');
  expect(await late.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next } = await again();
  const place = await placed(ledger, second);
  expect((await readRecord(place.ref, 1)).code).toBe('u');
  expect(await next.send(place, 1, 'refused')).toBe(true);
  expect((await readRecord(place.ref, 1)).code).toBe('R');
  const third = await give(ledger, bareCsv(1, 9));
  const back = await comeBack(next);
  expect((await readRecord(place.ref, 1)).code).toBe('P');
  const sent = await next.send(third, 1, 'paid');
  await next.die();
  await back.die();
  expect(sent).toBe(false);
});

test('if the held order proves to be a separate payment, the other equal order is held instead', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1), 'idempotent');
  const other = await give(ledger, bareCsv(1), { again: 'a second gift' });
  await sender.send(first, 1, 'lost-after');
  const restore = await photograph(ledger);
  await cancelBatch(other.ref, audit('cancelled'));
  const second = await give(ledger, bareCsv(1, 9), { again: 'a second gift, mended' });
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  expect(await next.send(first, 1, 'paid')).toBe(false);
  expect((await readRecord(first.ref, 1)).code).toBe('D');
  await concludeAs(first, 1, 'D', 'P');
  const sent = await next.send(other, 1, 'paid');
  await next.die();
  expect(sent).toBe(false);
});

test('an order asked to slow down is not sent while another under its reference is perhaps paid', async () => {
  const batch = await forgotten(bench, TWO);
  const { ledger } = batch;
  const other = await give(ledger, ONE);
  const of = await begun(other, 1);
  await mergeAttempts(batch, attemptOf(batch, 1, null));
  await settleAs(other, 1, 'w', of);
  const sent = await begin(other, 1, { nonce: 'again' });
  expect(sent).toHaveProperty('refusal');
});

test.each(['manual', 'idempotent'] as const)(
  'an order asked to slow down is not sent while another machine’s order under its reference is perhaps paid (%s)',
  async (certainty) => {
    const { ledger, sender, again, machines } = await onOneMachine(bench, 'member,tokens\n77,1\n', certainty);
    const restore = await photograph(ledger);
    const { late, comeBack } = await lateMachine(machines, sender);
    const second = await give(ledger, TWO);
    await late.send(second, 1, 'lost-after');
    await sender.die();
    await late.die();
    await restore();
    const { sender: next } = await again();
    const other = await give(ledger, ONE);
    next.works(other);
    await next.begin(1);
    const back = await comeBack(next);
    await next.finish(certainty === 'manual' ? 'slow-down' : 'lost-before');
    for (const one of [back, next, back, next]) await one.recover();
    const sent = await next.send(other, 1, 'paid');
    await next.die();
    await back.die();
    expect(sent).toBe(false);
  },
);

/** The request of order 1, which was called unpaid, can no longer arrive. */
async function untilOver({ ledger, ref }: TestBatch): Promise<void> {
  const { arrivesUntil } = await readRecord(ref, 1);
  await until('its time to be over', async () => (await storeNowMs(ledger)) > (arrivesUntil ?? 0));
}

test.each([1500, undefined])(
  'the holder of a reference is called unpaid (settle time: %s): the doubt beside it keeps the reference',
  async (settleMs) => {
    const batch = await forgotten(bench, TWO);
    const { ledger } = batch;
    const other = await give(ledger, ONE);
    await sendAs(other, 1, 'D');
    await mergeAttempts(batch, attemptOf(batch, 1, null));
    const place = await placed(ledger, batch);
    expect([(await readRecord(other.ref, 1)).code, (await readRecord(place.ref, 1)).code]).toEqual([
      'D',
      'D',
    ]);
    await concludeAs(other, 1, 'D', 'X', settleMs === undefined ? {} : { settleMs });
    await untilOver(other);
    const spent = [...(await findSpent(ledger, ['a'])).keys()];
    expect(spent).toEqual(['a']);
  },
);

test('the holder is not retried while the doubt keeps the reference', async () => {
  const batch = await forgotten(bench, TWO);
  const { ledger } = batch;
  const other = await give(ledger, ONE);
  await sendAs(other, 1, 'D');
  await mergeAttempts(batch, attemptOf(batch, 1, null));
  await concludeAs(other, 1, 'D', 'X', { settleMs: 1500 });
  await untilOver(other);
  expect(await retryFirst(other)).not.toBe('ok');
  expect(await begin(other, 1)).toHaveProperty('refusal');
});

test('a reference is added while its order is being sent and paid: the second payment is reported', async () => {
  const ledger = await bench.ledger();
  const one = await give(ledger, ONE);
  const of = await begun(one, 1);
  const note = { at: 1, who: 'ada', file: 'x.csv', references: 1 };
  await carryReferences(
    ledger,
    { id: batchId('carried'), note },
    packReferences([{ line: 2, reference: 'a', order: null }]),
    () => {},
  );
  await settleAs(one, 1, 'P', of);
  const said = await saidTwice(one);
  expect(said).toHaveLength(1);
});

test('an attempt restored on a refused order is asked to slow down: the equal order is held', async () => {
  const { ledger, first: second, sender } = await onOneMachine(bench, bareCsv(1, 2));
  expect(await sender.send(second, 1, 'refused')).toBe(true);
  expect(await sender.send(second, 2, 'paid')).toBe(true);
  const first = await give(ledger, bareCsv(1));
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  expect(await retryFirst(second)).toBe('ok');
  sender.works(second);
  await sender.begin(1);
  await restore();
  for (let n = 0; n < 3; n++) await sender.recover();
  sender.works(second);
  await sender.finish('slow-down');
  for (let n = 0; n < 3; n++) await sender.recover();
  expect(await sender.send(first, 1, 'paid')).toBe(false);
  await sender.die();
});

test('an unknown order does not use up the hold of an equal waiting order', async () => {
  const { ledger, first: e, sender, again } = await onOneMachine(bench, bareCsv(1), 'idempotent');
  expect(await sender.send(e, 1, 'lost-after')).toBe(true);
  const first = await give(ledger, bareCsv(1, 4), { again: 'december' });
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  const third = await give(ledger, bareCsv(1, 4, 5), { again: 'december' });
  expect(await sender.send(third, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  expect([await next.send(e, 1, 'paid'), await next.send(first, 1, 'paid')]).toEqual([false, false]);
  expect((await readRecord(e.ref, 1)).code).toBe('D');
  await next.die();
});
