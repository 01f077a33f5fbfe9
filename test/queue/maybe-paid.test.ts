import { expect, test } from 'vitest';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRow, rowContext } from '../../src/ledger/read/rows.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { audit } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { give, onOneMachine, retryAt } from '../support/machines/forgotten-pasts.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** A restored store has forgotten that a batch was cancelled and that another one was paid in its place. */
const bench = ledgersOnRedis();

test('rows of a batch with a forgotten cancel wait for a person if equal orders were paid since', async () => {
  // Two equal rows are two payments: one of them is restored, and one is held.
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1, 2, 3, 3));
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await give(ledger, bareCsv(2, 3, 9));
  for (const index of [1, 2, 3]) expect(await sender.send(second, index, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  const sent = [];
  for (const index of [1, 2, 3, 4]) sent.push(await next.send(first, index, 'paid'));
  expect(sent).toEqual([true, false, false, true]);
  expect((await readBatch(first.ref))?.counts).toEqual({ paid: 2, exhausted: 2 });
  const context = await rowContext(first.ref, new PlanReader(ledger));
  expect(await readRow(context, 2)).toMatchObject({
    state: 'exhausted',
    attempts: 0,
    errorCode: 'ALM_ORDER_MAYBE_PAID',
    error: expect.stringContaining(`${second.ref.id}-1`),
  });
  expect(await retryAt(first, 2)).toMatchObject({
    why: expect.stringContaining(`the same row is order ${second.ref.id}-1`),
  });
  expect(await tieUp(ledger)).toEqual([]);
  await next.die();
});

test('a file planned after the payment returned is compared by its plan, and held by nothing else', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1, 2));
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  expect(await sender.send(await give(ledger, bareCsv(1, 3)), 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  const later = await give(ledger, bareCsv(1), { again: 'next week' });
  expect(await next.send(later, 1, 'paid')).toBe(true);
  expect(await next.send(first, 1, 'paid')).toBe(false);
  await next.die();
});

test('a process killed before the ledger opens leaves no order to send twice: the others open it without it', async () => {
  const ledger = await bench.ledger();
  const first = await give(ledger, bareCsv(1, 1));
  const machines = new Machines(bench.redis(), first, 'manual');
  const folder = await tempFolder();
  const { sender: one } = await machines.start(folder);
  const { sender: beside } = await machines.start(folder);
  const { sender: away } = await machines.start(await tempFolder());
  for (const each of [one, beside, away, one, beside, away]) await each.recover();
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await give(ledger, bareCsv(1, 1, 3));
  for (const index of [1, 2]) expect(await one.send(second, index, 'paid')).toBe(true);
  await restore();
  // It merges its payments and waits for the others.
  expect(await one.recover()).toBe(false);
  await one.die();
  for (const each of [away, beside, away, beside]) await each.recover();
  for (const index of [1, 2]) expect(await away.send(first, index, 'paid')).toBe(false);
  expect((await readBatch(first.ref))?.counts).toEqual({ exhausted: 2 });
  await beside.die();
  await away.die();
});
