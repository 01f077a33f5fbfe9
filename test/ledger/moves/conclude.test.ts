import { describe, expect, test } from 'vitest';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readDetails, readRecord } from '../../../src/ledger/read/rows.js';
import { readAudit } from '../../../src/ledger/read/snapshot.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begun, concludeAs, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();

describe('conclude', () => {
  test.each([
    ['u', 'P', 'paid'],
    ['u', 'X', 'exhausted'],
    ['u', 'w', 'planned'],
    ['u', 'D', 'doubt'],
    ['D', 'P', 'paid'],
    ['D', 'X', 'exhausted'],
  ] as const)('ends %s as %s: counts, day, reference and evidence follow', async (from, to, state) => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7, reference: 'r' }, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, from);
    expect(await concludeAs(batch, 1, from, to, { balance: '112' })).toMatchObject({ concluded: true });
    expect((await readBatch(batch.ref))?.counts).toEqual({
      [state]: 1,
      planned: state === 'planned' ? 2 : 1,
    });
    const record = await readRecord(batch.ref, 1);
    expect(record).toMatchObject({
      balance: '112',
      evidence: from === 'D' ? 'operator' : 'readback',
      tries: 0,
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('repeated with the same nonce it is one conclusion: same answer, counted and recorded once', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7, reference: 'r' }, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'D');
    const call = () =>
      concludeAs(batch, 1, 'D', 'X', { nonce: 'once', audit: JSON.stringify(audit('resolved')) });
    const first = await call();
    expect(await call()).toEqual(first);
    expect(await readDetails(batch.ref, 1)).toHaveLength(2);
    expect(await readAudit(batch.ref)).toHaveLength(2);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('changes nothing from another state, or for an order that is being sent, paid or never sent', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}, {}, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await sendAs(batch, 2, 'P');
    await begun(batch, 3);
    for (const [index, from] of [
      [1, 'D'],
      [2, 'u'],
      [2, 'D'],
      [3, 'u'],
      [4, 'u'],
    ] as const)
      expect(await concludeAs(batch, index, from, 'X')).toMatchObject({ concluded: false, next: [] });
    expect((await readBatch(batch.ref))?.counts).toEqual({ unknown: 1, paid: 1, sending: 1, planned: 1 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a conclusion never puts a doubt back to work', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'D');
    expect(await concludeAs(batch, 1, 'D', 'w')).toMatchObject({ concluded: false });
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'done', counts: { doubt: 1 } });
  });

  test('not applied: the order waits for its next attempt under the same key, and its tries are counted', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7 }]);
    await feedAll(batch);
    const first = await begun(batch, 1);
    await settleAs(batch, 1, 'u', first);
    await concludeAs(batch, 1, 'u', 'w', { tries: 2 });
    const second = await begun(batch, 1, { nonce: 'two' });
    expect(second).toMatchObject({
      resend: false,
      keyNumber: 1,
      tries: 2,
      firstSentAt: second.sentAt,
      // The realm has seen this key before.
      keyFirstAt: first.sentAt,
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('not applied in a cancelled batch: the order is cancelled, and the batch is no longer open', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ reference: 'r' }, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await cancelBatch(batch.ref, audit('cancelled'));
    expect(await concludeAs(batch, 1, 'u', 'w')).toMatchObject({ concluded: true, state: 'cancelled' });
    expect((await readBatch(batch.ref))?.counts).toEqual({ cancelled: 2 });
    expect(await ledger.scripts.redis.zrange(`${ledger.keyPrefix}:open`, 0, '-1')).toEqual([]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('concluding the last unknown order finishes the batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    expect(await concludeAs(batch, 1, 'u', 'P')).toMatchObject({ state: 'done' });
    expect(await tieUp(ledger)).toEqual([]);
  });
});
