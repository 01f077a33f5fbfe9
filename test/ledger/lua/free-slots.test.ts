import { describe, expect, test } from 'vitest';
import type { Books } from '../../../src/ledger/books.js';
import { texts } from '../../../src/ledger/caller.js';
import { freeSlots } from '../../../src/ledger/slots.js';
import { ledgerBench } from '../../support/ledger.js';

const bench = ledgerBench();
const TIMEOUT_MS = 60_000;

const ask = async (books: Books, session: string, nonce: string, again = '') =>
  texts(
    await books.caller.script('take-slot', books.realm, [
      ...[1_000, 1_000, TIMEOUT_MS, 0, 3],
      ...[session, nonce, again],
    ]),
  );
const answer = (books: Books, slot: string) =>
  books.caller.script('answer-slot', books.realm, [1_000, 1_000, 0, slot, '', '', '', '', '']);
const kinds = async (books: Books) => {
  const noted = await books.caller.redis.hgetall(`${books.realm}:pace:a`);
  return Object.values(noted).map((slot) => slot.slice(0, 1));
};

describe('free-slots', () => {
  test('what a dead session was granted and nobody answered counts as answered now; nothing else does', async () => {
    const books = await bench.books();
    expect(await ask(books, 'dead', 'n1')).toEqual(['go', '0', '1', '2']);
    expect(await ask(books, 'deadly', 'n2')).toEqual(['go', '3', '4', '5']);
    expect(await ask(books, '', 'n3')).toEqual(['go', '6', '7', '8']);
    await answer(books, '1');
    const answeredAt = await books.caller.redis.hget(`${books.realm}:pace:a`, '1');
    expect(await freeSlots(books, 'dead')).toBe(2);
    expect(await kinds(books)).toEqual(['a', 'a', 'a', 'g', 'g', 'g', 'g', 'g', 'g']);
    expect(await books.caller.redis.hget(`${books.realm}:pace:a`, '1')).toBe(answeredAt);
    expect(await freeSlots(books, 'dead')).toBe(0);
  });

  test('slots that version 0.1.0 granted know no session: they are read, answered, and wait for their time-out', async () => {
    const books = await bench.books();
    const pace = `${books.realm}:pace`;
    const old = `g${Date.now()}.125`;
    await books.caller.redis.hset(`${pace}:a`, { 0: old, 1: old });
    await books.caller.redis.hset(pace, 'k', 1);
    expect(await freeSlots(books, 'dead')).toBe(0);
    const one = await books.caller.script('take-slot', books.realm, [
      1,
      1_000,
      TIMEOUT_MS,
      0,
      1,
      '',
      'n',
      '',
    ]);
    expect(texts(one)[0]).toBe('wait');
    await answer(books, '0');
    expect(await kinds(books)).toEqual(['a', 'g']);
  });

  test('an asking whose reply was lost is told what it was granted, and nothing more is granted for it', async () => {
    const books = await bench.books();
    expect(await ask(books, 's', 'n1')).toEqual(['go', '0', '1', '2']);
    expect(await ask(books, 'other', 'n2')).toEqual(['go', '3', '4', '5']);
    expect(await ask(books, 's', 'n1', '1')).toEqual(['go', '0', '1', '2']);
    expect(await kinds(books)).toHaveLength(6);
    // One that never arrived is granted as any other.
    expect(await ask(books, 's', 'n3', '1')).toEqual(['go', '6', '7', '8']);
  });
});
