import { afterEach, describe, expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { archiveBatch } from '../../src/ledger/moves/archive-batch.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { newNonce } from '../../src/ledger/script-client.js';
import { arm } from '../../src/ledger/sessions/fence.js';
import { mergeTidings, tidingsFor } from '../../src/ledger/sessions/merge.js';
import { PaidSince } from '../../src/planning/paid-before/looks-paid.js';
import { importPlan } from '../../src/planning/store-plan.js';
import { bareCsv, faultCodes, giveCsv, planCsv } from '../support/ledger/csv-plans.js';
import { importing } from '../support/ledger/importing.js';
import { attemptOf, mergeContext, PAID, WAITS } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, type TestBatch, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { tempFolder } from '../support/temp-folder.js';

/** A recovered batch that was archived or cancelled before its file came again. */
const bench = ledgersOnRedis();
const SIX = [1, 2, 3, 4, 5, 6];
let readable: TestBatch['ledger'] | undefined;
afterEach(() => {
  if (readable !== undefined) Object.assign(readable.scripts, { archiveFolder: null });
  readable = undefined;
});

type Told = readonly (readonly [index: number, record: string])[];

/** The batch of a file as another past knew it, of which journals tell a ledger that has forgotten it. */
async function recovered(csv: string, told: Told, changes: Parameters<typeof planCsv>[2] = {}) {
  const [past, ledger] = [await bench.ledger(), await bench.ledger()];
  const wanted = changes?.batchId ?? null;
  const { ref } = await importPlan(
    await planCsv(past, csv, changes),
    importing(past, { now: START, batchId: wanted }),
  );
  const rows = await new PlanReader(past).block(ref.no, 0);
  const batch = { ...testBatch(past, ref.no, ref.id, rows), ledger };
  const attempts = told.map(([index, record]) => attemptOf(batch, index, record));
  await mergeTidings(mergeContext(batch, 'manual'), await tidingsFor(ledger, attempts));
  await arm(ledger, (await readFence(ledger)).run, 0);
  const no = (await ledger.scripts.redis.hget(`${ledger.keyPrefix}:batches`, ref.id)) ?? '';
  return { ...batch, no, ref: { ledger, no, id: ref.id } };
}

/** Into a folder that is known to no process of these tests, unless it is said. */
async function archive({ ledger, ref }: TestBatch, isReadable = false) {
  const folder = await tempFolder();
  if (isReadable) {
    readable = ledger;
    Object.assign(ledger.scripts, { archiveFolder: folder });
  }
  expect(await archiveBatch(ref, folder)).toBeDefined();
}

/** Of orders that a person has sent back to work. */
async function cancel({ ref, row }: TestBatch, retried: number) {
  const letter = { index: retried, row: row(retried) };
  const by = { who: 'ada', why: null, at: Date.now(), nonce: newNonce() };
  expect(await new PaidSince(ref, [letter]).retry(letter, by)).toBe('ok');
  expect(await cancelBatch(ref, audit('cancel'))).toMatchObject({ done: true });
}

async function give({ ledger }: TestBatch, csv: string, changes: Parameters<typeof planCsv>[2]) {
  const plan = await planCsv(ledger, csv, changes);
  expect(faultCodes(plan)).toEqual([]);
  const options = importing(ledger, { now: START, batchId: changes?.batchId ?? null });
  const { ref, existing } = await importPlan(plan, options);
  return { ref, existing, feeds: await feedAll(testBatch(ledger, ref.no, ref.id, [])) };
}

describe('archived where this process cannot read it', () => {
  test('a near-copy of its file is refused, as it is beside any other batch', async () => {
    const all = SIX.map((index) => [index, PAID] as const);
    const normal = await giveCsv(await bench.ledger(), bareCsv(...SIX), {}, 'P', 'P', 'P', 'P', 'P', 'P');
    for (const batch of [normal, await recovered(bareCsv(...SIX), all)]) {
      await archive(batch);
      const plan = await planCsv(batch.ledger, bareCsv(...SIX, 7));
      expect(faultCodes(plan)).toEqual(['ALM_PLAN_LOOKS_PAID']);
      expect(plan.repeats).toMatchObject({ count: 6, compared: 7, unread: [] });
    }
  });

  test('an archiver that is killed while the rows leave does not take the sketch with them', async () => {
    const batch = await recovered(bareCsv(...SIX), [[2, PAID]]);
    await archive(batch);
    const { redis } = batch.ledger.scripts;
    await redis.hdel(`${batch.ledger.keyPrefix}:b:${batch.no}`, 'purged');
    await archive(batch);
    expect((await planCsv(batch.ledger, bareCsv(2, 7))).repeats).toMatchObject({ count: 1, unread: [] });
  });

  test('its own file under another name is compared with it', async () => {
    const batch = await recovered(bareCsv(1, 2, 3), [[1, PAID]]);
    await archive(batch);
    const plan = await planCsv(batch.ledger, bareCsv(1, 2, 3), { batchId: batchId('rest') });
    expect(plan.repeats).toMatchObject({ count: 1, batches: [{ batch: batch.ref.id }] });
    expect(new Set(faultCodes(plan))).toEqual(new Set(['ALM_PLAN_LOOKS_PAID']));
  });
});

describe.each(['archived', 'cancelled'])('the file of one that was %s', (how) => {
  const csv = bareCsv(1, 2, 3);
  const left = how === 'archived' ? [3] : [1, 3];
  async function closed(changes: Parameters<typeof planCsv>[2] = {}) {
    const told = [[1, how === 'archived' ? PAID : WAITS] as const, [2, PAID] as const];
    const batch = await recovered(csv, told, changes);
    await (how === 'archived' ? archive(batch, true) : cancel(batch, 1));
    return batch;
  }

  test('is refused with a word that says so', async () => {
    const batch = await closed();
    const [fault, ...more] = (await planCsv(batch.ledger, csv)).findings.faults();
    expect([fault?.code, ...more]).toEqual(['ALM_PLAN_LOOKS_PAID']);
    expect(fault?.message).toContain(`Batch ${batch.ref.id} of this file was recovered from journals`);
    expect(fault?.message).toContain(`is ${how} by now`);
    expect(fault?.message).toContain('--new-rows-only pays the rows that it has not');
    expect((await readBatch(batch.ref))?.notes?.[0]).toContain(
      'run again with --new-rows-only, pays the rest',
    );
  });

  test('with new rows only is the next batch, once', async () => {
    const batch = await closed();
    const rest = await give(batch, csv, { newRowsOnly: true });
    expect(rest).toMatchObject({ existing: false, feeds: left });
    expect(rest.ref.id).not.toBe(batch.ref.id);
    const again = await give(batch, csv, { newRowsOnly: true, batchId: batchId('rest') });
    expect(again).toMatchObject({ existing: true, ref: { id: rest.ref.id } });
    expect((await readBatch(batch.ref))?.counts).toMatchObject({ paid: left.length === 1 ? 2 : 1 });
    // Orders of an archive are not in the store to be counted.
    if (how === 'cancelled') expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('with new rows only takes a name that is free, and not the name of the closed one', async () => {
    const november = batchId('november');
    const batch = await closed({ batchId: november });
    const [fault] = (
      await planCsv(batch.ledger, csv, { batchId: november, newRowsOnly: true })
    ).findings.faults();
    expect(fault?.message).toContain('without --batch-id or with another one');
    expect(await give(batch, csv, { batchId: batchId('december'), newRowsOnly: true })).toMatchObject({
      ref: { id: 'december' },
      feeds: left,
    });
  });

  test('under a label is told what to do without new rows only', async () => {
    const batch = await closed({ again: 'nov' });
    const [fault] = (await planCsv(batch.ledger, csv, { again: 'nov' })).findings.faults();
    expect(fault?.message).toContain(
      `take its orders out of the file: \`almoner report ${batch.ref.id}\` writes them`,
    );
  });
});
