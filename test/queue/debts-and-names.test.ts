import { describe, expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { openBatch } from '../../src/ledger/moves/import-batch.js';
import { releaseImport } from '../../src/ledger/moves/release-import.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { BatchRef, RealmLedger } from '../../src/ledger/realm-ledger.js';
import { newNonce } from '../../src/ledger/script-client.js';
import { importPlan, putBlocks } from '../../src/planning/store-plan.js';
import { bareCsv, faultCodes, planCsv } from '../support/ledger/csv-plans.js';
import { mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, merge, PAID, REFUSED } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, type TestBatch, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { begin, concludeAs, feedAll, sendAs } from '../support/ledger/order-moves.js';
import {
  archived,
  give,
  mended,
  placed,
  retryFirst,
  saidTwice,
} from '../support/machines/forgotten-pasts.js';

/** One batch name stands for two files in two histories, and an import is given up while its orders return. */
const bench = ledgersOnRedis();
const NOVEMBER = batchId('november');

async function named(ledger: RealmLedger, csv: string): Promise<TestBatch> {
  const plan = await planCsv(ledger, csv, { batchId: NOVEMBER });
  expect(faultCodes(plan)).toEqual([]);
  const { ref } = await importPlan(plan, importing(ledger, { now: START, batchId: NOVEMBER }));
  const batch = testBatch(ledger, ref.no, ref.id, await new PlanReader(ledger).block(ref.no, 0));
  await feedAll(batch);
  return batch;
}

/** In the oldest history the name belonged to another file, of which only a refused attempt is known. */
async function makeMisfit(ledger: RealmLedger, here: TestBatch) {
  const other = { ...(await named(await bench.ledger(), bareCsv(70, 80))), ledger };
  await mergeAttempts(other, attemptOf(other, 1, REFUSED, { nonce: 'oldest' }));
  expect((await readRecord(here.ref, 1)).code).toBe('D');
}

describe.each([false, true])(
  'an order has stand-ins from two histories (its name was another file: %s)',
  (isMisfit) => {
    async function history() {
      const past = await bench.ledger();
      const refused = await named(past, bareCsv(1, 2));
      await sendAs(refused, 1, 'R');
      const paidThere = await give(past, mended(refused, 6));
      const ledger = await bench.ledger();
      const order = await named(ledger, bareCsv(1, 2));
      if (isMisfit) await makeMisfit(ledger, order);
      if (isMisfit) await concludeAs(order, 1, 'D', 'X');
      else await sendAs(order, 1, 'R');
      const standIn = await give(ledger, mended(order, 7));
      const other = { ...paidThere, ledger };
      return {
        ledger,
        order,
        standIn,
        other,
        comesBack: () => mergeAttempts(other, attemptOf(other, 1, PAID)),
      };
    }

    test('the waiting one is not sent once the other one is known as paid', async () => {
      const { standIn, comesBack } = await history();
      await comesBack();
      expect(await begin(standIn, 1)).toHaveProperty('refusal');
    });

    test('two paid ones are reported as a second payment', async () => {
      const { order, standIn, other, comesBack } = await history();
      await sendAs(standIn, 1, 'P');
      await comesBack();
      expect(await saidTwice(order, standIn, other)).toHaveLength(1);
    });
  },
);

test('a row left out as a duplicate of an order from another file under its name proves paid: no stand-in is sent', async () => {
  const past = await give(await bench.ledger(), bareCsv(1, 2, 3));
  const ledger = await bench.ledger();
  const order = await named(ledger, bareCsv(1, 2));
  await makeMisfit(ledger, order);
  const file = await give(ledger, bareCsv(1, 2, 3), { newRowsOnly: true });
  expect([file.ref.id, (await readRecord(file.ref, 1)).code]).toEqual([past.ref.id, 'd']);
  await concludeAs(order, 1, 'D', 'X');
  const standIn = await give(ledger, mended(order, 6));
  const known = { ...past, ledger };
  await mergeAttempts(known, attemptOf(known, 1, PAID));
  expect((await readRecord(file.ref, 1)).code).toBe('P');
  expect(await begin(standIn, 1)).toHaveProperty('refusal');
});

async function halfImported(ledger: RealmLedger, csv: string): Promise<BatchRef> {
  const plan = await planCsv(ledger, csv);
  const importer = newNonce();
  const id = plan.batch ?? batchId('none');
  const opened = await openBatch(ledger, { content: plan.content ?? '', id, importer, createdAt: START });
  expect(await putBlocks(plan, { ledger, importer, onProgress: () => {} }, opened)).toBe('ok');
  return { ledger, no: opened.no, id: opened.id };
}

test('an order that returns as paid during an import still counts for its debt after the import is given up', async () => {
  const past = await bench.ledger();
  const pastFirst = await give(past, bareCsv(1));
  await sendAs(pastFirst, 1, 'R');
  const pastSecond = await give(past, mended(pastFirst, 6));
  await sendAs(pastSecond, 1, 'R');
  const pastThird = await give(past, mended(pastSecond, 7));
  const ledger = await bench.ledger();
  const first = await give(ledger, bareCsv(1));
  await sendAs(first, 1, 'R');
  const other = await give(ledger, mended(first, 8));
  await sendAs(other, 1, 'R');
  const second = { ...pastSecond, ledger };
  await mergeAttempts(second, attemptOf(second, 1, REFUSED));
  const ref = await halfImported(ledger, mended(await placed(ledger, second), 7));
  const third = { ...pastThird, ledger };
  expect(ref.id).toBe(third.ref.id);
  await mergeAttempts(third, attemptOf(third, 1, PAID));
  await releaseImport(ref);
  expect((await readRecord((await placed(ledger, third)).ref, 1)).code).toBe('P');
  expect(await retryFirst(other)).not.toBe('ok');
});

const AWARD = 'member,tokens,reference\n1,5,rule:gift:2026-11:1\n';
const UNKNOWN = `u|1|1|0|||${START.toString(36)}|1||`;

test.each(['under another name', 'in an archive'])(
  'an award timed out and its resend was paid (%s): its account holds it once',
  async (where) => {
    const past = await named(await bench.ledger(), AWARD);
    const ledger = await bench.ledger();
    const here = await named(ledger, where === 'in an archive' ? AWARD : bareCsv(70));
    if (where === 'in an archive') {
      await sendAs(here, 1, 'R');
      await archived(here, ledger);
    }
    const late = { ...past, ledger };
    await merge(
      late,
      'idempotent',
      attemptOf(late, 1, UNKNOWN, { nonce: 'n1', attempts: 2 }),
      attemptOf(late, 1, PAID.replace('P|1|1', 'P|1|3'), { nonce: 'n2', attempts: 3, resend: true, seq: 9 }),
    );
    expect(await ledger.scripts.redis.hget(`${ledger.keyPrefix}:held`, 'gift:2026-11')).toBe('5');
  },
);
