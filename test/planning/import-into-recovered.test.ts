import { describe, expect, test } from 'vitest';
import { type BatchId, batchId } from '../../src/core/ids.js';
import { Here } from '../../src/ledger/here/liveness.js';
import { archiveBatch } from '../../src/ledger/moves/archive-batch.js';
import { dropBatch, openBatch } from '../../src/ledger/moves/import-batch.js';
import { NO_CLAIMS } from '../../src/ledger/moves/put-block.js';
import { releaseImport } from '../../src/ledger/moves/release-import.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { begunImport } from '../../src/ledger/read/batch-facts.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { BatchRef, RealmLedger } from '../../src/ledger/realm-ledger.js';
import { newNonce } from '../../src/ledger/script-client.js';
import { PaidSince } from '../../src/planning/paid-before/looks-paid.js';
import type { Plan } from '../../src/planning/plan.js';
import { type ImportOptions, importPlan } from '../../src/planning/store-plan.js';
import { bareCsv, faultCodes, giveCsv, planCsv, putPlan } from '../support/ledger/csv-plans.js';
import { forgotten, happensBefore, mergeAttempts, placeOf } from '../support/ledger/forgotten-batch.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, PAID, WAITS } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, begin, feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** The file of a recovered batch is imported while something else happens to the batch. */
const bench = ledgersOnRedis();
const REFS = 'member,tokens,reference\n1,5,a\n2,6,b\n3,7,c\n';

/** The recovered batch in which the first order was paid. */
async function firstPaid(csv: string, id: BatchId | null = null) {
  const batch = await forgotten(bench, csv, id);
  await mergeAttempts(batch, attemptOf(batch, 1, PAID));
  return { batch, ledger: batch.ledger, place: await placeOf(batch) };
}

const spent = async (ledger: RealmLedger) => [...(await findSpent(ledger, ['a', 'b', 'c'])).keys()].sort();

/** An import whose process is gone after its blocks were put, before the seal. */
async function leaveUnsealed(ledger: RealmLedger, plan: Plan, changes: Partial<ImportOptions> = {}) {
  const join = () => Promise.reject(new Error('killed'));
  await expect(importPlan(plan, importing(ledger, { now: START, join, ...changes }))).rejects.toThrow(
    'killed',
  );
}

/** The process of the import, as it says where it is: this one, or another that had its number before. */
async function importedBy({ ledger, no }: BatchRef, whose: 'living' | 'dead'): Promise<void> {
  const at = await new Here(await tempFolder()).thisProcess();
  const importerAt = JSON.stringify(whose === 'living' ? at : { ...at, born: '1' });
  await ledger.scripts.redis.hset(`${ledger.keyPrefix}:b:${no}`, 'importerAt', importerAt);
}

