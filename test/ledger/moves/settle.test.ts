import { describe, expect, test } from 'vitest';
import { dispatched } from '../../../src/ledger/moves/feed.js';
import { cancelBatch, pauseBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { realmState } from '../../../src/ledger/read/realm-state.js';
import { readDetails, readRecord } from '../../../src/ledger/read/rows.js';
import { STATE_CODES } from '../../../src/ledger/record.js';
import { type Line, ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import {
  afterwards,
  audit,
  begun,
  feedAll,
  sendAs,
  settleAs,
  WHY,
} from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const credits = (count: number): Line[] => Array.from({ length: count }, (_, i) => ({ tokens: i + 1 }));

describe('settle', () => {
  test.each([
    ['P', 'paid'],
    ['R', 'refused'],
    ['X', 'exhausted'],
    ['w', 'planned'],
    ['u', 'unknown'],
    ['D', 'doubt'],
  ] as const)('moves an order from sending to what %s means; counts and sums follow', async (code, state) => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: 7, reference: 'r' }, { invalid: true }]);
    await feedAll(batch);
    const attempt = await begun(batch, 1);
    expect(await settleAs(batch, 1, code, attempt)).toMatchObject({
      settled: true,
      state: STATE_CODES[code],
    });
    expect(await readBatch(batch.ref)).toMatchObject({
      counts: { [state]: 1, invalid: 1 },
      sums: { [state]: 7n },
      requests: 1,
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test.each(['P', 'R', 'X', 'w', 'u', 'D'] as const)(
    'settled twice as %s, it is settled once and answers the same',
    async (code) => {
      const ledger = await bench.ledger();
      const batch = await sealed(ledger, credits(2));
      await feedAll(batch);
      const attempt = await begun(batch, 1);
      const first = await settleAs(batch, 1, code, attempt);
      const view = await readBatch(batch.ref);
      expect(await settleAs(batch, 1, code, attempt)).toEqual(first);
      expect(await readBatch(batch.ref)).toEqual(view);
      expect(await readDetails(batch.ref, 1)).toHaveLength(code === 'P' ? 0 : 1);
      expect(await tieUp(ledger)).toEqual([]);
    },
  );

  test('only the attempt with the current nonce settles; a late one gets the current state', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(2));
    await feedAll(batch);
    expect(await settleAs(batch, 1, 'P', { ...(await begun(batch, 2)), attempts: 1 })).toEqual({
      settled: false,
      state: null,
    });
    const attempt = await begun(batch, 1);
    expect(await settleAs(batch, 1, 'P', attempt, { nonce: 'other' })).toEqual({
      settled: false,
      state: 'sending',
    });
    expect((await readRecord(batch.ref, 1)).code).toBe('s');
    await settleAs(batch, 1, 'R', attempt);
    expect(await settleAs(batch, 1, 'P', attempt)).toEqual({ settled: false, state: 'refused' });
    expect((await readRecord(batch.ref, 1)).code).toBe('R');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('orders under way finish in a paused batch, and the last of them finishes the batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(2));
    await feedAll(batch);
    const one = await begun(batch, 1);
    const two = await begun(batch, 2);
    await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await afterwards(batch, () => settleAs(batch, 1, 'P', one))).toMatchObject({
      batchState: 'paused',
    });
    expect(await afterwards(batch, () => settleAs(batch, 2, 'P', two))).toMatchObject({ batchState: 'done' });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('in a cancelled batch a waiting order is cancelled, an unknown one stays, and no order waits for its turn', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ reference: 'a' }, { reference: 'b' }, {}]);
    await feedAll(batch);
    const one = await begun(batch, 1);
    const two = await begun(batch, 2);
    await cancelBatch(batch.ref, audit('cancelled'));
    expect(await afterwards(batch, () => settleAs(batch, 1, 'w', one))).toMatchObject({
      state: 'cancelled',
      batchState: 'cancelled',
    });
    expect(await settleAs(batch, 1, 'w', one)).toMatchObject({ settled: true, state: 'cancelled' });
    await settleAs(batch, 2, 'u', two);
    expect((await dispatched(ledger, batch.no)).map(({ index }) => index)).toEqual([2]);
    expect((await readBatch(batch.ref))?.counts).toEqual({ cancelled: 2, unknown: 1 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('the last order to end finishes the batch; a doubt does not keep it open', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(3));
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await sendAs(batch, 2, 'u');
    expect(await afterwards(batch, () => sendAs(batch, 3, 'D'))).toMatchObject({ batchState: 'running' });
    expect(
      await afterwards(batch, () => sendAs(batch, 2, 'P', { nonce: 'two', keyAgeMaxMs: 60_000 })),
    ).toMatchObject({
      batchState: 'done',
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('five refusals of one class before any payment halt the batch; the rest stays planned', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(8));
    await feedAll(batch);
    for (let index = 1; index <= 4; index++)
      expect(await afterwards(batch, () => sendAs(batch, index, 'R'))).toMatchObject({
        batchState: 'running',
      });
    expect(await afterwards(batch, () => sendAs(batch, 5, 'R'))).toMatchObject({ batchState: 'halted' });
    expect(await readBatch(batch.ref)).toMatchObject({ reason: WHY, counts: { refused: 5, planned: 3 } });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('refusals of other classes, or with a payment between them, do not halt', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(30));
    await feedAll(batch);
    for (let index = 1; index <= 6; index++)
      await sendAs(batch, index, 'R', {
        errorCode: index % 2 ? 'ALM_REFUSED_NOT_FOUND' : 'ALM_REFUSED_BALANCE',
      });
    await sendAs(batch, 7, 'P');
    for (let index = 8; index <= 26; index++) await sendAs(batch, index, 'R');
    expect((await readBatch(batch.ref))?.state).toBe('running');
    expect(await afterwards(batch, () => sendAs(batch, 27, 'R'))).toMatchObject({ batchState: 'halted' });
  });

  test('twenty unknown outcomes without a definite answer between them open the breaker once', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(25));
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await sendAs(batch, 2, 'P');
    for (let index = 3; index <= 21; index++)
      expect(await afterwards(batch, () => sendAs(batch, index, index % 2 ? 'u' : 'D'))).toMatchObject({
        breakerOpened: false,
      });
    expect((await realmState(ledger)).breakerSince).toBeNull();
    const last = await Promise.all([begun(batch, 22), begun(batch, 23)]);
    expect(await afterwards(batch, () => settleAs(batch, 22, 'u', last[0]))).toMatchObject({
      breakerOpened: true,
    });
    expect(await afterwards(batch, () => settleAs(batch, 23, 'u', last[1]))).toMatchObject({
      breakerOpened: false,
    });
    expect((await realmState(ledger)).breakerSince).not.toBeNull();
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('failed connections count like unknown outcomes; answers that use up an attempt do not', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(45));
    await feedAll(batch);
    const unreached = { errorCode: 'ALM_SEND_NOT_SENT', requests: 0 } as const;
    for (let index = 1; index <= 19; index++) await sendAs(batch, index, index % 2 ? 'w' : 'u', unreached);
    await sendAs(batch, 20, 'w', { ...unreached, status: 503 });
    expect((await realmState(ledger)).breakerSince).toBeNull();
    await sendAs(batch, 21, 'P');
    for (let index = 22; index <= 40; index++)
      expect(await afterwards(batch, () => sendAs(batch, index, 'w', unreached))).toMatchObject({
        breakerOpened: false,
      });
    expect(await afterwards(batch, () => sendAs(batch, 41, 'w', unreached))).toMatchObject({
      breakerOpened: true,
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('an answer that rejects the API key halts the realm with the first reason; the order keeps its attempt', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(2));
    await feedAll(batch);
    const one = await begun(batch, 1);
    const two = await begun(batch, 2);
    await settleAs(batch, 1, 'w', one, { haltRealm: WHY });
    await settleAs(batch, 2, 'w', two, { haltRealm: { ...WHY, message: 'later' } });
    expect((await realmState(ledger)).halt).toEqual(WHY);
    expect(await readBatch(batch.ref)).toMatchObject({
      state: 'halted',
      reason: WHY,
      counts: { planned: 2 },
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('requests, retries and 429s are counted, and the number of kept details is bounded', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(2));
    await feedAll(batch);
    for (let attempt = 0; attempt < 55; attempt++)
      await sendAs(batch, 1, 'w', { nonce: `n${attempt}`, limited: true });
    expect(await readBatch(batch.ref)).toMatchObject({ requests: 55, retries: 54, rateLimited: 55 });
    expect(await readDetails(batch.ref, 1)).toHaveLength(50);
    expect(await tieUp(ledger)).toEqual([]);
  });
});
