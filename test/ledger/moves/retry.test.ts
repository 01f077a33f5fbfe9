import { describe, expect, test } from 'vitest';
import { discardOrder, retryOrder } from '../../../src/ledger/moves/retry.js';
import { cancelBatch, pauseBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readDetails } from '../../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import {
  audit,
  begun,
  concludeAs,
  feedAll,
  sendAs,
  settleAs,
  WHY,
} from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const retry = (batch: TestBatch, index: number, nonce = 'one') =>
  retryOrder(batch.ref, index, batch.row(index), { who: 'ada', why: 'mended', at: 1, nonce });

describe('retry', () => {
  test.each(['R', 'X'] as const)(
    'puts a dead letter (%s) back to work, its reference taken and its tries new',
    async (code) => {
      const ledger = await bench.ledger();
      const batch = await sealed(ledger, [{ tokens: 7, reference: 'r' }]);
      await feedAll(batch);
      await sendAs(batch, 1, code);
      expect((await readBatch(batch.ref))?.state).toBe('done');
      expect(await retry(batch, 1)).toBe('ok');
      expect(await readBatch(batch.ref)).toMatchObject({
        state: 'running',
        finishedAt: null,
        counts: { planned: 1 },
      });
      expect(await tieUp(ledger)).toEqual([]);
      // A refusal answered the old key, so the retry uses a new one. An exhausted order keeps its key.
      const again = await begun(batch, 1, { nonce: 'two' });
      expect(again).toMatchObject({ keyNumber: code === 'R' ? 2 : 1, tries: 0, attempts: 2 });
      await settleAs(batch, 1, 'P', again, { nonce: 'two' });
      expect(await tieUp(ledger)).toEqual([]);
    },
  );

  test('repeated with the same nonce it is one retry, even if the order has moved on since', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'X');
    expect(await retry(batch, 1)).toBe('ok');
    expect(await retry(batch, 1)).toBe('ok');
    await sendAs(batch, 1, 'X', { nonce: 'two' });
    expect(await retry(batch, 1)).toBe('ok');
    expect((await readBatch(batch.ref))?.counts).toEqual({ exhausted: 1, planned: 1 });
    expect((await readDetails(batch.ref, 1)).filter(({ event }) => event === 'retried')).toHaveLength(1);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test.each([
    ['planned', null],
    ['paid', 'P'],
    ['unknown', 'u'],
    ['in doubt', 'D'],
  ] as const)('never touches an order that is %s', async (_, code) => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    if (code !== null) await sendAs(batch, 1, code);
    const before = await readBatch(batch.ref);
    expect(await retry(batch, 1)).toHaveProperty('why');
    expect(await readBatch(batch.ref)).toEqual(before);
  });

  test('an order resolved as unpaid is resent under the same key, and only by a retry', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ reference: 'r' }]);
    await feedAll(batch);
    await sendAs(batch, 1, 'D');
    await concludeAs(batch, 1, 'D', 'X');
    expect(await retry(batch, 1)).toBe('ok');
    expect(await begun(batch, 1, { nonce: 'two' })).toMatchObject({ keyNumber: 1 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('is refused if the reference is spent again, the row replaced, or the dead letter discarded', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ reference: 'r' }, {}, {}]);
    await feedAll(batch);
    for (const index of [1, 2, 3]) await sendAs(batch, index, 'R');
    await sealed(ledger, [{ reference: 'r' }, { replaces: { batch: batch.ref.id, index: 2 } }], {
      id: 'mended',
      batchNumberOf: () => batch.no,
    });
    await discardOrder(batch.ref, 3, { who: 'ada', why: 'enough', at: 1 });
    expect(await retry(batch, 1)).toMatchObject({
      why: expect.stringContaining('spent again'),
      against: { order: 'mended-1', code: 'ALM_SEND_REFERENCE_HELD' },
    });
    expect(await retry(batch, 2)).toMatchObject({
      why: expect.stringContaining('mended'),
      against: { code: 'ALM_ROW_ORDER_REPLACED' },
    });
    expect(await retry(batch, 3)).toMatchObject({ why: expect.stringContaining('discarded') });
    expect((await readBatch(batch.ref))?.counts).toEqual({ refused: 3 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('is refused in a cancelled batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'X');
    await cancelBatch(batch.ref, audit('cancelled'));
    expect(await retry(batch, 1)).toMatchObject({ why: expect.stringContaining('cancelled') });
    expect(await retry(batch, 2)).toMatchObject({ why: expect.stringContaining('cancelled') });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('retried orders of a finished run go to the next worker', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}], { owner: 'run-1' });
    await feedAll(batch);
    await sendAs(batch, 1, 'X');
    await retry(batch, 1);
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'running', owner: '' });
  });

  test('in a stalled batch waits for the resume', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}], { owner: 'run-1' });
    await feedAll(batch);
    await sendAs(batch, 1, 'X');
    await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await retry(batch, 1)).toBe('ok');
    expect(await readBatch(batch.ref)).toMatchObject({
      state: 'paused',
      owner: 'run-1',
      counts: { planned: 2 },
    });
    expect(await tieUp(ledger)).toEqual([]);
  });
});