describe('archiving a recovered batch', () => {
  test('waits for an import into it that may go on, and for its seal', async () => {
    const { ledger, place } = await firstPaid(REFS);
    await leaveUnsealed(ledger, await planCsv(ledger, REFS));
    expect(await archiveBatch(place, await tempFolder())).toBeUndefined();
    expect(await begunImport(place)).not.toBeNull();
    const again = await putPlan(ledger, await planCsv(ledger, REFS));
    expect((await readBatch(again.ref))?.counts).toEqual({ paid: 1, planned: 2 });
    expect(await feedAll(again)).toEqual([2, 3]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('is possible again once the import was taken back, and spends only what was paid', async () => {
    const { ledger, place } = await firstPaid(REFS);
    await leaveUnsealed(ledger, await planCsv(ledger, REFS));
    await releaseImport(place);
    expect(await archiveBatch(place, await tempFolder())).toMatchObject({ batch: place.id });
    expect(await spent(ledger)).toEqual(['a']);
    const rest = await planCsv(ledger, 'member,tokens,reference\n2,6,b\n3,7,c\n');
    expect(rest.spent.count).toBe(0);
  });

  test('takes an import back itself whose process is dead', async () => {
    const { ledger, place } = await firstPaid(REFS);
    await leaveUnsealed(ledger, await planCsv(ledger, REFS));
    await importedBy(place, 'living');
    expect(await archiveBatch(place, await tempFolder())).toBeUndefined();
    await importedBy(place, 'dead');
    expect(await archiveBatch(place, await tempFolder())).toMatchObject({ batch: place.id });
    expect(await spent(ledger)).toEqual(['a']);
  });

  test('gives way to an import that begins while the archive is written', async () => {
    const { ledger, place } = await firstPaid(bareCsv(1, 2, 3));
    const plan = await planCsv(ledger, bareCsv(1, 2, 3));
    const archiver = {
      ...place,
      ledger: happensBefore(ledger, 'archive-batch', () => leaveUnsealed(ledger, plan)),
    };
    expect(await archiveBatch(archiver, await tempFolder())).toBeUndefined();
    const again = await putPlan(ledger, plan);
    expect(await feedAll(again)).toEqual([2, 3]);
  });

  test('in the middle of an import does nothing, and what was paid is not fed again', async () => {
    const { ledger, place } = await firstPaid(bareCsv(1, 2, 3));
    const plan = await planCsv(ledger, bareCsv(1, 2, 3));
    const folder = await tempFolder();
    const archive = async () => expect(await archiveBatch(place, folder)).toBeUndefined();
    const importer = happensBefore(happensBefore(ledger, 'put-block', archive), 'seal-batch', archive);
    const { ref } = await importPlan(plan, importing(importer, { now: START }));
    expect(await feedAll(testBatch(ledger, ref.no, ref.id, []))).toEqual([2, 3]);
    expect(await tieUp(ledger)).toEqual([]);
  });
});

describe('an import into a recovered batch that another took over', () => {
  async function takenOver() {
    const { ledger, place } = await firstPaid(REFS);
    const plan = await planCsv(ledger, REFS);
    const rival = { content: plan.content ?? '', id: place.id, importer: newNonce(), createdAt: START };
    let [answered, joined, asked] = [false, false, 0];
    const join = () =>
      openBatch(ledger, rival).then(() => {
        joined = true;
        return true;
      });
    const scripts = new Proxy(ledger.scripts, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (joined) asked += 1;
          return value.apply(target, args);
        };
      },
    });
    const answer = importPlan(plan, importing({ ...ledger, scripts }, { now: START, join }))
      .then(
        ({ existing }) => existing,
        ({ code }) => code,
      )
      .finally(() => {
        answered = true;
      });
    await until('it to ask again and again', () => answered || asked > 5);
    expect(answered).toBe(false);
    return { ledger, place, plan, rival, answer };
  }

  test('waits until the other has sealed it', async () => {
    const { ledger, place, plan, rival, answer } = await takenOver();
    await importPlan(plan, importing(ledger, { now: START, importer: rival.importer }));
    expect(await answer).toBe(true);
    expect((await readBatch(place))?.counts).toEqual({ paid: 1, planned: 2 });
  });

  test('is told that nothing was imported where the other gives it up', async () => {
    const { ledger, place, rival, answer } = await takenOver();
    await dropBatch(ledger, { no: place.no, importer: rival.importer }, 1, async () => NO_CLAIMS);
    expect(await answer).toBe('ALM_PLAN_REFERENCE_BUSY');
    expect(await readBatch(place)).toMatchObject({ recovered: true, counts: { paid: 1 } });
  });
});

