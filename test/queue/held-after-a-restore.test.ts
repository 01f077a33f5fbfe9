import { describe, expect, test } from 'vitest';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRecord, readRow, rowContext } from '../../src/ledger/read/rows.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { ledgersOnRedis, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, concludeAs } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  give,
  lateMachine,
  mended,
  onOneMachine,
  placed,
  retryFirst,
} from '../support/machines/forgotten-pasts.js';
import type { Sender } from '../support/machines/machines.js';

/** A journal restores a payment that may equal a waiting order. That order is held for a person instead of sent. */
const bench = ledgersOnRedis();

/** Order 1 of `batch` is held because order 1 of `other` was restored, and no process sends it. */
async function expectHeld(batch: TestBatch, state: 'exhausted' | 'doubt', other: TestBatch, next: Sender) {
  expect(await next.send(batch, 1, 'paid')).toBe(false);
  const context = await rowContext(batch.ref, new PlanReader(batch.ledger));
  expect(await readRow(context, 1)).toMatchObject({
    state,
    errorCode: 'ALM_ORDER_MAYBE_PAID',
    error: expect.stringContaining(`${other.ref.id}-1`),
  });
  expect(await tieUp(batch.ledger)).toEqual([]);
  await next.die();
}

test('an unknown order whose resend was refused becomes a doubt, and is not resent', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1), 'idempotent');
  await sender.send(first, 1, 'lost-before');
  expect((await readRecord(first.ref, 1)).code).toBe('u');
  const restore = await photograph(ledger);
  await sender.send(first, 1, 'refused');
  expect((await readRecord(first.ref, 1)).code).toBe('R');
  const second = await give(ledger, bareCsv(1, 2));
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  await expectHeld(first, 'doubt', second, (await again()).sender);
});

test('an unknown order that a person called unpaid becomes a doubt, and is not resent', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1), 'idempotent');
  await sender.send(first, 1, 'lost-before');
  const restore = await photograph(ledger);
  await concludeAs(first, 1, 'u', 'X');
  const second = await give(ledger, bareCsv(1, 2));
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  await expectHeld(first, 'doubt', second, (await again()).sender);
});

test('a retried order of a recovered batch is held', async () => {
  const { ledger, sender, again } = await onOneMachine(bench, bareCsv(77));
  const beforeAll = await photograph(ledger);
  const first = await give(ledger, bareCsv(1));
  await sender.send(first, 1, 'slow-down');
  await sender.die();
  await beforeAll();
  const { sender: second } = await again();
  const recovered = await placed(ledger, first);
  expect((await readRecord(recovered.ref, 1)).code).toBe('X');
  expect(await retryFirst(recovered)).toBe('ok');
  const restore = await photograph(ledger);
  await cancelBatch(recovered.ref, audit('cancelled'));
  const other = await give(ledger, bareCsv(1, 2));
  expect(await second.send(other, 1, 'paid')).toBe(true);
  await second.die();
  await restore();
  await expectHeld(recovered, 'exhausted', other, (await again()).sender);
});

test('an order with a reference is held if the payment had none, and its reference is not spent', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, 'member,tokens,reference\n1,5,x\n');
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await give(ledger, bareCsv(1, 2));
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  await expectHeld(first, 'exhausted', second, (await again()).sender);
  expect([...(await findSpent(ledger, ['x'])).keys()]).toEqual([]);
});

test('an order is held if a retried dead letter of another batch was paid', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1));
  await sender.send(first, 1, 'refused');
  const second = await give(ledger, bareCsv(1, 2));
  const restore = await photograph(ledger);
  await cancelBatch(second.ref, audit('cancelled'));
  expect(await retryFirst(first)).toBe('ok');
  expect(await sender.send(first, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  expect((await readRecord(first.ref, 1)).code).toBe('P');
  await expectHeld(second, 'exhausted', first, next);
});

test('an order is held if a row that stands in for a dead letter of another batch was paid', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1));
  await sender.send(first, 1, 'refused');
  const open = await give(ledger, bareCsv(1, 2));
  const restore = await photograph(ledger);
  await cancelBatch(open.ref, audit('cancelled'));
  const third = await give(ledger, mended(first, 5));
  expect(await sender.send(third, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  await expectHeld(open, 'exhausted', third, (await again()).sender);
});

test('an order is held if the stand-in of its forgotten stand-in was paid', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1));
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await give(ledger, mended(first, 5));
  await cancelBatch(second.ref, audit('cancelled'));
  const third = await give(ledger, mended(second, 5));
  expect(await sender.send(third, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  await expectHeld(first, 'exhausted', third, (await again()).sender);
});

test('an order is held if a late journal shows an exhausted order of a sealed batch as paid', async () => {
  const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1, 2));
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await give(ledger, bareCsv(1, 2, 3));
  expect(await sender.send(second, 1, 'slow-down')).toBe(true);
  expect(await late.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next } = await again();
  expect((await readRecord((await placed(ledger, second)).ref, 1)).code).toBe('X');
  await give(ledger, bareCsv(1, 2, 3), { newRowsOnly: true });
  const back = await comeBack(next);
  expect((await readRecord((await placed(ledger, second)).ref, 1)).code).toBe('P');
  await expectHeld(first, 'exhausted', second, next);
  expect((await readRecord(first.ref, 2)).code).toBe('p');
  await back.die();
});

test('an equal row of the same file stays planned if a stand-in was paid for the other one', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1, 1));
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  expect(await sender.send(await give(ledger, mended(first, 5)), 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  expect((await readBatch(first.ref))?.counts).toEqual({ planned: 2 });
  expect([await next.send(first, 1, 'paid'), await next.send(first, 2, 'paid')]).toEqual([false, true]);
  expect(await tieUp(ledger)).toEqual([]);
  await next.die();
});

describe.each([
  ['manual', 'slow-down'],
  ['idempotent', 'lost-before'],
] as const)('an equal order is under way when the payment is found (%s)', (certainty, fate) => {
  test.each([true, false])(
    'and is not resent if it was not applied (file given again: %s)',
    async (isGivenAgain) => {
      const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1, 2), certainty);
      const restore = await photograph(ledger);
      const { late, comeBack } = await lateMachine(machines, sender);
      await cancelBatch(first.ref, audit('cancelled'));
      const second = await give(ledger, bareCsv(1, 2, 3));
      expect(await late.send(second, 1, 'paid')).toBe(true);
      await sender.die();
      await late.die();
      await restore();
      const { sender: next } = await again();
      if (isGivenAgain) await give(ledger, bareCsv(1, 2, 3), { newRowsOnly: true });
      next.works(first);
      await next.begin(1);
      expect(next.open.length).toBe(1);
      const back = await comeBack(next);
      await next.finish(fate);
      for (const one of [back, next, back, next]) await one.recover();
      await expectHeld(first, certainty === 'manual' ? 'exhausted' : 'doubt', second, next);
      await back.die();
    },
  );
});
