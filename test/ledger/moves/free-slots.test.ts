import { describe, expect, test } from 'vitest';
import { freeSlots } from '../../../src/ledger/moves/pace-slots.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { texts } from '../../../src/ledger/script-client.js';
import { ledgersOnRedis } from '../../support/ledgers-on-redis.js';

const bench = ledgersOnRedis();
const TIMEOUT_MS = 60_000;

const ask = async (ledger: RealmLedger, session: string, nonce: string, again = '') =>
  texts(
    await ledger.scripts.script('take-slot', ledger.keyPrefix, [
      ...[1_000, 1_000, TIMEOUT_MS, 0, 3],
      ...[session, nonce, again],
    ]),
  );
const answer = (ledger: RealmLedger, slot: string) =>
  ledger.scripts.script('answer-slot', ledger.keyPrefix, [1_000, 1_000, 0, slot, '', '', '', '', '']);
const kinds = async (ledger: RealmLedger) => {
  const noted = await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:pace:a`);
  return Object.values(noted).map((slot) => slot.slice(0, 1));
};

describe('free-slots', () => {
  test('what a dead session was granted and nobody answered counts as answered now; nothing else does', async () => {
    const ledger = await bench.ledger();
    expect(await ask(ledger, 'dead', 'n1')).toEqual(['go', '0', '1', '2']);
    expect(await ask(ledger, 'deadly', 'n2')).toEqual(['go', '3', '4', '5']);
    expect(await ask(ledger, '', 'n3')).toEqual(['go', '6', '7', '8']);
    await answer(ledger, '1');
    const answeredAt = await ledger.scripts.redis.hget(`${ledger.keyPrefix}:pace:a`, '1');
    expect(await freeSlots(ledger, 'dead')).toBe(2);
    expect(await kinds(ledger)).toEqual(['a', 'a', 'a', 'g', 'g', 'g', 'g', 'g', 'g']);
    expect(await ledger.scripts.redis.hget(`${ledger.keyPrefix}:pace:a`, '1')).toBe(answeredAt);
    expect(await freeSlots(ledger, 'dead')).toBe(0);
  });

  test('slots that version 0.1.0 granted know no session: they are read, answered, and wait for their time-out', async () => {
    const ledger = await bench.ledger();
    const pace = `${ledger.keyPrefix}:pace`;
    const old = `g${Date.now()}.125`;
    await ledger.scripts.redis.hset(`${pace}:a`, { 0: old, 1: old });
    await ledger.scripts.redis.hset(pace, 'k', 1);
    expect(await freeSlots(ledger, 'dead')).toBe(0);
    const one = await ledger.scripts.script('take-slot', ledger.keyPrefix, [
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
    await answer(ledger, '0');
    expect(await kinds(ledger)).toEqual(['a', 'g']);
  });

  test('an asking whose reply was lost is told what it was granted, and nothing more is granted for it', async () => {
    const ledger = await bench.ledger();
    expect(await ask(ledger, 's', 'n1')).toEqual(['go', '0', '1', '2']);
    expect(await ask(ledger, 'other', 'n2')).toEqual(['go', '3', '4', '5']);
    expect(await ask(ledger, 's', 'n1', '1')).toEqual(['go', '0', '1', '2']);
    expect(await kinds(ledger)).toHaveLength(6);
    // One that never arrived is granted as any other.
    expect(await ask(ledger, 's', 'n3', '1')).toEqual(['go', '6', '7', '8']);
  });
});
