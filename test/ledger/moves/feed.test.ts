import { describe, expect, test } from 'vitest';
import { dispatched, openBatches } from '../../../src/ledger/moves/feed.js';
import { pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { feed } from '../../support/ledger/feed-one.js';
import { type Line, ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import {
  afterwards,
  audit,
  begun,
  claimFor,
  feedAll,
  held,
  sendAs,
  settleAs,
  WHY,
} from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const credits = (count: number): Line[] => Array.from({ length: count }, () => ({}));
const due = async (batch: TestBatch) => (await dispatched(batch.ledger, batch.no)).map(({ index }) => index);
const first = (orders: number) => ({ owner: '', first: { orders, reason: WHY } });

describe('feed', () => {
  test('feeds orders in file order, each once, and marks them as due', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(5));
    expect(await feed(ledger, batch.no, 2, '')).toEqual([1, 2]);
    expect((await readBatch(batch.ref))?.state).toBe('running');
    expect(await feed(ledger, batch.no, 2, '')).toEqual([3, 4]);
    expect(await feed(ledger, batch.no, 9, '')).toEqual([5]);
    expect(await feed(ledger, batch.no, 9, '')).toEqual([]);
    expect((await due(batch)).sort()).toEqual([1, 2, 3, 4, 5]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('skips left-out rows in bounded steps, however many follow each other', async () => {
    const ledger = await bench.ledger();
    const lines = Array.from(
      { length: 4_600 },
      (_, i): Line => (i === 0 || i === 4_599 ? {} : { invalid: true }),
    );
    const batch = await sealed(ledger, lines);
    expect(await feed(ledger, batch.no, 10, '')).toEqual([1]);
    let calls = 0;
    let fed: number[] = [];
    for (; fed.length === 0 && calls < 10; calls++) fed = await feed(ledger, batch.no, 10, '');
    expect(fed).toEqual([4_600]);
    expect(calls).toBeGreaterThan(1);
  });

  test.each(['paused', 'owner'])('feeds nothing if the batch is not ready: %s', async (why) => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(2));
    if (why === 'paused') await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await feed(ledger, batch.no, 2, why === 'owner' ? 'stranger' : '')).toEqual([]);
    expect(await feed(ledger, '99', 2, '')).toEqual([]);
    expect(await due(batch)).toEqual([]);
  });

  test('--first N feeds exactly N orders, however often it is called, and then pauses the batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(5));
    await resumeBatch(batch.ref, null, first(2));
    expect(await feed(ledger, batch.no, 10, '')).toEqual([1, 2]);
    expect(await feed(ledger, batch.no, 10, '')).toEqual([]);
    expect(await feed(ledger, batch.no, 10, '')).toEqual([]);
    await sendAs(batch, 1, 'P');
    expect(await afterwards(batch, () => sendAs(batch, 2, 'R'))).toMatchObject({ batchState: 'paused' });
    expect(await readBatch(batch.ref)).toMatchObject({
      state: 'paused',
      reason: WHY,
      counts: { planned: 3 },
    });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('--first N counts what an earlier run had dispatched', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(6));
    await feed(ledger, batch.no, 4, '');
    await settleAs(batch, 2, 'w', await begun(batch, 2));
    await sendAs(batch, 1, 'P');
    await pauseBatch(batch.ref, WHY, audit('interrupted'));
    await resumeBatch(batch.ref, null, first(2));
    expect(await due(batch)).toEqual([]);
    expect(await feed(ledger, batch.no, 10, '')).toEqual([2, 3]);
    await sendAs(batch, 2, 'P', { nonce: 'again' });
    await sendAs(batch, 3, 'P');
    expect((await readBatch(batch.ref))?.state).toBe('paused');
    await resumeBatch(batch.ref, null, { owner: '' });
    expect(await feed(ledger, batch.no, 10, '')).toEqual([4, 5, 6]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('in order: the next order is fed when the one before has ended, with any outcome', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(3), { manifest: { inOrder: true } });
    expect(await feed(ledger, batch.no, 10, '')).toEqual([1]);
    expect(await feed(ledger, batch.no, 10, '')).toEqual([]);
    const attempt = await begun(batch, 1);
    expect(await feed(ledger, batch.no, 10, '')).toEqual([]);
    await settleAs(batch, 1, 'R', attempt);
    expect(await feed(ledger, batch.no, 10, '')).toEqual([2]);
    await sendAs(batch, 2, 'u');
    expect(await feed(ledger, batch.no, 10, '')).toEqual([]);
  });

  test('in order: an order that waits for a member is not overtaken', async () => {
    const ledger = await bench.ledger();
    const other = await sealed(ledger, [{ member: '7' }]);
    await feedAll(other);
    await held(other, 1);
    const batch = await sealed(ledger, [{ member: '7' }, { member: '8' }], { manifest: { inOrder: true } });
    await feedAll(batch);
    expect(await claimFor(batch, 1)).toEqual({ refusal: 'member-held' });
    expect(await feedAll(batch)).toEqual([]);
  });

  test('two feeders at once never get the same order', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(40));
    const fed = await Promise.all(Array.from({ length: 10 }, () => feed(ledger, batch.no, 7, '')));
    expect(fed.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  });

  test('batches with work are listed with the number of dispatched orders', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, credits(3), { owner: 'run-1' });
    await feed(ledger, batch.no, 2, 'run-1');
    await settleAs(batch, 1, 'w', await begun(batch, 1), { dueInMs: 3_600_000 });
    const [open] = await openBatches(ledger);
    expect(open).toMatchObject({
      no: batch.no,
      owner: 'run-1',
      state: 'running',
      cursor: 3,
      rows: 3,
      dispatched: 2,
      sending: 0,
    });
  });
});
