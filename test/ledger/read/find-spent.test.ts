import { describe, expect, test } from 'vitest';
import { batchId } from '../../../src/core/ids.js';
import { openBatch } from '../../../src/ledger/moves/import-batch.js';
import { blockClaims, putBlock } from '../../../src/ledger/moves/put-block.js';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { encodePlanBlock } from '../../../src/ledger/plan-block.js';
import { findSpent } from '../../../src/ledger/read/earlier.js';
import { referenceKey } from '../../../src/ledger/reference.js';
import { ledgersOnRedis, planRow, sealed } from '../../support/ledger/ledgers-on-redis.js';
import type { SettledCode } from '../../support/ledger/order-moves.js';
import { audit, begun, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();

describe('find-spent', () => {
  test('names the holder of each spent reference and leaves the others out', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ reference: 'a' }, { reference: 'b', tokens: 9 }]);
    const found = await findSpent(ledger, ['nobody', 'b', 'a']);
    expect([...found].map(([reference, { no, index }]) => [reference, no, index])).toEqual([
      ['b', batch.no, 2],
      ['a', batch.no, 1],
    ]);
  });

  test.each([
    ['paid', 'P', true],
    ['unknown', 'u', true],
    ['in doubt', 'D', true],
    ['waiting for its next attempt', 'w', true],
    ['refused', 'R', false],
    ['exhausted', 'X', false],
  ] as const)('the reference of an order that is %s is spent: %#', async (_, code: SettledCode, spent) => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ reference: 'a' }, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, code);
    expect((await findSpent(ledger, ['a'])).has('a')).toBe(spent);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('cancelling frees the references of unsent orders and keeps those being sent', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ reference: 'a' }, { reference: 'b' }]);
    await feedAll(batch);
    await begun(batch, 1);
    await cancelBatch(batch.ref, audit('cancelled'));
    expect([...(await findSpent(ledger, ['a', 'b'])).keys()]).toEqual(['a']);
  });

  test('a reference of an unsealed import does not count as spent', async () => {
    const ledger = await bench.ledger();
    const { no } = await openBatch(ledger, {
      content: 'c',
      id: batchId('later'),
      importer: 'one',
      createdAt: 1,
    });
    const rows = [planRow({ reference: 'a' }, 1)];
    await putBlock(
      ledger,
      { no, importer: 'one', block: 0 },
      encodePlanBlock(rows),
      blockClaims(1, rows, () => undefined),
    );
    expect((await findSpent(ledger, ['a'])).size).toBe(0);
  });

  test('a paid undo frees the reference of the order it undoes', async () => {
    const ledger = await bench.ledger();
    const first = await sealed(ledger, [{ reference: 'a' }]);
    await feedAll(first);
    await sendAs(first, 1, 'P');
    const undoes = { ...referenceKey('a'), no: first.no, index: '1' };
    const undo = await sealed(ledger, [{ op: 'debit', member: '9001', undoes }]);
    await feedAll(undo);
    expect((await findSpent(ledger, ['a'])).has('a')).toBe(true);
    await sendAs(undo, 1, 'P');
    expect((await findSpent(ledger, ['a'])).has('a')).toBe(false);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('makes no call without references', async () => {
    expect((await findSpent(await bench.ledger(), [])).size).toBe(0);
  });
});
