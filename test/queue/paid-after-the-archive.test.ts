import { expect, test } from 'vitest';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { readDetails, readRecord } from '../../src/ledger/read/rows.js';
import { readAudit } from '../../src/ledger/read/snapshot.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { forgotten, mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { attemptOf, PAID, REFUSED } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, begin } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  archived,
  give,
  lateMachine,
  mended,
  onOneMachine,
  placed,
  retryAt,
} from '../support/machines/forgotten-pasts.js';

/** A batch is archived, and then a journal brings a payment of it. Another order must not pay the same debt. */
const bench = ledgersOnRedis();

/** The archived batch reports once that its order 2 was paid after all, or may have been. */
async function expectSaid(batch: TestBatch, what: 'was paid' | 'may have been paid') {
  const { ref } = await placed(batch.ledger, batch);
  const read = await readBatch(ref);
  expect({ late: read?.late, twice: read?.twice }).toEqual({ late: new Set([2]), twice: new Set() });
  expect(read?.notes).toContainEqual(expect.stringMatching(`^Paid after all, or perhaps: ${ref.id}-2\\.`));
  const said = (await readAudit(ref)).map((entry) => entry.what).filter((one) => one.endsWith('after all'));
  expect(said).toEqual([`order ${ref.id}-2 ${what} after all`]);
}

test('an equal waiting order is held', async () => {
  const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1, 2));
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await give(ledger, bareCsv(1, 2, 3));
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  expect(await late.send(second, 2, 'paid')).toBe(true);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next, ledger: own } = await again();
  const folder = await archived(second, own);
  const back = await comeBack(next, folder);
  await expectSaid(second, 'was paid');
  for (const index of [1, 2]) expect(await next.send(first, index, 'paid')).toBe(false);
  expect((await readDetails(first.ref, 2)).at(-1)).toMatchObject({
    code: 'ALM_ORDER_MAYBE_PAID',
    message: expect.stringContaining(`${second.ref.id}-2`),
  });
  await next.die();
  await back.die();
});

test('a dead letter that the payment stood in for is not retried', async () => {
  const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1, 2));
  await sender.send(first, 1, 'refused');
  await sender.send(first, 2, 'refused');
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  const second = await give(ledger, `${mended(first, 6)}2,6,${first.ref.id}-2\n`);
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  expect(await late.send(second, 2, 'paid')).toBe(true);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next, ledger: own } = await again();
  const folder = await archived(second, own);
  const back = await comeBack(next, folder);
  await expectSaid(second, 'was paid');
  const why = expect.stringContaining(`order ${second.ref.id}-2 was made for the same debt`);
  expect(await retryAt(first, 2)).toMatchObject({ why });
  expect((await readBatch(first.ref))?.counts).toEqual({ refused: 2 });
  expect(await next.send(first, 2, 'paid')).toBe(false);
  await next.die();
  await back.die();
});

test('a waiting order is exhausted if an archived order may have been paid under its reference', async () => {
  const batch = await forgotten(bench, 'member,tokens,reference\n1,5,a\n2,6,b\n');
  const { ledger } = batch;
  await mergeAttempts(batch, attemptOf(batch, 1, PAID), attemptOf(batch, 2, REFUSED));
  await archived(batch);
  const other = await give(ledger, 'member,tokens,reference\n2,6,b\n');
  await mergeAttempts(batch, attemptOf(batch, 2, null, { nonce: 'later', attempts: 2 }));
  await expectSaid(batch, 'may have been paid');
  expect(await begin(other, 1)).toHaveProperty('refusal');
  expect((await readRecord(other.ref, 1)).code).toBe('X');
  expect(await readDetails(other.ref, 1)).toMatchObject([
    { code: 'ALM_SEND_REFERENCE_HELD', message: expect.stringContaining(`${batch.ref.id}-2`) },
  ]);
  expect([...(await findSpent(ledger, ['a', 'b'])).keys()].sort()).toEqual(['a', 'b']);
});

test('the payment of a rule is charged to its account', async () => {
  const batch = await forgotten(bench, bareCsv(1, 2));
  const { ledger } = batch;
  const held = () => ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:held`);
  await mergeAttempts(batch, attemptOf(batch, 1, PAID, { reference: 'rule:gift:2026-11:1' }));
  await archived(batch);
  expect(await held()).toEqual({ 'gift:2026-11': '5' });
  await mergeAttempts(batch, attemptOf(batch, 2, PAID, { reference: 'rule:gift:2026-11:2' }));
  await expectSaid(batch, 'was paid');
  expect(await held()).toEqual({ 'gift:2026-11': '10' });
});
