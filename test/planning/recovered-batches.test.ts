import { describe, expect, onTestFinished, test } from 'vitest';
import { runAgain } from '../../src/cli/text/recover-text.js';
import { batchId } from '../../src/core/ids.js';
import { ordersPage } from '../../src/desk/orders/orders-page.js';
import { archiveBatch } from '../../src/ledger/moves/archive-batch.js';
import { replay } from '../../src/ledger/moves/replay.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { rowContext } from '../../src/ledger/read/rows.js';
import { snapshotBatch } from '../../src/ledger/read/snapshot.js';
import { acceptMissing, REMOVED } from '../../src/ledger/sessions/accept-missing.js';
import { noteRestored } from '../../src/ledger/sessions/after-rollback.js';
import { arm } from '../../src/ledger/sessions/fence.js';
import { mergeTidings, tidingsFor } from '../../src/ledger/sessions/merge.js';
import { PaidSince } from '../../src/planning/paid-before/looks-paid.js';
import { toPay } from '../../src/planning/plan.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { bareCsv, faultCodes, giveCsv, planCsv, putPlan, standInCsv } from '../support/ledger/csv-plans.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, mergeContext, PAID, REFUSED, WAITS } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, type TestBatch, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, begin, feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { tempFolder } from '../support/temp-folder.js';

/** Journals know payments of a batch that the store has forgotten. */
const bench = ledgersOnRedis();
const CSV = 'member,tokens,reference\n1,5,a\n2,6,b\n3,7,c\n4,8,\n';

/** The batch as another past knew it, seen from a ledger that has forgotten it. */
async function forgotten(csv = CSV, changes: Parameters<typeof planCsv>[2] = {}) {
  const past = await bench.ledger();
  const before = await putPlan(past, await planCsv(past, csv, changes), changes.batchId);
  const plans = new PlanReader(past);
  const all = [
    ...(await plans.block(before.no, 0)),
    ...(before.rows.length < 256 ? [] : await plans.block(before.no, 1)),
  ];
  return { ...testBatch(past, before.no, before.ref.id, all), ledger: await bench.ledger() };
}

async function tell(batch: TestBatch, ...attempts: readonly ReturnType<typeof attemptOf>[]) {
  const merged = await mergeTidings(mergeContext(batch, 'manual'), await tidingsFor(batch.ledger, attempts));
  const { run } = await readFence(batch.ledger);
  await arm(batch.ledger, run, 0);
  return merged;
}

async function recovered({ ledger, ref }: TestBatch) {
  const no = (await ledger.scripts.redis.hget(`${ledger.keyPrefix}:batches`, ref.id)) ?? '';
  const place = { ledger, no, id: ref.id };
  return { place, view: await readBatch(place) };
}

const rowsOf = async (batch: TestBatch) => {
  const { place } = await recovered(batch);
  const { rows } = await snapshotBatch(place, new PlanReader(batch.ledger), []);
  const found: [number, string | null, string][] = [];
  for await (const { index, reference, state } of rows) found.push([index, reference, state]);
  return found;
};

test('its file, imported again, does not wait for the person who decides about the rollback', async () => {
  const batch = { ...(await forgotten()), ledger: await bench.ledger({ afterRollback: 'wait' }) };
  const { ledger } = batch;
  const certainty = 'idempotent';
  const attempts = [attemptOf(batch, 1, PAID, { certainty }), attemptOf(batch, 3, null, { certainty })];
  await mergeTidings(mergeContext(batch, certainty), await tidingsFor(ledger, attempts));
  await noteRestored(ledger, Date.now());
  await arm(ledger, (await readFence(ledger)).run, 0);
  expect((await recovered(batch)).view).toMatchObject({ recovered: true, whyNot: ['after-rollback'] });
  await putPlan(ledger, await planCsv(ledger, CSV));
  expect((await recovered(batch)).view).toMatchObject({ recovered: false, whyNot: [] });
});

