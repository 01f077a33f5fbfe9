import { describe, expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { readDetails, readRecord } from '../../src/ledger/read/rows.js';
import { readAudit } from '../../src/ledger/read/snapshot.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { bareCsv, planCsv } from '../support/ledger/csv-plans.js';
import { forgotten, mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, begin } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { archived, give, lateMachine, onOneMachine, placed } from '../support/machines/forgotten-pasts.js';

/** A journal holds a payment for which its batch has no order. The same debt must still not be paid again. */
const bench = ledgersOnRedis();

const refCsv = (...members: number[]) =>
  `member,tokens,reference\n${members.map((member) => `${member},5,r${member}\n`).join('')}`;
const spent = async (ledger: RealmLedger, ...references: string[]) =>
  [...(await findSpent(ledger, references)).keys()].sort();

async function codesOf({ ref }: TestBatch, ...indexes: number[]): Promise<string[]> {
  const records = await Promise.all(indexes.map((index) => readRecord(ref, index)));
  return records.map(({ code }) => code);
}

/** A cancel was forgotten, and a machine whose journal returns later paid order 2 of the near-copy. */
async function nearCopyPaid(csv: typeof bareCsv) {
  const { ledger, first, sender, again, machines } = await onOneMachine(bench, csv(1, 2));
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  await cancelBatch(first.ref, audit('cancelled'));
  const second = await give(ledger, csv(1, 2, 3));
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  expect(await late.send(second, 2, 'paid')).toBe(true);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next, ledger: own } = await again();
  return { ledger, first, second, next, own, comeBack };
}

/** The batch reports once that order 2 was paid after all. */
async function expectSaid({ ref }: TestBatch) {
  expect((await readBatch(ref))?.late).toEqual(new Set([2]));
  expect((await readBatch(ref))?.notes).toContainEqual(
    expect.stringMatching(`^Paid after all, or perhaps: ${ref.id}-2\\.`),
  );
  const said = (await readAudit(ref)).filter(({ what }) => what === `order ${ref.id}-2 was paid after all`);
  expect(said).toMatchObject([{ why: expect.stringMatching(/^it stands as a duplicate/) }]);
}

describe('a row left out as a duplicate of a waiting order proves paid', () => {
  test('without a reference, the waiting order is held', async () => {
    const { ledger, first, second, next, comeBack } = await nearCopyPaid(bareCsv);
    const file = await give(ledger, bareCsv(1, 2, 3), { newRowsOnly: true });
    expect(file.ref.id).toBe(second.ref.id);
    const back = await comeBack(next);
    expect(await codesOf(file, 1, 2, 3)).toEqual(['P', 'P', 'p']);
    for (const index of [1, 2]) expect(await next.send(first, index, 'paid')).toBe(false);
    expect(await codesOf(first, 1, 2)).toEqual(['X', 'X']);
    expect((await readDetails(first.ref, 2)).at(-1)).toMatchObject({
      code: 'ALM_ORDER_MAYBE_PAID',
      message: expect.stringContaining(`${second.ref.id}-2`),
    });
    expect(await tieUp(ledger)).toEqual([]);
    await next.die();
    await back.die();
  });

  test('with a reference, the waiting order is a duplicate of the payment', async () => {
    const { ledger, first, second, next, comeBack } = await nearCopyPaid(refCsv);
    const file = await give(ledger, refCsv(1, 2, 3));
    expect(file.ref.id).toBe(second.ref.id);
    const back = await comeBack(next);
    expect(await codesOf(file, 1, 2, 3)).toEqual(['P', 'P', 'p']);
    expect(await next.send(first, 2, 'paid')).toBe(false);
    expect((await readRecord(first.ref, 2)).code).toBe('d');
    await cancelBatch(first.ref, audit('cancelled'));
    expect(await spent(ledger, 'r2')).toEqual(['r2']);
    expect(await tieUp(ledger)).toEqual([]);
    await next.die();
    await back.die();
  });

  test('after its batch was archived, the waiting order is also a duplicate of the payment', async () => {
    const { ledger, first, second, next, own, comeBack } = await nearCopyPaid(refCsv);
    const file = await give(ledger, refCsv(1, 2, 3));
    expect(await next.send(file, 3, 'paid')).toBe(true);
    const folder = await archived(second, own);
    const back = await comeBack(next, folder);
    await expectSaid(file);
    expect((await readBatch(file.ref))?.counts).toEqual({ paid: 2, duplicate: 1 });
    expect(await next.send(first, 2, 'paid')).toBe(false);
    expect((await readRecord(first.ref, 2)).code).toBe('d');
    await next.die();
    await back.die();
  });
});

describe('a payment returns under a batch name that other orders have', () => {
  const NOVEMBER = batchId('november');

  test('in a sealed batch: its reference is spent, and a waiting order under it is not sent', async () => {
    const batch = await forgotten(bench, 'member,tokens,reference\n1,5,a\n2,6,b\n', NOVEMBER);
    const { ledger } = batch;
    const plan = await planCsv(ledger, 'member,tokens\n7,5\n8,5\n', { batchId: NOVEMBER });
    const { ref } = await importPlan(plan, importing(ledger, { now: START, batchId: NOVEMBER }));
    const waiting = await give(ledger, 'member,tokens,reference\n2,6,b\n');
    await mergeAttempts(batch, attemptOf(batch, 2, PAID));
    expect((await readBatch(ref))?.counts).toEqual({ doubt: 2 });
    expect(await begin(waiting, 1)).toHaveProperty('refusal');
    expect((await readRecord(waiting.ref, 1)).code).toBe('d');
    await cancelBatch(waiting.ref, audit('cancelled'));
    expect(await spent(ledger, 'a', 'b')).toEqual(['b']);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('in a recovered batch: both references are spent, and a waiting order under one is not sent', async () => {
    const one = await forgotten(bench, 'member,tokens,reference\n1,5,a\n', NOVEMBER);
    const { ledger } = one;
    const two = { ...(await forgotten(bench, 'member,tokens,reference\n9,9,b\n', NOVEMBER)), ledger };
    const waiting = await give(ledger, 'member,tokens,reference\n9,9,b\n');
    await mergeAttempts(one, attemptOf(one, 1, PAID));
    await mergeAttempts(two, attemptOf(two, 1, PAID, { nonce: 'other' }));
    expect((await readBatch((await placed(ledger, one)).ref))?.counts).toEqual({ paid: 1 });
    expect(await begin(waiting, 1)).toHaveProperty('refusal');
    expect((await readRecord(waiting.ref, 1)).code).toBe('d');
    await cancelBatch(waiting.ref, audit('cancelled'));
    expect(await spent(ledger, 'a', 'b')).toEqual(['a', 'b']);
    expect(await tieUp(ledger)).toEqual([]);
  });
});
