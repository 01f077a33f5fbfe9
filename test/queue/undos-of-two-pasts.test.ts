import { expect, test } from 'vitest';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { attemptOf, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, type TestBatch, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs, sendAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  give,
  mended,
  ONE_ROW,
  onTwoMachines,
  placed,
  ROW_AGAIN,
  retryFirst,
  saidTwice,
  undoOf,
} from '../support/machines/forgotten-pasts.js';

/** An undo may return before the order that it undoes. */
const bench = ledgersOnRedis();

/** The batch in its current form in the store, with its current row. */
async function recovered(ledger: RealmLedger, batch: TestBatch): Promise<TestBatch> {
  const { no, ref } = await placed(ledger, batch);
  const row = await new PlanReader(ledger).rowOf(no, 1, ref.id);
  if (row === undefined || row === null) throw new Error('it has no row');
  return testBatch(ledger, no, ref.id, [row]);
}

/** One machine pays an order after the backup, the other one undoes it; `first` recovers first. */
async function undoneElsewhere(fate: 'lost-after' | 'refused', first: string) {
  const { ledger, a, b, die } = await onTwoMachines(bench, bareCsv(77));
  const restore = await photograph(ledger);
  const order = await give(ledger, ONE_ROW);
  expect(await a.send(order, 1, 'paid')).toBe(true);
  const undo = await give(ledger, undoOf(order));
  await b.send(undo, 1, fate);
  await restore();
  for (const each of first === 'a' ? [a, b, a, b] : [b, a, b, a]) await each.recover();
  return { ledger, b, die, undo: await recovered(ledger, undo) };
}

test.each(['a', 'b'])(
  'a doubtful undo that is called paid lets its order be paid again (%s first)',
  async (one) => {
    const { ledger, die, undo } = await undoneElsewhere('lost-after', one);
    await concludeAs(undo, 1, 'D', 'P');
    const again = await give(ledger, ROW_AGAIN);
    expect((await readRecord(again.ref, 1)).code).toBe('p');
    await die();
  },
);

test('a refused undo that is retried and paid lets its order be paid again', async () => {
  const { ledger, b, die, undo } = await undoneElsewhere('refused', 'b');
  expect(await retryFirst(undo)).toBe('ok');
  expect(await b.send(undo, 1, 'paid')).toBe(true);
  const again = await give(ledger, ROW_AGAIN);
  expect((await readRecord(again.ref, 1)).code).toBe('p');
  await die();
});

test.each(['a', 'b'])(
  'an order paid, undone and paid again, all forgotten, is no second payment (%s first)',
  async (one) => {
    const { ledger, first, a, b, die } = await onTwoMachines(bench, ONE_ROW);
    const restore = await photograph(ledger);
    expect(await a.send(first, 1, 'paid')).toBe(true);
    const undo = await give(ledger, undoOf(first));
    expect(await a.send(undo, 1, 'paid')).toBe(true);
    const again = await give(ledger, ROW_AGAIN);
    expect(await b.send(again, 1, 'paid')).toBe(true);
    await restore();
    for (const each of one === 'a' ? [a, b, a, b] : [b, a, b, a]) await each.recover();
    expect(await saidTwice(first, undo, again)).toEqual([]);
    await die();
  },
);

test.each(['the other one', 'the one that it names'])(
  'two orders paid one debt, which was reported; once %s is undone, the report disappears',
  async (which) => {
    const past = await bench.ledger();
    const ledger = await bench.ledger();
    const refused = await give(past, bareCsv(1));
    await sendAs(refused, 1, 'R');
    const second = { ...(await give(past, mended(refused, 6))), ledger };
    const first = await give(ledger, bareCsv(1));
    await sendAs(first, 1, 'P');
    await mergeAttempts(second, attemptOf(second, 1, PAID));
    expect(await saidTwice(first, second)).toHaveLength(1);
    const undo = which === 'the other one' ? undoOf(first) : undoOf(second, 6);
    await sendAs(await give(ledger, undo), 1, 'P');
    expect(await saidTwice(first, second)).toEqual([]);
  },
);
