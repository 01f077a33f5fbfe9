import { describe, expect, test } from 'vitest';
import { discardOrder } from '../../../src/ledger/moves/retry.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readDetails, readRecord } from '../../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begun, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const BY = { who: 'ada', why: 'left the realm', at: 1 };

describe('discard', () => {
  test.each(['R', 'X'] as const)(
    'marks a dead letter (%s), which keeps its state and its counts',
    async (code) => {
      const ledger = await bench.ledger();
      const batch = await sealed(ledger, [{ reference: 'r' }, {}]);
      await feedAll(batch);
      await sendAs(batch, 1, code);
      const before = await readBatch(batch.ref);
      expect(await discardOrder(batch.ref, 1, BY)).toBe('ok');
      expect(await readRecord(batch.ref, 1)).toMatchObject({ code, marks: ['discarded'] });
      expect((await readBatch(batch.ref))?.counts).toEqual(before?.counts);
      expect(await tieUp(ledger)).toEqual([]);
    },
  );

  test('repeated, takes effect once', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'X');
    expect(await discardOrder(batch.ref, 1, BY)).toBe('ok');
    const version = (await readBatch(batch.ref))?.version;
    expect(await discardOrder(batch.ref, 1, BY)).toBe('ok');
    expect((await readBatch(batch.ref))?.version).toBe(version);
    expect((await readDetails(batch.ref, 1)).filter(({ event }) => event === 'discarded')).toHaveLength(1);
  });

  test('refuses a doubt and every other order that is not a dead letter', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}, {}, {}, {}, { invalid: true }]);
    await feedAll(batch);
    await sendAs(batch, 1, 'D');
    await sendAs(batch, 2, 'P');
    await sendAs(batch, 3, 'u');
    await begun(batch, 4);
    expect(await discardOrder(batch.ref, 1, BY)).toMatchObject({ why: expect.stringContaining('doubt') });
    for (const index of [2, 3, 4, 5, 6])
      expect(await discardOrder(batch.ref, index, BY)).toMatchObject({
        why: expect.stringContaining('not a dead letter'),
      });
    for (const index of [1, 2, 3, 4, 5, 6]) expect((await readRecord(batch.ref, index)).marks).toEqual([]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('marks an order both as discarded and as replaced if another file repeats its row', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'R');
    await sealed(ledger, [{ replaces: { batch: batch.ref.id, index: 1 } }], {
      id: 'mended',
      batchNumberOf: () => batch.no,
    });
    await discardOrder(batch.ref, 1, BY);
    expect(await readRecord(batch.ref, 1)).toMatchObject({
      marks: ['discarded', 'replaced'],
      replacedBy: '2',
    });
    expect(await readBatch(batch.ref)).toMatchObject({ counts: { refused: 1 }, aside: 1 });
    expect(await tieUp(ledger)).toEqual([]);
  });
});