describe('orders that journals hold of a forgotten batch', () => {
  test('is a recovered batch under the same id, with these orders and no others', async () => {
    const batch = await forgotten();
    const merged = await tell(batch, attemptOf(batch, 1, PAID), attemptOf(batch, 3, null));
    expect(merged).toMatchObject({ moved: 2, unknown: 1, recovered: [batch.ref.id] });
    const { view } = await recovered(batch);
    expect(view).toMatchObject({
      recovered: true,
      state: 'done',
      counts: { paid: 1, doubt: 1 },
      sums: { paid: 5n, doubt: 7n },
      manifest: { rows: 2, members: 2, orders: { credit: 2 }, tokens: { credit: 12n } },
    });
    expect(await rowsOf(batch)).toEqual([
      [1, 'a', 'paid'],
      [3, 'c', 'doubt'],
    ]);
    expect([...(await findSpent(batch.ledger, ['a', 'b', 'c'])).keys()].sort()).toEqual(['a', 'c']);
    expect(await tell(batch, attemptOf(batch, 1, PAID))).toMatchObject({ moved: 0, recovered: [] });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('is not sent again before a person says so', async () => {
    const batch = await forgotten();
    await tell(batch, attemptOf(batch, 2, WAITS));
    const { place, view } = await recovered(batch);
    expect(view?.counts).toEqual({ exhausted: 1 });
    expect(await feedAll({ ...batch, no: place.no, ref: place })).toEqual([]);
    const letter = { index: 2, row: batch.row(2) };
    const by = { who: 'ada', why: null, at: Date.now(), nonce: 'n' };
    expect(await new PaidSince(place, [letter]).retry(letter, by)).toBe('ok');
    expect((await readBatch(place))?.counts).toEqual({ planned: 1 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('an order that was never sent gives its reference up to one that was', async () => {
    const batch = await forgotten();
    const other = await giveCsv(batch.ledger, 'member,tokens,reference\n1,5,a\n', {});
    await tell(batch, attemptOf(batch, 1, PAID));
    expect((await findSpent(batch.ledger, ['a'])).get('a')).not.toMatchObject({ no: other.no });
    expect((await recovered(batch)).view?.counts).toEqual({ paid: 1 });
  });

  test('each counts with its outcome, even if the recovered batch was cancelled', async () => {
    const batch = await forgotten(
      'member,tokens,reference\n1,5,a\n2,5,rule:gift:2026-11:2\n3,5,rule:gift:2026-11:3\n4,5,\n',
    );
    await tell(batch, attemptOf(batch, 1, WAITS));
    const { place } = await recovered(batch);
    const letter = { index: 1, row: batch.row(1) };
    const by = { who: 'ada', why: null, at: Date.now(), nonce: 'n' };
    expect(await new PaidSince(place, [letter]).retry(letter, by)).toBe('ok');
    await cancelBatch(place, audit('cancel'));
    const later = [attemptOf(batch, 2, REFUSED), attemptOf(batch, 3, PAID), attemptOf(batch, 4, WAITS)];
    await tell(batch, ...later);
    expect((await readBatch(place))?.counts).toEqual({ cancelled: 2, refused: 1, paid: 1 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('another order in its place is a doubt for all of the batch', async () => {
    const batch = await forgotten();
    await tell(batch, attemptOf(batch, 1, PAID));
    await tell(batch, attemptOf(batch, 1, PAID, { nonce: 'other', tokens: 50 }), attemptOf(batch, 2, WAITS));
    expect((await recovered(batch)).view?.counts).toMatchObject({ paid: 1 });
  });
});

describe('the same file, run again', () => {
  test('pays the rest, and becomes the batch that it was', async () => {
    const batch = await forgotten();
    await tell(batch, attemptOf(batch, 1, PAID), attemptOf(batch, 3, REFUSED));
    const plan = await planCsv(batch.ledger, CSV);
    expect(faultCodes(plan)).toEqual([]);
    expect(toPay(plan)).toMatchObject({ payable: 2, payableTokens: { credit: 14n }, duplicates: 0 });
    const again = await putPlan(batch.ledger, plan);
    expect(again.ref.id).toBe(batch.ref.id);
    const view = await readBatch(again.ref);
    expect(view).toMatchObject({
      recovered: false,
      counts: { paid: 1, refused: 1, planned: 2 },
      manifest: { rows: 4, tokens: { credit: 26n } },
    });
    expect(await feedAll(again)).toEqual([2, 4]);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('where all of it was paid, is over at once', async () => {
    const batch = await forgotten();
    for (const index of [1, 2, 3, 4]) await tell(batch, attemptOf(batch, index, PAID));
    const again = await putPlan(batch.ledger, await planCsv(batch.ledger, CSV));
    expect(await readBatch(again.ref)).toMatchObject({ state: 'done', counts: { paid: 4 } });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('is compared with what other batches paid, but not with itself', async () => {
    const csv = bareCsv(1, 2, 3, 4, 5, 6);
    const batch = await forgotten(csv);
    await tell(batch, attemptOf(batch, 1, PAID));
    expect(faultCodes(await planCsv(batch.ledger, csv))).toEqual([]);
    await giveCsv(batch.ledger, bareCsv(2, 3, 4, 5, 6), {}, 'P', 'P', 'P', 'P', 'P');
    expect(faultCodes(await planCsv(batch.ledger, csv))).toEqual(['ALM_PLAN_LOOKS_PAID']);
  });

  test('is refused while a recovered order of it is being sent, and where another was put back meanwhile', async () => {
    const batch = await forgotten();
    const underWay = mergeContext(batch, 'manual', ['nonce-1']);
    expect(await replay(underWay, attemptOf(batch, 1, null))).toBe('s');
    await tell(batch);
    const plan = await planCsv(batch.ledger, CSV);
    await expect(putPlan(batch.ledger, plan)).rejects.toMatchObject({ code: 'ALM_BATCH_CANNOT' });
    const late = await planCsv(batch.ledger, CSV);
    await tell(batch, attemptOf(batch, 1, PAID), attemptOf(batch, 2, PAID));
    await expect(putPlan(batch.ledger, late)).rejects.toMatchObject({ code: 'ALM_PLAN_CHANGED' });
    expect((await recovered(batch)).view).toMatchObject({ recovered: true, counts: { paid: 2 } });
    expect(await rowsOf(batch)).toHaveLength(2);
    const again = await putPlan(batch.ledger, await planCsv(batch.ledger, CSV));
    expect((await readBatch(again.ref))?.counts).toEqual({ paid: 2, planned: 2 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('with new rows only does not count again what its recovered orders hold of a rule', async () => {
    const csv = 'member,tokens,reference\n1,5,rule:gift:2026-11:1\n2,5,\n3,5,\n4,5,rule:gift:2026-11:4\n';
    const batch = await forgotten(csv);
    await tell(batch, attemptOf(batch, 1, PAID));
    await giveCsv(batch.ledger, bareCsv(2), {}, 'P');
    const again = await putPlan(batch.ledger, await planCsv(batch.ledger, csv, { newRowsOnly: true }));
    expect((await readBatch(again.ref))?.counts).toEqual({ paid: 1, duplicate: 1, planned: 2 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('is not another batch under a name of its own', async () => {
    const batch = await forgotten();
    await tell(batch, attemptOf(batch, 1, PAID));
    const plan = await planCsv(batch.ledger, CSV);
    const as = (id: string) =>
      importPlan(plan, { ...importing(batch.ledger, { now: START }), batchId: batchId(id) });
    await expect(as('november-a')).rejects.toMatchObject({ code: 'ALM_BATCH_ID_OTHER' });
    expect((await as(batch.ref.id)).ref.id).toBe(batch.ref.id);
  });

  test('is not paid without a word where more of it may have been paid than is known', async () => {
    const batch = await forgotten();
    const context = mergeContext(batch, 'manual');
    await tell(batch, attemptOf(batch, 1, PAID));
    await acceptMissing(context, REMOVED, { who: 'ada', at: Date.now() });
    expect(faultCodes(await planCsv(batch.ledger, CSV, { now: Date.now() }))).toEqual([
      'ALM_PLAN_MAYBE_FORGOTTEN',
    ]);
  });
});

describe('another file is compared with what journals know', () => {
  test('under the same label, and under no other one', async () => {
    const batch = await forgotten(bareCsv(1, 2, 3), { again: 'nov' });
    await tell(batch, attemptOf(batch, 1, PAID, { again: 'nov' }));
    expect((await recovered(batch)).view?.manifest.again).toBe('nov');
    const near = async (again: string) => faultCodes(await planCsv(batch.ledger, bareCsv(1, 7), { again }));
    expect(await near('nov')).toEqual(['ALM_PLAN_LOOKS_PAID']);
    expect(await near('dec')).toEqual([]);
  });

  test.each([
    ['in the store', false],
    ['in an archive', true],
  ])('by what stood in it before a table of members was asked, %s', async (_, isArchived) => {
    const csv = 'handle,tokens\nann,5\nben,5\ncid,5\n';
    const table = (...ids: number[]) => `handle,member\nann,${ids[0]}\nben,${ids[1]}\ncid,${ids[2]}\n`;
    const batch = await forgotten(csv, { members: table(1, 2, 3) });
    await tell(batch, attemptOf(batch, 3, PAID, { lookedUp: ['cid', ''] }));
    const { place } = await recovered(batch);
    const folder = await tempFolder();
    onTestFinished(() => void Object.assign(batch.ledger.scripts, { archiveFolder: null }));
    Object.assign(batch.ledger.scripts, { archiveFolder: folder });
    if (isArchived) await archiveBatch(place, folder);
    const corrected = await planCsv(batch.ledger, csv, { members: table(11, 12, 13) });
    expect(corrected.repeats).toMatchObject({ count: 1, elsewhere: 1 });
    expect(corrected.repeats.batches).toMatchObject([{ batch: batch.ref.id, rows: [[3, 4, 3]] }]);
    expect(faultCodes(corrected)).toEqual(['ALM_PLAN_LOOKS_PAID']);
  });
});

test('the dead letters of a batch that was recovered are compared with everything', async () => {
  const csv = bareCsv(1, 2, 3, 4, 5, 6);
  const batch = await forgotten(csv);
  const second = await giveCsv(batch.ledger, bareCsv(2), {}, 'P');
  await tell(batch, attemptOf(batch, 2, REFUSED));
  const again = await putPlan(batch.ledger, await planCsv(batch.ledger, csv));
  const letter = { index: 2, row: again.row(2) };
  const by = { who: 'ada', why: null, at: Date.now(), nonce: 'n' };
  expect(await new PaidSince(again.ref, [letter]).retry(letter, by)).toMatchObject({
    why: expect.stringContaining(`the same row is order ${second.ref.id}-1`),
  });
});

test('recover says under which names recovered batches are given again', () => {
  expect(runAgain(['7k3m9q2x4v8w'])).toContain('with the --batch-id that it was given, if any');
  expect(runAgain(['7k3m9q2x4v8w', 'november', 'week-12'])).toContain(
    '(--batch-id november, --batch-id week-12), the others without one',
  );
});

test('the pages of a recovered batch show the orders that are known, wherever they stand in their file', async () => {
  const batch = await forgotten(bareCsv(...Array.from({ length: 300 }, (_, i) => i + 1)));
  for (const index of [2, 299]) await tell(batch, attemptOf(batch, index, PAID));
  const { place, view } = await recovered(batch);
  if (view === undefined) throw new Error('there is no such batch');
  const context = await rowContext(place, new PlanReader(batch.ledger));
  const pageOf = async (query: Parameters<typeof ordersPage>[2]) =>
    (await ordersPage(context, view, query)).orders.map(({ line }) => line);
  expect(await pageOf({})).toEqual([3, 300]);
  expect(await pageOf({ field: 'line', search: '300' })).toEqual([300]);
  expect(await pageOf({ field: 'member', search: '299' })).toEqual([300]);
  expect(await pageOf({ state: 'planned' })).toEqual([]);
});

test('a batch that was given a name is found under it', async () => {
  const past = await bench.ledger();
  const options = { ...importing(past, { now: START }), batchId: batchId('november') };
  const { ref } = await importPlan(await planCsv(past, CSV), options);
  const before = testBatch(past, ref.no, ref.id, await new PlanReader(past).block(ref.no, 0));
  const ledger = await bench.ledger();
  const batch = { ...before, ledger };
  await tell(batch, attemptOf(batch, 1, PAID));
  const plan = await planCsv(ledger, CSV, { batchId: batchId('november') });
  expect(toPay(plan)).toMatchObject({ payable: 3 });
  const again = await importPlan(plan, {
    ...importing(ledger, { now: START }),
    batchId: batchId('november'),
  });
  expect((await readBatch(again.ref))?.counts).toEqual({ paid: 1, planned: 3 });
  const other = await planCsv(ledger, 'member,tokens\n9,9\n', { batchId: batchId('november') });
  await expect(
    importPlan(other, { ...importing(ledger), batchId: batchId('november') }),
  ).rejects.toMatchObject({
    code: 'ALM_BATCH_ID_TAKEN',
  });
});

test('orders that come back later are compared with rows that were sealed in between', async () => {
  const batch = await forgotten(bareCsv(1, 2, 3));
  await tell(batch, attemptOf(batch, 1, PAID));
  const other = await giveCsv(batch.ledger, bareCsv(2), {}, 'R');
  await tell(batch, attemptOf(batch, 1, PAID), attemptOf(batch, 2, PAID));
  expect(faultCodes(await planCsv(batch.ledger, standInCsv(other, 2)))).toEqual(['ALM_PLAN_LOOKS_PAID']);
});

test('an order that comes back after a loss was accepted is in doubt: later attempts may be lost', async () => {
  const batch = await forgotten(bareCsv(1, 2, 3));
  await acceptMissing(mergeContext(batch, 'manual'), REMOVED, { who: 'ada', at: Date.now() });
  await tell(batch, attemptOf(batch, 1, WAITS), attemptOf(batch, 2, PAID));
  expect((await recovered(batch)).view).toMatchObject({ incomplete: true, counts: { doubt: 1, paid: 1 } });
});

test('what an import said of a row before its order came back does not count', async () => {
  const batch = await forgotten();
  const other = await giveCsv(batch.ledger, 'member,tokens,reference\n1,5,a\n', {});
  const shown = await planCsv(batch.ledger, CSV);
  const join = () => tell(batch, attemptOf(batch, 1, PAID)).then(() => true);
  const imported = importPlan(shown, importing(batch.ledger, { now: START, join }));
  await expect(imported).rejects.toMatchObject({ code: 'ALM_PLAN_CHANGED' });
  expect((await recovered(batch)).view?.counts).toEqual({ paid: 1 });
  expect(await tieUp(batch.ledger)).toEqual([]);
  expect(await begin(other, 1)).toHaveProperty('refusal');
});

describe('a name that was given to the same orders in another currency', () => {
  const FOO = { batchId: batchId('foo') };

  test('the file does not take over what was recovered in that one', async () => {
    const batch = await forgotten(CSV, { ...FOO, currency: 'gems' });
    const { ledger } = batch;
    await tell(batch, attemptOf(batch, 1, PAID, { currency: 'gems' }));
    const own = await planCsv(ledger, CSV, FOO);
    expect(own.findings.faults()).toMatchObject([
      { code: 'ALM_ROW_REFERENCE_SPENT', line: 2 },
      {
        code: 'ALM_BATCH_ID_TAKEN',
        message: expect.stringMatching(/1 order in currency "gems" that journals/),
      },
    ]);
    expect(faultCodes(await planCsv(ledger, CSV, { ...FOO, currency: 'gems' }))).toEqual([]);
  });

  test('what a journal knows in that one is no payment of the batch that is sealed in this one: a person looks', async () => {
    const past = await forgotten(CSV, { ...FOO, currency: 'gems' });
    const batch = await putPlan(past.ledger, await planCsv(past.ledger, CSV, FOO), FOO.batchId);
    await tell(past, attemptOf(past, 1, PAID, { currency: 'gems' }));
    const rows = await rowsOf(batch);
    expect(rows[0]).toEqual([1, 'a', 'doubt']);
    const { place } = await recovered(batch);
    expect((await readBatch(place))?.counts.paid ?? 0).toBe(0);
  });

  test('nor of the batch that is recovered in this one', async () => {
    const past = await forgotten(CSV, { ...FOO, currency: 'gems' });
    await tell(past, attemptOf(past, 1, PAID, { currency: 'gems' }), attemptOf(past, 2, PAID));
    expect((await rowsOf(past)).map(([index]) => index)).toEqual([1]);
    expect(await tieUp(past.ledger)).toEqual([]);
  });
});
