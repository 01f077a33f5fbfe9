import { describe, expect, test } from 'vitest';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { attemptOf, PAID, REFUSED } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { begin, concludeAs, sendAs } from '../support/ledger/order-moves.js';
import {
  archived,
  give,
  mended,
  placed,
  retryAt,
  retryFirst,
  saidTwice,
} from '../support/machines/forgotten-pasts.js';

/** Undos and rule accounts, with orders that journals restore. */
const bench = ledgersOnRedis();
const AWARD = 'member,tokens,reference\n1,5,rule:gift:2026-11:1\n';
const ONE = 'member,tokens,reference\n1,5,a\n';
const undoOf = ({ ref }: TestBatch, more = '') =>
  `member,op,tokens,reference\n1,debit,5,undo:${ref.id}-1\n${more}`;

const held = (ledger: RealmLedger) => ledger.scripts.redis.hget(`${ledger.keyPrefix}:held`, 'gift:2026-11');

/** A file that was paid in a discarded history, and its undo there, as the journal of the paid attempt holds it. */
async function undoOfPast(ledger: RealmLedger, csv: string, more = '') {
  const past = await bench.ledger();
  const paid = await give(past, csv);
  await sendAs(paid, 1, 'P');
  const made = await give(past, undoOf(paid, more));
  const undoes = made.row(1).undoes;
  if (undoes === null) throw new Error('it undoes nothing');
  const { shard, fieldHex, account = '' } = undoes;
  const undo = { ...made, ledger };
  const comesBack = () =>
    mergeAttempts(undo, attemptOf(undo, 1, PAID, { nonce: 'late', undoes: { shard, fieldHex, account } }));
  return { undo, comesBack };
}

describe('an award that is undone in two histories', () => {
  async function history() {
    const ledger = await bench.ledger();
    const { undo, comesBack } = await undoOfPast(ledger, AWARD, '9,debit,1,\n');
    const award = await give(ledger, AWARD);
    await sendAs(award, 1, 'P');
    return { ledger, award, undo, comesBack };
  }

  test('frees its account once', async () => {
    const { ledger, award, comesBack } = await history();
    await sendAs(await give(ledger, undoOf(award)), 1, 'P');
    expect(await held(ledger)).toBe('0');
    await comesBack();
    expect(await held(ledger)).toBe('0');
  });

  test('lets its rule pay no more than its limit', async () => {
    const { ledger, award, comesBack } = await history();
    const others = 'member,tokens,reference\n2,5,rule:gift:2026-11:2\n3,5,rule:gift:2026-11:3\n';
    const second = await give(ledger, others);
    for (const index of [1, 2]) await sendAs(second, index, 'R', { nonce: `refused-${index}` });
    await sendAs(await give(ledger, undoOf(award)), 1, 'P');
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:limits`, 'gift:2026-11', '5');
    await comesBack();
    expect(await retryAt(second, 1)).toBe('ok');
    expect(await retryAt(second, 2)).not.toBe('ok');
  });
});

test('a doubtful award that is called paid after its paid undo returned frees its account', async () => {
  const ledger = await bench.ledger();
  const { comesBack } = await undoOfPast(ledger, AWARD);
  const award = await give(ledger, AWARD);
  await sendAs(award, 1, 'D');
  await comesBack();
  await concludeAs(award, 1, 'D', 'P');
  expect(await held(ledger)).toBe('0');
});

test('an archived award that was perhaps paid and then is paid is charged to its account once', async () => {
  const ledger = await bench.ledger();
  const award = await give(ledger, AWARD);
  await sendAs(award, 1, 'R');
  await archived(award, ledger);
  const late = { nonce: 'late', attempts: 2 };
  for (const result of [null, PAID]) {
    await mergeAttempts(award, attemptOf(award, 1, result, late));
    expect(await held(ledger)).toBe('5');
  }
});

describe('an order was paid and undone; a row that stood in for it in another history returns', () => {
  async function history() {
    const past = await bench.ledger();
    const refused = await give(past, ONE);
    await sendAs(refused, 1, 'R');
    const row = `member,tokens,reference,almoner_order\n1,6,a,${refused.ref.id}-1\n`;
    const standIn = await give(past, row);
    const ledger = await bench.ledger();
    const order = await give(ledger, ONE);
    await sendAs(order, 1, 'P');
    await sendAs(await give(ledger, undoOf(order)), 1, 'P');
    return { ledger, order, standIn: { ...standIn, ledger } };
  }

  test('as paid: no second payment is reported', async () => {
    const { order, standIn } = await history();
    await mergeAttempts(standIn, attemptOf(standIn, 1, PAID));
    expect(await saidTwice(order, standIn)).toEqual([]);
  });

  test('as refused: another order under the freed reference is sent', async () => {
    const { ledger, standIn } = await history();
    const other = await give(ledger, 'member,tokens,reference\n1,7,a\n');
    await mergeAttempts(standIn, attemptOf(standIn, 1, REFUSED));
    expect(await begin(other, 1)).not.toHaveProperty('refusal');
  });
});

test('a doubt without a reference is called paid after its paid undo returned: its stand-in can be retried', async () => {
  const ledger = await bench.ledger();
  const { comesBack } = await undoOfPast(ledger, bareCsv(1));
  const past = await bench.ledger();
  const refused = await give(past, bareCsv(1));
  await sendAs(refused, 1, 'R');
  const standIn = { ...(await give(past, mended(refused, 6))), ledger };
  const order = await give(ledger, bareCsv(1));
  await sendAs(order, 1, 'D');
  await mergeAttempts(standIn, attemptOf(standIn, 1, REFUSED));
  await comesBack();
  await concludeAs(order, 1, 'D', 'P');
  expect(await retryFirst(await placed(ledger, standIn))).toBe('ok');
});

describe('an order beyond the rows of an archived recovered batch has a stand-in', () => {
  async function history() {
    const past = await bench.ledger();
    const file = await give(past, bareCsv(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    await sendAs(file, 1, 'P');
    await sendAs(file, 12, 'R');
    const standIn = await give(past, `member,tokens,almoner_order\n12,6,${file.ref.id}-12\n`);
    const ledger = await bench.ledger();
    const known = { ...file, ledger };
    await mergeAttempts(known, attemptOf(known, 1, PAID));
    await archived(known, ledger);
    await mergeAttempts(known, attemptOf(known, 12, REFUSED));
    return { ledger, file: known, standIn: { ...standIn, ledger } };
  }

  test('that was paid: no second payment is reported', async () => {
    const { file, standIn } = await history();
    await mergeAttempts(standIn, attemptOf(standIn, 1, PAID));
    expect(await saidTwice(file, standIn)).toEqual([]);
  });

  test('that was refused: it can be retried', async () => {
    const { ledger, standIn } = await history();
    await mergeAttempts(standIn, attemptOf(standIn, 1, REFUSED));
    const place = await placed(ledger, standIn);
    expect((await readRecord(place.ref, 1)).code).toBe('R');
    expect(await retryFirst(place)).toBe('ok');
  });
});
