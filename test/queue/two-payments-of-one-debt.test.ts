import { expect, test } from 'vitest';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { readAudit } from '../../src/ledger/read/snapshot.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { referenceKey } from '../../src/ledger/reference.js';
import { acceptMissing, REMOVED } from '../../src/ledger/sessions/accept-missing.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { forgotten, mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { attemptOf, mergeContext, PAID, WAITS } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, begin, concludeAs, sendAs } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { give, mended, placed, retryFirst } from '../support/machines/forgotten-pasts.js';

/** Two histories have paid, or undone, the same debt. The batch reports it, and references and accounts follow both. */
const bench = ledgersOnRedis();
const ONE = 'member,tokens,reference\n1,5,a\n';

const spent = async (ledger: RealmLedger) => [...(await findSpent(ledger, ['a', 'b'])).keys()].sort();
const held = (ledger: RealmLedger) => ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:held`);

/** The batch reports that its order 1 was paid twice. */
async function expectTwice(batch: TestBatch, why: string) {
  const { ref } = await placed(batch.ledger, batch);
  expect((await readBatch(ref))?.twice).toEqual(new Set([1]));
  expect((await readBatch(ref))?.notes).toContainEqual(
    expect.stringMatching(`^May have been paid twice: ${ref.id}-1\\.`),
  );
  const said = (await readAudit(ref)).filter(({ what }) => what === `order ${ref.id}-1 was paid twice`);
  expect(said).toMatchObject([{ why: expect.stringMatching(`^${why};`) }]);
}

test('a duplicate proves paid as well: undoing the other payment leaves the reference spent', async () => {
  const batch = await forgotten(bench, 'member,tokens,reference\n1,5,a\n2,5,b\n');
  const { ledger } = batch;
  const first = await give(ledger, ONE);
  await mergeAttempts(batch, attemptOf(batch, 1, PAID));
  expect(await begin(first, 1)).toHaveProperty('refusal');
  expect((await readRecord(first.ref, 1)).code).toBe('d');
  await mergeAttempts(first, attemptOf(first, 1, PAID, { nonce: 'late' }));
  expect((await readRecord(first.ref, 1)).code).toBe('P');
  await expectTwice(first, 'another order was paid under its reference');
  const undo = await give(ledger, `member,op,tokens,reference\n1,debit,5,undo:${batch.ref.id}-1\n`);
  await sendAs(undo, 1, 'P');
  expect(await spent(ledger)).toEqual(['a']);
  expect(await tieUp(ledger)).toEqual([]);
});

test('an order was paid before its stand-in returns as paid: the batch of the stand-in reports it', async () => {
  const past = await bench.ledger();
  const ledger = await bench.ledger();
  const pastFirst = await give(past, bareCsv(1));
  await sendAs(pastFirst, 1, 'R');
  const second = { ...(await give(past, mended(pastFirst, 6))), ledger };
  const first = await give(ledger, bareCsv(1));
  expect(first.ref.id).toBe(pastFirst.ref.id);
  await sendAs(first, 1, 'P');
  await mergeAttempts(second, attemptOf(second, 1, PAID));
  await expectTwice(second, `order ${first.ref.id}-1 was paid for the same debt`);
  expect((await readRecord(first.ref, 1)).code).toBe('P');
  expect(await tieUp(ledger)).toEqual([]);
});

test('an order was paid under the reference of one that returns as paid: the recovered batch reports it', async () => {
  const batch = await forgotten(bench, 'member,tokens,reference\n1,5,a\n2,6,b\n');
  const { ledger } = batch;
  const other = await give(ledger, ONE);
  await sendAs(other, 1, 'P');
  await mergeAttempts(batch, attemptOf(batch, 1, PAID));
  await expectTwice(batch, 'another order was paid under its reference');
  expect(await spent(ledger)).toEqual(['a']);
  expect(await tieUp(ledger)).toEqual([]);
});

test('an order that returns into a cancelled recovered batch after a loss was accepted becomes a doubt', async () => {
  const batch = await forgotten(bench, 'member,tokens,reference\n1,5,a\n2,6,b\n');
  const { ledger } = batch;
  await acceptMissing(mergeContext(batch, 'manual'), REMOVED, { who: 'ada', at: Date.now() });
  await mergeAttempts(batch, attemptOf(batch, 1, WAITS));
  const place = await placed(ledger, batch);
  await concludeAs(place, 1, 'D', 'X');
  expect(await retryFirst(place)).toBe('ok');
  expect(await cancelBatch(place.ref, audit('cancel'))).toMatchObject({ done: true });
  await mergeAttempts(batch, attemptOf(batch, 2, WAITS));
  expect((await readRecord(place.ref, 2)).code).toBe('D');
  expect(await spent(ledger)).toEqual(['b']);
  expect(await begin(place, 2)).toHaveProperty('refusal');
  expect(await tieUp(ledger)).toEqual([]);
});

const RULE = (index: number) => ({ reference: `rule:gift:2026-11:${index}` });

/** A rule paid order 2 of the batch, and it was undone; `undone` restores the undo. */
async function undonePayment() {
  const batch = await forgotten(bench, bareCsv(1, 2));
  const { ledger } = batch;
  const undo = { ...(await forgotten(bench, 'member,op,tokens\n2,debit,5\n')), ledger };
  const undoes = { ...referenceKey(RULE(2).reference), account: 'gift:2026-11' };
  const reference = `undo:${batch.ref.id}-2`;
  const undone = () => mergeAttempts(undo, attemptOf(undo, 1, PAID, { nonce: 'undo', reference, undoes }));
  return { batch, ledger, undone };
}

test('an undo returns between two payments of one batch: the account holds the other payment', async () => {
  const { batch, ledger, undone } = await undonePayment();
  await mergeAttempts(batch, attemptOf(batch, 1, PAID, RULE(1)));
  expect(await held(ledger)).toEqual({ 'gift:2026-11': '5' });
  await undone();
  await mergeAttempts(batch, attemptOf(batch, 2, PAID, RULE(2)));
  expect(await held(ledger)).toEqual({ 'gift:2026-11': '5' });
  expect(await tieUp(ledger)).toEqual([]);
});

test('an undo returns before a payment that took two attempts: the account holds nothing', async () => {
  const { batch, ledger, undone } = await undonePayment();
  await undone();
  const second = { ...RULE(2), nonce: 'second', attempts: 2, seq: 9 };
  await mergeAttempts(
    batch,
    attemptOf(batch, 2, WAITS, RULE(2)),
    attemptOf(batch, 2, PAID.replace('P|1|1', 'P|1|2'), second),
  );
  expect((await readBatch((await placed(ledger, batch)).ref))?.counts).toEqual({ paid: 1 });
  expect(await held(ledger)).toEqual({ 'gift:2026-11': '0' });
});
