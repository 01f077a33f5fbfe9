import { expect, test } from 'vitest';
import { readBatch } from '../../src/ledger/batches.js';
import { openBooks } from '../../src/ledger/books.js';
import { Caller } from '../../src/ledger/caller.js';
import { mergeParked } from '../../src/ledger/merge.js';
import { markForgotten, park, parkedAttempts } from '../../src/ledger/parked.js';
import { attemptOf, mergeContext, PAID } from '../support/journaled-attempt.js';
import { ledgerBench, sealed } from '../support/ledger.js';
import { feedAll } from '../support/order-moves.js';

/** Payments of a forgotten batch, which several machines know a part of each. */
const bench = ledgerBench();

/** What the ledger of another past knew, seen from one that has forgotten it. */
async function forgotten() {
  const books = await bench.books();
  const elsewhere = await sealed(await bench.books(), [{}, {}, {}], { id: 'forgotten' });
  return { books, known: { ...elsewhere, books } };
}

test('what one puts by while another puts its own back is not lost with it', async () => {
  const { books, known } = await forgotten();
  await park(books, attemptOf(known, 1, PAID, { nonce: 'one' }));
  const again = await sealed(books, [{}, {}, {}], { id: 'forgotten' });
  // The other one has looked before the import, and puts by what it knows once the first has read what there is.
  const caller = new Caller(bench.redis().client(), 10_000, () => {});
  const script = caller.script.bind(caller);
  caller.script = async (name, ...rest) => {
    if (name === 'unpark') await park(books, attemptOf(known, 2, PAID, { nonce: 'two' }));
    return script(name, ...rest);
  };
  const first = { ...mergeContext(again, 'manual'), books: openBooks(caller, books.owner) };
  await mergeParked(first);
  expect(await feedAll(again)).toEqual([]);
  expect(await parkedAttempts(books)).toMatchObject([{ attempts: [{ intent: { nonce: 'two' } }] }]);
  await mergeParked(mergeContext(again, 'manual'));
  expect((await readBatch(again.ref))?.counts).toEqual({ paid: 2, planned: 1 });
  expect(await parkedAttempts(books)).toEqual([]);
});

test('a loss that is accepted while one puts by counts for it, before or after', async () => {
  const { books, known } = await forgotten();
  const redis = bench.redis().client();
  const slow = new Proxy(redis, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        const reply: unknown = await value.apply(target, args);
        await markForgotten(books);
        return reply;
      };
    },
  });
  await park(openBooks(new Caller(slow, 10_000, () => {}), books.owner), attemptOf(known, 1, PAID));
  expect(await parkedAttempts(books)).toMatchObject([{ incomplete: true }]);
});
