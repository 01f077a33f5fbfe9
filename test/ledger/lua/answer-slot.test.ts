import { describe, expect, test } from 'vitest';
import type { Books } from '../../../src/ledger/books.js';
import { texts } from '../../../src/ledger/caller.js';
import { ledgerBench } from '../../support/ledger.js';

const bench = ledgerBench();
const take = async (books: Books) =>
  texts(await books.caller.script('take-slot', books.realm, [10, 1_000, 60_000, 0, 1, '', '', '']));
const answer = (books: Books, slot: number, holdMs: number | '' = '') =>
  books.caller.script('answer-slot', books.realm, [10, 1_000, 0, slot, holdMs, '', '', '', '']);
const noted = (books: Books, slot: number) => books.caller.redis.hget(`${books.realm}:pace:a`, String(slot));

describe('answer-slot', () => {
  test('notes when the request of a slot was answered', async () => {
    const books = await bench.books();
    expect(await take(books)).toEqual(['go', '0']);
    expect(await noted(books, 0)).toMatch(/^g/);
    await answer(books, 0);
    expect(await noted(books, 0)).toMatch(/^a/);
  });

  test('told twice, the later time counts: that only makes us wait longer', async () => {
    const books = await bench.books();
    await take(books);
    await answer(books, 0);
    const first = Number((await noted(books, 0))?.slice(1));
    await answer(books, 0);
    expect(Number((await noted(books, 0))?.slice(1))).toBeGreaterThanOrEqual(first);
    expect(await books.caller.redis.hlen(`${books.realm}:pace:a`)).toBe(1);
  });

  test('an answer to a slot that was never granted, or is forgotten, leaves no trace', async () => {
    const books = await bench.books();
    await answer(books, 77);
    await answer(books, -1);
    expect(await books.caller.redis.exists(`${books.realm}:pace:a`, `${books.realm}:pace`)).toBe(0);
  });

  test('Retry-After holds the whole realm, and a shorter one does not cut a longer one', async () => {
    const books = await bench.books();
    await take(books);
    await answer(books, 0, 60_000);
    const [said, ms] = await take(books);
    expect(said).toBe('wait');
    expect(Number(ms)).toBeGreaterThan(50_000);
    await answer(books, 0, 1_000);
    expect(Number((await take(books))[1])).toBeGreaterThan(50_000);
    await answer(books, 0, 120_000);
    expect(Number((await take(books))[1])).toBeGreaterThan(100_000);
  });

  test('a hold further away than it was set for is a stepped clock, and is cut to a window', async () => {
    const books = await bench.books();
    await answer(books, 0, 5_000);
    await books.caller.redis.hset(`${books.realm}:pace`, 'hold', String(Date.now() + 3_600_000));
    expect(Number((await take(books))[1])).toBeLessThanOrEqual(1_000);
    expect(Number(await books.caller.redis.hget(`${books.realm}:pace`, 'hold'))).toBeLessThan(
      Date.now() + 60_000,
    );
  });
});
