import { expect, test } from 'vitest';
import { claim } from '../../src/ledger/moves/begin-sending.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { audit } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { give, mended, onOneMachine, placed } from '../support/machines/forgotten-pasts.js';

/** A batch was cancelled after the backup, and another batch paid its orders. The first one must not be sent again. */
const bench = ledgersOnRedis();
const WAYS = [
  ['a reference', 'member,tokens,reference\n1,5,a\n', 'member,tokens,reference\n1,5,a\n2,5,b\n'],
  ['no reference', bareCsv(1), bareCsv(1, 2)],
] as const;

for (const certainty of ['manual', 'idempotent', 'readback'] as const)
  for (const [how, file, nearCopy] of WAYS)
    test(`an order that waits after a definite refusal is not sent, with ${how}: ${certainty}`, async () => {
      const { ledger, first, sender, again } = await onOneMachine(bench, file, certainty);
      await sender.send(first, 1, 'slow-down');
      expect((await readRecord(first.ref, 1)).code).toBe('w');
      const restore = await photograph(ledger);
      await cancelBatch(first.ref, audit('cancelled'));
      expect(await sender.send(await give(ledger, nearCopy), 1, 'paid')).toBe(true);
      await sender.die();
      await restore();
      const { sender: next } = await again();
      expect(await next.send(first, 1, 'paid')).toBe(false);
      expect(await tieUp(ledger)).toEqual([]);
      await next.die();
    });

test.each(WAYS)(
  'an order that a dead process had begun and not sent is not sent, with %s',
  async (_, file, nearCopy) => {
    const { ledger, first, sender, again } = await onOneMachine(bench, file);
    await sender.begin(1, 'begun');
    const restore = await photograph(ledger);
    const { sender: second } = await again();
    await second.adoptDead();
    expect((await readRecord(first.ref, 1)).code).toBe('w');
    await cancelBatch(first.ref, audit('cancelled'));
    expect(await second.send(await give(ledger, nearCopy), 1, 'paid')).toBe(true);
    await second.die();
    await restore();
    const { sender: next } = await again();
    expect(await next.send(first, 1, 'paid')).toBe(false);
    await next.die();
  },
);

test('rows without references that were paid under references are not sent', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1, 2));
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await give(ledger, 'member,tokens,reference\n1,5,may-1\n2,5,may-2\n');
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  expect(await next.send(first, 1, 'paid')).toBe(false);
  await next.die();
});

test('an order held for a person releases its member', async () => {
  const { ledger, first, sender, own, again } = await onOneMachine(bench, bareCsv(1), 'readback');
  expect(await claim(own, { no: first.no, index: 1 }, '', ['1'])).toMatchObject({ answer: 'go' });
  const restore = await photograph(ledger);
  await cancelBatch(first.ref, audit('cancelled'));
  await sender.send(await give(ledger, bareCsv(1, 2)), 1, 'paid');
  await sender.die();
  await restore();
  const { sender: next, ledger: own2 } = await again();
  expect(await next.send(first, 1, 'paid')).toBe(false);
  expect((await readBatch(first.ref))?.counts).toEqual({ exhausted: 1 });
  const third = await give(ledger, 'member,tokens\n1,9\n');
  expect(await claim(own2, { no: third.no, index: 1 }, '', ['1'])).toMatchObject({ answer: 'go' });
  expect(await tieUp(ledger)).toEqual([]);
  await next.die();
});

test('equal rows of two batches that the store has are both sent', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1, 2, 3));
  const second = await give(ledger, bareCsv(1, 2, 3), { again: 'week 2' });
  const restore = await photograph(ledger);
  for (const index of [1, 2, 3]) await sender.send(first, index, 'paid');
  await sender.die();
  await restore();
  await (await again()).sender.die();
  expect((await readBatch(second.ref))?.counts).toEqual({ planned: 3 });
});

test('a row that stands in for an order does not hold an equal row', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1, 1));
  await sender.send(first, 1, 'refused');
  const restore = await photograph(ledger);
  await sender.send(await give(ledger, mended(first, 5)), 1, 'paid');
  await sender.die();
  await restore();
  await (await again()).sender.die();
  expect((await readBatch(first.ref))?.counts).toEqual({ planned: 1, refused: 1 });
});

test.each(['manual', 'idempotent', 'readback'] as const)(
  'an order of a cancelled and forgotten batch hears a definite no on its way: it is not sent again (%s)',
  async (certainty) => {
    const { ledger, sender } = await onOneMachine(bench, bareCsv(77), certainty);
    const restore = await photograph(ledger);
    const second = await give(ledger, bareCsv(1, 2));
    Object.assign(sender, { batch: second });
    await sender.begin(1);
    await cancelBatch(second.ref, audit('cancelled'));
    await restore();
    for (let ticks = 0; ticks < 3; ticks++) await sender.recover();
    const recovered = await placed(ledger, second);
    Object.assign(sender, { batch: recovered });
    await sender.finish('slow-down');
    expect((await readRecord(recovered.ref, 1)).code).toBe('X');
    expect(await sender.send(recovered, 1, 'paid')).toBe(false);
    expect(await tieUp(ledger)).toEqual([]);
    await sender.die();
  },
);

test('read-back proves nothing about an unknown order of a cancelled and forgotten batch: it is not resent', async () => {
  const { ledger, sender, again } = await onOneMachine(bench, bareCsv(77), 'readback');
  const restore = await photograph(ledger);
  const second = await give(ledger, bareCsv(1, 2));
  await sender.send(second, 1, 'lost-before');
  await cancelBatch(second.ref, audit('cancelled'));
  await sender.die();
  await restore();
  const { sender: next } = await again();
  const recovered = await placed(ledger, second);
  expect((await readRecord(recovered.ref, 1)).code).toBe('u');
  for (let times = 0; times < 3; times++) await next.send(recovered, 1, 'paid');
  expect((await readRecord(recovered.ref, 1)).code).toBe('D');
  await next.die();
});
