import { describe, expect, test } from 'vitest';
import type { Books } from '../../../src/ledger/books.js';
import { askProbe, closeBreaker, realmState, releaseRealm } from '../../../src/ledger/steering.js';
import { ledgerBench } from '../../support/ledger.js';
import { WHY } from '../../support/order-moves.js';
import { until } from '../../support/until.js';

const bench = ledgerBench();
const HALT_AFTER_MS = 900_000;
const ask = (books: Books, everyMs = 60_000) => askProbe(books, everyMs, HALT_AFTER_MS, WHY);
const open = (books: Books, agoMs = 0) => books.caller.redis.hset(books.realm, 'breaker', Date.now() - agoMs);

describe('probe', () => {
  test('with the breaker closed there is nothing to probe', async () => {
    const books = await bench.books();
    expect(await ask(books)).toBe('closed');
    expect(await realmState(books)).toMatchObject({ halt: null, breakerSince: null });
  });

  test('while it is open one asker has its turn and the others wait, also the same one asking twice', async () => {
    const books = await bench.books();
    await open(books);
    expect(await ask(books)).toBe('probe');
    expect(await Promise.all([ask(books), ask(books)])).toEqual(['wait', 'wait']);
  });

  test('the next turn comes after the pause between probes', async () => {
    const books = await bench.books();
    await open(books);
    expect(await ask(books, 5)).toBe('probe');
    expect(await until('the next turn', async () => (await ask(books, 5)) === 'probe')).toBe(true);
  });

  test('a turn that lies further ahead than it can is a stepped clock and bars nobody', async () => {
    const books = await bench.books();
    await open(books);
    await books.caller.redis.hset(books.realm, 'probeAt', Date.now() + 3_600_000);
    expect(await ask(books)).toBe('probe');
  });

  test('open for too long, the realm is halted, once and with its reason; closing and releasing end it', async () => {
    const books = await bench.books();
    await open(books, HALT_AFTER_MS + 1_000);
    expect(await ask(books)).toBe('halted');
    expect(await ask(books)).toBe('halted');
    expect(await realmState(books)).toMatchObject({ halt: WHY, breakerSince: null });
    await closeBreaker(books);
    expect(await ask(books)).toBe('halted');
    await releaseRealm(books);
    expect(await ask(books)).toBe('closed');
  });

  test('closed by an answer, the unknowns are counted anew', async () => {
    const books = await bench.books();
    await open(books);
    await books.caller.redis.hset(books.realm, 'unknowns', 20);
    await closeBreaker(books);
    expect(await ask(books)).toBe('closed');
    expect(await books.caller.redis.hexists(books.realm, 'unknowns')).toBe(0);
  });
});
