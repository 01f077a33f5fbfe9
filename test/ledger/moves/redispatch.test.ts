import { describe, expect, test } from 'vitest';
import { dispatched, redispatch } from '../../../src/ledger/moves/feed.js';
import { cancelBatch, pauseBatch } from '../../../src/ledger/moves/steer.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begun, claimFor, feedAll, held, sendAs, WHY } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();

const generationsOf = async ({ ledger, no }: TestBatch, indexes: readonly number[]) =>
  (await ledger.scripts.redis.hmget(`${ledger.keyPrefix}:b:${no}:g`, ...indexes.map(String))).map(Number);

describe('redispatch', () => {
  test('gives due and open orders a new generation, and skips those being sent or finished', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}, {}, {}, {}]);
    await feedAll(batch);
    await begun(batch, 1);
    await sendAs(batch, 2, 'P');
    await sendAs(batch, 3, 'u');
    await sendAs(batch, 4, 'w');
    expect(await redispatch(ledger, batch.no, '', [1, 2, 3, 4, 5])).toEqual({
      generation: 1,
      indexes: [3, 4, 5],
    });
    expect(await generationsOf(batch, [1, 2, 3, 4, 5])).toEqual([0, 0, 1, 1, 1]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('repeated, the later generation counts, and a finished order is no longer remembered', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await redispatch(ledger, batch.no, '', [1, 2]);
    expect(await redispatch(ledger, batch.no, '', [1])).toEqual({ generation: 2, indexes: [1] });
    expect(await generationsOf(batch, [1, 2])).toEqual([2, 1]);
    await sendAs(batch, 1, 'P');
    await sendAs(batch, 2, 'R');
    expect(await ledger.scripts.redis.exists(`${ledger.keyPrefix}:b:${batch.no}:g`)).toBe(0);
  });

  test('dispatches nothing for another owner, a stalled batch, or no batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    expect(await redispatch(ledger, batch.no, 'stranger', [1])).toEqual({ generation: 0, indexes: [] });
    expect(await redispatch(ledger, '99', '', [1])).toEqual({ generation: 0, indexes: [] });
    await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await redispatch(ledger, batch.no, '', [1])).toEqual({ generation: 0, indexes: [] });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('dispatches only unknown orders of a cancelled batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await sendAs(batch, 2, 'w');
    await cancelBatch(batch.ref, audit('cancelled'));
    expect(await redispatch(ledger, batch.no, '', [1, 2, 3])).toMatchObject({ indexes: [1] });
    expect((await dispatched(ledger, batch.no)).map(({ index }) => index)).toEqual([1]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('an order that waits for a member keeps waiting', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ member: '1' }, { member: '1' }]);
    await feedAll(batch);
    await held(batch, 1);
    await claimFor(batch, 2);
    expect(await redispatch(ledger, batch.no, '', [1, 2])).toMatchObject({ indexes: [1] });
    expect(await tieUp(ledger)).toEqual([]);
  });
});
