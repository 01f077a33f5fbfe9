import { describe, expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { batchKeys, PLAN_BLOCK_ROWS } from '../../../src/ledger/keys.js';
import { openBatch, sealBatch } from '../../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../../src/ledger/moves/put-block.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { encodePlanBlock } from '../../../src/ledger/plan-block.js';
import { findSpent } from '../../../src/ledger/read/earlier.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import {
  countersOf,
  type Line,
  ledgersOnRedis,
  manifestOf,
  planRow,
  sealed,
  type TestBatch,
  testBatch,
} from '../../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const ID = batchId('later');

/** An unfinished import that stores one block at a time. */
async function importing(ledger: RealmLedger, importer = 'one', of: TestBatch | null = null) {
  const { no } = await openBatch(ledger, { content: 'later', id: ID, importer, createdAt: 1 });
  const numberOf = (id: string) => (id === of?.ref.id ? of.no : undefined);
  const put = (lines: readonly Line[], block = 0) => {
    const rows = lines.map((line, i) => planRow(line, block * PLAN_BLOCK_ROWS + i + 1));
    const claims = blockClaims(block * PLAN_BLOCK_ROWS + 1, rows, numberOf);
    return putBlock(ledger, { no, importer, block }, encodePlanBlock(rows), claims);
  };
  const seal = (lines: readonly Line[]) => {
    const rows = lines.map((line, i) => planRow(line, i + 1));
    const at = { no, importer, owner: '' };
    return sealBatch(ledger, at, {
      manifest: manifestOf(ledger, ID, rows),
      counts: countersOf(rows),
      audit: audit('import'),
    });
  };
  return { no, put, seal };
}

