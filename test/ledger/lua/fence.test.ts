import { describe, expect, test } from 'vitest';
import type { Books } from '../../../src/ledger/books.js';
import { retryOrder } from '../../../src/ledger/dead.js';
import { arm, disarm, readFence, reportMerged } from '../../../src/ledger/fence.js';
import { ledgerBench, sealed } from '../../support/ledger.js';
import { begin, begun, claimFor, feedAll, sendAs } from '../../support/order-moves.js';
import { tieUp } from '../../support/tie-up.js';

const bench = ledgerBench();

/** As a promoted replica finds itself: armed for the server it was copied from. */
const failOver = (books: Books) => books.caller.redis.hset(books.realm, 'armed', 'another-server');
const register = (books: Books, id: string) => books.caller.redis.hset(`${books.realm}:sessions`, id, '{}');

describe('the fence', () => {
  test('books that nothing was ever sent from arm themselves', async () => {
    const batch = await sealed(await bench.books(), [{}]);
    await feedAll(batch);
    expect(await readFence(batch.books)).toMatchObject({ armed: false, untouched: true });
    await begun(batch, 1);
    expect(await readFence(batch.books)).toMatchObject({ armed: true, untouched: false });
  });

  test('on another server neither claim nor send goes through, until everybody has merged', async () => {
    const batch = await sealed(await bench.books(), [{}, {}]);
    const { books } = batch;
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await failOver(books);
    await register(books, 'a');
    await register(books, 'b');
    expect(await claimFor(batch, 2)).toEqual({ answer: 'stop', why: 'disarmed' });
    expect(await begin(batch, 2)).toEqual({ no: 'disarmed' });
    const { run } = await readFence(books);
    expect(await reportMerged(books, run, 'a', 0)).toBe(true);
    expect(await arm(books, run, 0)).toEqual({ answer: 'waiting', sessions: ['b'] });
    await reportMerged(books, run, 'b', 40);
    expect(await arm(books, run, 0)).toMatchObject({ answer: 'armed' });
    expect((await readFence(books)).seq).toBe(40);
    await begun(batch, 2);
  });

  test('what was merged for another server does not count', async () => {
    const { books } = await sealed(await bench.books(), [{}]);
    expect(await reportMerged(books, 'another-server', 'a', 0)).toBe(false);
    expect(await arm(books, 'another-server', 0)).toEqual({ answer: 'changed' });
  });

  test('nothing becomes payable by what a store says that may have forgotten payments: no seal, no retry', async () => {
    const books = await bench.books();
    const batch = await sealed(books, [{}, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'R');
    await failOver(books);
    await expect(sealed(books, [{ tokens: 9 }])).rejects.toThrow('disarmed');
    const by = { who: 'ada', why: null, at: 1, nonce: 'one' };
    expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toMatchObject({
      why: expect.stringContaining('almoner recover'),
    });
    const { run } = await readFence(books);
    await arm(books, run, 0);
    expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toBe('ok');
    await sealed(books, [{ tokens: 9 }]);
    expect(await tieUp(books)).toEqual([]);
  });

  test('a sequence below the one seen stops the sender, and disarms', async () => {
    const batch = await sealed(await bench.books(), [{}, {}]);
    const { books } = batch;
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await books.caller.redis.hset(books.realm, 'seq', 1);
    expect(await begin(batch, 2)).toEqual({ no: 'rollback' });
    expect(await disarm(books, { at: 1, seen: books.mark.seen, found: 1, by: 'a' })).toBe(true);
    expect(await readFence(books)).toMatchObject({ armed: false, untouched: false, rollback: { found: 1 } });
  });

  test('a sender that was away while others armed merges first', async () => {
    const batch = await sealed(await bench.books(), [{}, {}]);
    const { books } = batch;
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    books.mark.era = (await readFence(books)).era;
    await failOver(books);
    const { run } = await readFence(books);
    await arm(books, run, 0);
    expect(await begin(batch, 2)).toEqual({ no: 'era' });
  });
});
