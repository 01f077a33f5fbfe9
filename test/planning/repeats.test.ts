import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentHash, contentWords } from '../../src/core/reference.js';
import { batchKeys } from '../../src/ledger/keys.js';
import { archiveBatch } from '../../src/ledger/moves/archive-batch.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { ComparedRows } from '../../src/planning/paid-before/compared-rows.js';
import { findRepeats } from '../../src/planning/paid-before/repeats.js';
import { bareCsv, faultCodes, giveCsv, planCsv } from '../support/ledger/csv-plans.js';
import {
  type Line,
  ledgersOnRedis,
  planRow,
  sealed,
  type TestBatch,
} from '../support/ledger/ledgers-on-redis.js';
import { audit, begun, concludeAs, feedAll, settleAs } from '../support/ledger/order-moves.js';
import { tempFolder } from '../support/temp-folder.js';

/** Finds rows of a file without references that repeat orders of the last 30 days, paid or still to be paid. */
const bench = ledgersOnRedis();
const DAY_MS = 24 * 3600_000;

function compared(lines: readonly Line[]): ComparedRows {
  const rows = new ComparedRows();
  lines.forEach((line, i) => {
    const { order } = planRow(line, i + 1);
    if (order !== null) rows.add(i + 1, i + 2, contentWords(contentHash(order)), undefined);
  });
  return rows;
}

/** The indexes of the rows that repeat an order. */
async function repeated(ledger: RealmLedger, lines: readonly Line[], now = Date.now()): Promise<number[]> {
  const { batches, count } = await findRepeats(ledger, compared(lines), now);
  const indexes = batches.flatMap(({ rows }) => rows.map(([index]) => index));
  expect(indexes).toHaveLength(count);
  return indexes.sort((a, b) => a - b);
}

async function end(batch: TestBatch, states: readonly ('P' | 'R' | 'X' | 'u' | 'D')[]): Promise<void> {
  await feedAll(batch);
  for (const [i, state] of states.entries()) await settleAs(batch, i + 1, state, await begun(batch, i + 1));
}

async function sketched(batch: TestBatch): Promise<void> {
  const sketch = Buffer.alloc(batch.rows.length * 4);
  batch.rows.forEach(({ order }, i) => {
    if (order !== null) sketch.writeUInt32LE(contentWords(contentHash(order))[0], i * 4);
  });
  await batch.ledger.scripts.redis.set(batchKeys(batch.ledger.keyPrefix, batch.no).sketch, sketch);
}

const LINES: Line[] = Array.from({ length: 6 }, (_, i) => ({ member: String(100 + i) }));

test('paid, unknown, in doubt and planned count; refused, exhausted and cancelled do not', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, LINES);
  await end(batch, ['P', 'R', 'X', 'u', 'D']);
  expect(await repeated(ledger, LINES)).toEqual([1, 4, 5, 6]);
  await cancelBatch(batch.ref, audit('cancelled'));
  expect(await repeated(ledger, LINES)).toEqual([1, 4, 5]);
});

test('what was called unpaid counts while its request may arrive, by the store’s clock', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, LINES.slice(0, 1));
  await end(batch, ['D']);
  await concludeAs(batch, 1, 'D', 'X', { settleMs: 60_000 });
  const aheadByAnHour = Date.now() + 3_600_000;
  expect(await repeated(ledger, LINES, aheadByAnHour)).toEqual([1]);
});

test('with references or without, and not before 30 days', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(
    ledger,
    LINES.map((line, i) => ({ ...line, reference: `r-${i}` })),
  );
  await end(batch, ['P', 'P', 'P', 'P', 'P']);
  expect(await repeated(ledger, LINES)).toHaveLength(6);
  // One is still to be paid: the batch is not over, however old it is.
  expect(await repeated(ledger, LINES, Date.now() + 31 * DAY_MS)).toHaveLength(6);
  await settleAs(batch, 6, 'P', await begun(batch, 6));
  expect(await repeated(ledger, LINES, Date.now() + 29 * DAY_MS)).toHaveLength(6);
  expect(await repeated(ledger, LINES, Date.now() + 31 * DAY_MS)).toEqual([]);
});