describe('put-block', () => {
  test('stores the rows unchanged and takes the references of its orders', async () => {
    const ledger = await bench.ledger();
    const { no, put } = await importing(ledger);
    const lines = [
      { reference: 'r-1', tokens: 7 },
      { invalid: true },
      { reference: 'r-1', tokens: 7, duplicateOf: 'later-1' },
    ];
    expect(await put(lines)).toBe('ok');
    const plans = new PlanReader(ledger);
    expect(await plans.block(no, 0)).toEqual(lines.map((line, i) => planRow(line, i + 1)));
    const ref = { ledger, no, id: ID };
    expect((await readRecord(ref, 1)).code).toBe('p');
    expect((await readRecord(ref, 2)).code).toBe('i');
    expect((await readRecord(ref, 3)).code).toBe('d');
  });

  test('repeated after a lost reply, stores the same block', async () => {
    const ledger = await bench.ledger();
    const dead = await sealed(ledger, [{ reference: 'old' }]);
    await feedAll(dead);
    await sendAs(dead, 1, 'R');
    const { put, seal } = await importing(ledger, 'one', dead);
    const lines: Line[] = [
      { reference: 'r-1' },
      { reference: 'old', replaces: { batch: dead.ref.id, index: 1 } },
    ];
    expect(await put(lines)).toBe('ok');
    expect(await put(lines)).toBe('ok');
    expect(await seal(lines)).toBe('sealed');
    expect((await readRecord(dead.ref, 1)).replacedBy).toBe('2');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('takes no reference at all if one is spent, and names its holder', async () => {
    const ledger = await bench.ledger();
    const first = await sealed(ledger, [{ reference: 'spent' }]);
    const { put } = await importing(ledger);
    const conflict = await put([{ reference: 'free' }, { reference: 'spent' }]);
    expect(conflict).toMatchObject([
      { kind: 'reference', index: 2, holder: { no: first.no, index: 1 }, importing: false },
    ]);
    expect(await put([{ reference: 'free' }])).toBe('ok');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('reports if the holder is itself still being imported', async () => {
    const ledger = await bench.ledger();
    const { put } = await importing(ledger);
    await put([{ reference: 'r-1' }]);
    const { no } = await openBatch(ledger, {
      content: 'rival',
      id: batchId('rival'),
      importer: 'two',
      createdAt: 1,
    });
    const rows = [planRow({ reference: 'r-1' }, 1)];
    const claims = blockClaims(1, rows, () => undefined);
    const answer = await putBlock(ledger, { no, importer: 'two', block: 0 }, encodePlanBlock(rows), claims);
    expect(answer).toMatchObject([{ kind: 'reference', importing: true }]);
  });

  test.each([
    ['planned', async () => {}, 'planned'],
    ['paid', (batch: TestBatch) => feedAll(batch).then(() => sendAs(batch, 1, 'P')), 'paid'],
    ['unknown', (batch: TestBatch) => feedAll(batch).then(() => sendAs(batch, 1, 'u')), 'unknown'],
    ['in doubt', (batch: TestBatch) => feedAll(batch).then(() => sendAs(batch, 1, 'D')), 'doubt'],
  ])('replaces no order that is %s', async (_, make, state) => {
    const ledger = await bench.ledger();
    const old = await sealed(ledger, [{}]);
    await make(old);
    const { put } = await importing(ledger, 'one', old);
    const answer = await put([{ replaces: { batch: old.ref.id, index: 1 } }]);
    expect(answer).toEqual([{ kind: 'replaces', row: 1, no: old.no, index: 1, why: { state } }]);
    expect((await readRecord(old.ref, 1)).marks).toEqual([]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('replaces an order that was cancelled before it was sent, without changing a count', async () => {
    const ledger = await bench.ledger();
    const old = await sealed(ledger, [{ reference: 'r-1' }]);
    await cancelBatch(old.ref, audit('cancelled'));
    const { put, seal } = await importing(ledger, 'one', old);
    const lines: Line[] = [{ reference: 'r-1', replaces: { batch: old.ref.id, index: 1 } }];
    expect(await put(lines)).toBe('ok');
    await seal(lines);
    expect((await readRecord(old.ref, 1)).marks).toEqual(['replaced']);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('lets only one file replace an order', async () => {
    const ledger = await bench.ledger();
    const old = await sealed(ledger, [{}]);
    await feedAll(old);
    await sendAs(old, 1, 'X');
    const { put } = await importing(ledger, 'one', old);
    await put([{ replaces: { batch: old.ref.id, index: 1 } }]);
    const { no } = await openBatch(ledger, {
      content: 'rival',
      id: batchId('rival'),
      importer: 'two',
      createdAt: 1,
    });
    const rows = [planRow({ replaces: { batch: old.ref.id, index: 1 } }, 1)];
    const claims = blockClaims(1, rows, () => old.no);
    const answer = await putBlock(ledger, { no, importer: 'two', block: 0 }, encodePlanBlock(rows), claims);
    expect(answer).toEqual([{ kind: 'replaces', row: 1, no: old.no, index: 1, why: { replacedBy: '2' } }]);
  });

  test.each([
    ['of one block', 0],
    ['of two blocks', 1],
  ])('one order is replaced by one row only, also among rows %s', async (_, block) => {
    const ledger = await bench.ledger();
    const old = await sealed(ledger, [{}]);
    await feedAll(old);
    await sendAs(old, 1, 'X');
    const { put } = await importing(ledger, 'one', old);
    const line = { replaces: { batch: old.ref.id, index: 1 } };
    if (block === 1) expect(await put([line])).toBe('ok');
    const row = block === 1 ? PLAN_BLOCK_ROWS + 1 : 2;
    expect(await put(block === 1 ? [line] : [line, line], block)).toEqual([
      { kind: 'replaces', row, no: old.no, index: 1, why: { replacedBy: '2' } },
    ]);
  });

  test('a takeover may number its rows differently and still replaces the same orders', async () => {
    const ledger = await bench.ledger();
    const old = await sealed(ledger, [{}]);
    await feedAll(old);
    await sendAs(old, 1, 'X');
    const line: Line = { replaces: { batch: old.ref.id, index: 1 } };
    await (await importing(ledger, 'one', old)).put([{ invalid: true }, line]);
    const second = await importing(ledger, 'two', old);
    expect(await second.put([line])).toBe('ok');
    expect(await second.put([line])).toBe('ok');
    expect(await second.seal([line])).toBe('sealed');
    expect((await readRecord(old.ref, 1)).replacedBy).toBe(second.no);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('refuses to undo an order that is not paid', async () => {
    const ledger = await bench.ledger();
    const old = await sealed(ledger, [{}, {}]);
    await feedAll(old);
    await sendAs(old, 1, 'P');
    await sendAs(old, 2, 'D');
    const { put } = await importing(ledger);
    const undo = (index: string): Line => ({
      op: 'debit',
      reference: `undo:${old.ref.id}-${index}`,
      undoes: { shard: '', fieldHex: '', no: old.no, index },
    });
    expect(await put([undo('1'), undo('2'), undo('3')])).toEqual([
      { kind: 'undoes', row: 2, no: old.no, index: 2, why: { state: 'doubt' } },
      { kind: 'undoes', row: 3, no: old.no, index: 3, why: 'gone' },
    ]);
    expect(await put([undo('1')])).toBe('ok');
  });

  test('is refused to any process but the importer, and after the seal', async () => {
    const ledger = await bench.ledger();
    const { no, put, seal } = await importing(ledger);
    const rows = [planRow({}, 1)];
    const claims = blockClaims(1, rows, () => undefined);
    expect(await putBlock(ledger, { no, importer: 'two', block: 0 }, encodePlanBlock(rows), claims)).toBe(
      'not-importer',
    );
    await put([{}]);
    await seal([{}]);
    expect(await put([{ tokens: 99 }])).toBe('not-importer');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a takeover with other left-out rows is complete: no stale record, no stale reference', async () => {
    const ledger = await bench.ledger();
    const before: Line[] = [
      { invalid: true },
      { reference: 'r-1' },
      { reference: 'r-2', duplicateOf: 'elsewhere-1' },
    ];
    const after: Line[] = [{ reference: 'r-1' }, { reference: 'r-2' }];
    await (await importing(ledger, 'one')).put(before);
    const second = await importing(ledger, 'two');
    expect(await second.put(after)).toBe('ok');
    expect(await second.seal(after)).toBe('sealed');
    expect(await tieUp(ledger)).toEqual([]);
    const batch = testBatch(
      ledger,
      second.no,
      ID,
      after.map((line, i) => planRow(line, i + 1)),
    );
    expect(await feedAll(batch)).toEqual([1, 2]);
  });

  test('blocks that only the earlier importer had stored are removed by the seal', async () => {
    const ledger = await bench.ledger();
    const first = await importing(ledger, 'one');
    await first.put([{ invalid: true }], 1);
    const second = await importing(ledger, 'two');
    await second.put([{ reference: 'r-1' }]);
    await second.seal([{ reference: 'r-1' }]);
    const keys = batchKeys(ledger.keyPrefix, second.no);
    expect(await ledger.scripts.redis.exists(keys.plan(1), keys.records(2))).toBe(0);
    expect([...(await findSpent(ledger, ['r-1'])).keys()]).toEqual(['r-1']);
  });
});
