import { expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { carryReferences, packReferences } from '../../src/ledger/moves/carry-references.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { ledgersOnRedis, START } from '../support/ledger/ledgers-on-redis.js';
import { audit, begin, concludeAs, sendAs } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  give,
  onOneMachine,
  onTwoMachines,
  placed,
  retryFirst,
} from '../support/machines/forgotten-pasts.js';

/** A reference stays spent if an order was paid under it, even if the store has forgotten which order held it. */
const bench = ledgersOnRedis();
const ONE = 'member,tokens,reference\n1,5,a\n';
const TWO = 'member,tokens,reference\n1,5,a\n2,5,b\n';
const undoOf = (id: string) => `member,op,tokens,reference\n1,debit,5,undo:${id}-1\n`;
const spent = async (ledger: RealmLedger) => [...(await findSpent(ledger, ['a'])).keys()];

test('a doubt is called unpaid again: another order was paid under its reference', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, ONE);
  await sender.send(first, 1, 'lost-before');
  const restore = await photograph(ledger);
  await concludeAs(first, 1, 'D', 'X');
  expect(await sender.send(await give(ledger, TWO), 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  expect(await tieUp(ledger)).toEqual([]);
  await concludeAs(first, 1, 'D', 'X');
  expect(await spent(ledger)).toEqual(['a']);
  expect(await retryFirst(first)).not.toBe('ok');
  expect(await next.send(first, 1, 'paid')).toBe(false);
  await next.die();
});

test('a doubt is called paid beside another paid order: undoing that one does not free the reference', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, ONE);
  await sender.send(first, 1, 'lost-after');
  const restore = await photograph(ledger);
  await concludeAs(first, 1, 'D', 'X');
  const second = await give(ledger, TWO);
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  await concludeAs(first, 1, 'D', 'P');
  expect(await next.send(await give(ledger, undoOf(second.ref.id)), 1, 'paid')).toBe(true);
  expect(await spent(ledger)).toEqual(['a']);
  expect(await next.send(await give(ledger, undoOf(first.ref.id)), 1, 'paid')).toBe(true);
  expect(await spent(ledger)).toEqual([]);
  await next.die();
});

test('a doubt is called paid again after its undo returned: the reference is free', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, ONE);
  await sender.send(first, 1, 'lost-after');
  const restore = await photograph(ledger);
  await concludeAs(first, 1, 'D', 'P');
  expect(await sender.send(await give(ledger, undoOf(first.ref.id)), 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  await concludeAs(first, 1, 'D', 'P');
  expect(await spent(ledger)).toEqual([]);
  await next.die();
});

test('an undo is called paid again: a later order was paid under the reference that it freed', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, ONE);
  await sender.send(first, 1, 'paid');
  const undo = await give(ledger, undoOf(first.ref.id));
  await sender.send(undo, 1, 'lost-after');
  const restore = await photograph(ledger);
  await concludeAs(undo, 1, 'D', 'P');
  expect(await sender.send(await give(ledger, TWO), 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  await concludeAs(undo, 1, 'D', 'P');
  const fourth = await give(ledger, 'member,tokens,reference\n1,5,a\n7,5,c\n');
  expect(await next.send(fourth, 1, 'paid')).toBe(false);
  await next.die();
});

test('a refusal returns after the payment that followed it', async () => {
  const { ledger, first, a, b, die } = await onTwoMachines(bench, ONE);
  await a.begin(1);
  const restore = await photograph(ledger);
  await a.finish('refused');
  expect(await b.send(await give(ledger, TWO), 1, 'paid')).toBe(true);
  await restore();
  for (const one of [b, a, b]) await one.recover();
  expect(await retryFirst(first)).not.toBe('ok');
  await die();
});

test('an undo returns after the payment that followed it', async () => {
  const { ledger, first, a, b, die } = await onTwoMachines(bench, ONE);
  await a.send(first, 1, 'paid');
  const restore = await photograph(ledger);
  await a.send(await give(ledger, undoOf(first.ref.id)), 1, 'paid');
  expect(await b.send(await give(ledger, TWO), 1, 'paid')).toBe(true);
  await restore();
  for (const one of [b, a, b]) await one.recover();
  expect(await spent(ledger)).toEqual(['a']);
  await die();
});

test('an undo returns before the order that it undid: the reference is free', async () => {
  const { ledger, a, b, die } = await onTwoMachines(bench, bareCsv(77));
  const restore = await photograph(ledger);
  const first = await give(ledger, ONE);
  await a.send(first, 1, 'paid');
  await b.send(await give(ledger, undoOf(first.ref.id)), 1, 'paid');
  await restore();
  for (const one of [b, a, b]) await one.recover();
  expect(await spent(ledger)).toEqual([]);
  await die();
});

test('attempts of one undo count as one order, even if one returns before the undone order', async () => {
  const { ledger, a, b, die, machines, folder } = await onTwoMachines(bench, bareCsv(77));
  const restore = await photograph(ledger);
  const first = await give(ledger, ONE);
  await a.send(first, 1, 'paid');
  const undo = await give(ledger, undoOf(first.ref.id));
  await b.send(undo, 1, 'slow-down');
  await a.send(undo, 1, 'paid');
  await restore();
  for (const one of [b, a, b, a]) await one.recover();
  expect((await readRecord((await placed(ledger, undo)).ref, 1)).code).toBe('P');
  await die();
  await (await photograph(ledger))();
  const { sender } = await machines.start(folder);
  await sender.recover();
  expect((await readRecord((await placed(ledger, undo)).ref, 1)).code).toBe('P');
  await sender.die();
});

test('a forgotten refusal of a resend and the payment that followed: nothing is resent', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, ONE, 'idempotent');
  await sender.send(first, 1, 'lost-before');
  const restore = await photograph(ledger);
  await sender.send(first, 1, 'refused');
  expect(await sender.send(await give(ledger, TWO), 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  expect(await next.send(first, 1, 'paid')).toBe(false);
  await next.die();
});

test('a reference marked as paid elsewhere is spent, even if a planned order holds it', async () => {
  const ledger = await bench.ledger();
  const batch = await give(ledger, ONE);
  const note = { at: START, who: 'ada', file: 'paid.csv', references: 1 };
  const added = [{ line: 2, reference: 'a', order: null }];
  expect(
    await carryReferences(ledger, { id: batchId('carried'), note }, packReferences(added), () => {}),
  ).toEqual({
    marked: 1,
    spent: 0,
  });
  expect(await begin(batch, 1)).toHaveProperty('refusal');
  await cancelBatch(batch.ref, audit('cancelled'));
  expect(await spent(ledger)).toEqual(['a']);
});

test('a reference marked as paid elsewhere stays spent after the order that holds it is undone', async () => {
  const ledger = await bench.ledger();
  const batch = await give(ledger, ONE);
  await sendAs(batch, 1, 'P');
  const note = { at: START, who: 'ada', file: 'paid.csv', references: 1 };
  const added = [{ line: 2, reference: 'a', order: null }];
  const add = () =>
    carryReferences(ledger, { id: batchId('carried'), note }, packReferences(added), () => {});
  const besides = () => ledger.scripts.redis.hvals(`${ledger.keyPrefix}:besides`);
  for (let times = 0; times < 3; times++) expect(await add()).toEqual({ marked: 0, spent: 1 });
  expect(await besides()).toEqual(['??????:c1:2']);
  await sendAs(await give(ledger, undoOf(batch.ref.id)), 1, 'P');
  expect(await spent(ledger)).toEqual(['a']);
  expect(await add()).toEqual({ marked: 0, spent: 1 });
  expect(await besides()).toEqual([]);
});