test('an archived batch is compared from its archive; where that cannot be read its sketch counts as paid', async () => {
  const folder = await tempFolder();
  const { realm } = await bench.ledger();
  const here = openLedger(
    new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: folder }),
    realm,
  );
  const elsewhere = openLedger(new ScriptClient(bench.redis().client(), 10_000, () => {}), realm);
  for (const withSketch of [true, false]) {
    const lines = LINES.map(({ member }) => ({ member: `${withSketch ? 1 : 2}${member}` }));
    const batch = await sealed(here, lines);
    if (withSketch) await sketched(batch);
    await end(batch, ['P', 'P', 'R', 'P', 'P', 'P']);
    expect(await archiveBatch(batch.ref, folder)).toBeDefined();
    expect(await repeated(here, lines)).toEqual([1, 2, 4, 5, 6]);
    if (withSketch) expect(await repeated(elsewhere, lines)).toEqual([1, 2, 3, 4, 5, 6]);
    else
      expect(await findRepeats(elsewhere, compared(lines), Date.now())).toMatchObject({
        count: 0,
        unread: [batch.ref.id],
      });
    const exactly = (some: readonly Line[]) =>
      findRepeats(elsewhere, Object.assign(compared(some), { exact: true }), Date.now());
    await expect(exactly(lines)).rejects.toMatchObject({
      code: 'ALM_LEDGER_ARCHIVE_MISSING',
      message: expect.stringContaining(`Batch ${batch.ref.id} `),
    });
    const left = await here.scripts.redis.pttl(batchKeys(here.keyPrefix, batch.no).sketch);
    expect(left).toBeGreaterThan(withSketch ? 29 * DAY_MS : -3);
  }
});

test('are as many as two multisets have in common, with a sketch and without', async () => {
  const few = fc.array(fc.constantFrom('1', '2', '3', '4'), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(few, { maxLength: 3 }),
      few,
      fc.boolean(),
      async (earlier, file, withSketch) => {
        const ledger = await bench.ledger();
        const lines = (members: readonly string[]) => members.map((member) => ({ member }));
        for (const [i, members] of earlier.entries()) {
          const batch = await sealed(ledger, lines(members), { id: `batch-${i}` });
          if (withSketch) await sketched(batch);
        }
        const left = earlier.flat();
        const expected = file.flatMap((member, i) => {
          const at = left.indexOf(member);
          if (at !== -1) left.splice(at, 1);
          return at === -1 ? [] : [i + 1];
        });
        expect(await repeated(ledger, lines(file))).toEqual(expected);
      },
    ),
    { numRuns: 40 },
  );
});

test('a reference that was spent in one currency is no duplicate in another', async () => {
  const ledger = await bench.ledger();
  const csv = 'member,tokens,reference\n1,5,a\n';
  const first = await giveCsv(ledger, csv, {}, 'P');
  expect((await planCsv(ledger, csv, { currency: 'gems' })).findings.faults()).toMatchObject([
    {
      code: 'ALM_ROW_REFERENCE_SPENT',
      message: `The reference "a" is already spent by order ${first.ref.id}-1 in the realm’s default currency; this run is in currency "gems".`,
    },
  ]);
});

test('in whatever currency: the same file under another one stops, and both are named', async () => {
  const ledger = await bench.ledger();
  const csv = bareCsv(1, 2, 3, 4, 5, 6);
  await giveCsv(ledger, csv, {}, 'P', 'P', 'P');
  const again = await planCsv(ledger, csv, { currency: 'gems' });
  expect(again.findings.faults()).toMatchObject([
    {
      code: 'ALM_PLAN_LOOKS_PAID',
      message: expect.stringMatching(/in the realm’s default currency; this one is in currency "gems"/),
    },
  ]);
  expect(faultCodes(await planCsv(ledger, csv, { currency: 'gems', again: 'in gems' }))).toEqual([]);
});