describe('a recovered batch that is cancelled during an import', () => {
  /** One order of it is to be sent again, so that there is something to cancel. */
  async function running() {
    const batch = await forgotten(bench, REFS);
    await mergeAttempts(batch, attemptOf(batch, 1, WAITS));
    const place = await placeOf(batch);
    const letter = { index: 1, row: batch.row(1) };
    const by = { who: 'ada', why: null, at: Date.now(), nonce: newNonce() };
    expect(await new PaidSince(place, [letter]).retry(letter, by)).toBe('ok');
    const plan = await planCsv(batch.ledger, REFS);
    return { ledger: batch.ledger, place, plan, cancel: () => cancelBatch(place, audit('cancel')) };
  }

  test.each(['put-block', 'seal-batch'])('before %s stays cancelled, and holds nothing', async (script) => {
    const { ledger, place, plan, cancel } = await running();
    const options = importing(happensBefore(ledger, script, cancel), { now: START });
    await expect(importPlan(plan, options)).rejects.toMatchObject({ code: 'ALM_PLAN_REFERENCE_BUSY' });
    expect(await readBatch(place)).toMatchObject({ state: 'cancelled', counts: { cancelled: 1 } });
    expect(await begunImport(place)).toBeNull();
    expect(await tieUp(ledger)).toEqual([]);
    expect(await archiveBatch(place, await tempFolder())).toMatchObject({ batch: place.id });
    expect(await spent(ledger)).toEqual([]);
  });

  test('and that died is taken back all the same', async () => {
    const { ledger, place, plan, cancel } = await running();
    const join = async () => {
      await cancel();
      throw new Error('killed');
    };
    await leaveUnsealed(ledger, plan, { join });
    expect(await releaseImport(place)).toMatchObject({ recovered: true });
    expect(await begunImport(place)).toBeNull();
    expect(await archiveBatch(place, await tempFolder())).toMatchObject({ batch: place.id });
    expect(await spent(ledger)).toEqual([]);
  });
});

test('the name of a recovered batch is free for its file once an import of another file into it is dead', async () => {
  const [id, csv] = [batchId('november'), 'member,tokens\n1,5\n2,6\n'];
  const { ledger, place } = await firstPaid(csv, id);
  const options = () => importing(ledger, { now: START, batchId: id });
  await leaveUnsealed(ledger, await planCsv(ledger, `${csv}3,7\n`, { batchId: id }), { batchId: id });
  const right = await planCsv(ledger, csv, { batchId: id });
  expect(faultCodes(right)).toEqual([]);
  await importedBy(place, 'living');
  await expect(importPlan(right, options())).rejects.toMatchObject({ code: 'ALM_BATCH_ID_TAKEN' });
  await importedBy(place, 'dead');
  expect(await importPlan(right, options())).toMatchObject({ ref: { id }, existing: false });
  expect((await readBatch(place))?.counts).toEqual({ paid: 1, planned: 1 });
  expect(await tieUp(ledger)).toEqual([]);
});

describe('a plan that was made before a journal put one of its rows back', () => {
  test('does not call the payment a duplicate', async () => {
    const batch = await forgotten(bench, REFS);
    const other = await giveCsv(batch.ledger, 'member,tokens,reference\n1,5,a\n', {});
    const shown = await planCsv(batch.ledger, REFS);
    await mergeAttempts(batch, attemptOf(batch, 1, PAID));
    await expect(putPlan(batch.ledger, shown)).rejects.toMatchObject({ code: 'ALM_PLAN_CHANGED' });
    expect((await readRecord(await placeOf(batch), 1)).code).toBe('P');
    expect(await begin(other, 1)).toHaveProperty('refusal');
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('does not call it invalid, and it is still compared with', async () => {
    const batch = await forgotten(bench, bareCsv(1, 2, 3));
    const csv = 'member,tokens\nbad,5\n1,5\n2,5\n3,5\n';
    const shown = await planCsv(batch.ledger, csv, { skipInvalid: true });
    await mergeAttempts(batch, attemptOf(batch, 1, PAID));
    await expect(putPlan(batch.ledger, shown)).rejects.toMatchObject({ code: 'ALM_PLAN_CHANGED' });
    expect((await readRecord(await placeOf(batch), 1)).code).toBe('P');
    expect(faultCodes(await planCsv(batch.ledger, bareCsv(1, 7)))).toEqual(['ALM_PLAN_LOOKS_PAID']);
  });
});

test('of two who take the same dead import back the later one finds nothing, and begins nothing', async () => {
  const ledger = await bench.ledger();
  const plan = await planCsv(ledger, 'member,tokens,reference\n1,5,a\n');
  await leaveUnsealed(ledger, plan);
  const dead = { ledger, no: '1', id: plan.batch ?? batchId('none') };
  const later = { ...dead, ledger: happensBefore(ledger, 'open-batch', () => releaseImport(dead)) };
  expect(await releaseImport(later)).toBeNull();
  expect(await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:batches`)).toEqual({});
});
