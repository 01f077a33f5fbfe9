import { describe, expect, test } from 'vitest';
import { askProbe, closeBreaker, releaseRealm } from '../../../src/ledger/moves/steer.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import { realmState } from '../../../src/ledger/read/realm-state.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { arm } from '../../../src/ledger/sessions/fence.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { WHY } from '../../support/ledger/order-moves.js';
import { until } from '../../support/until.js';

const bench = ledgersOnRedis();
const HALT_AFTER_MS = 900_000;
const ask = (ledger: RealmLedger, everyMs = 60_000) => askProbe(ledger, everyMs, HALT_AFTER_MS, WHY);
const open = (ledger: RealmLedger, agoMs = 0) =>
  ledger.scripts.redis.hset(ledger.keyPrefix, 'breaker', Date.now() - agoMs);

describe('probe', () => {
  test('with the breaker closed no probe is due', async () => {
    const ledger = await bench.ledger();
    expect(await ask(ledger)).toBe('closed');
    expect(await realmState(ledger)).toMatchObject({ halt: null, breakerSince: null });
  });

  test('while it is open one caller may probe and the others wait, even the same one asking twice', async () => {
    const ledger = await bench.ledger();
    await open(ledger);
    expect(await ask(ledger)).toBe('probe');
    expect(await Promise.all([ask(ledger), ask(ledger)])).toEqual(['wait', 'wait']);
  });

  test('the next probe comes after the pause between probes', async () => {
    const ledger = await bench.ledger();
    await open(ledger);
    expect(await ask(ledger, 5)).toBe('probe');
    expect(await until('the next turn', async () => (await ask(ledger, 5)) === 'probe')).toBe(true);
  });

  test('a probe time further ahead than possible is ignored as a stepped clock', async () => {
    const ledger = await bench.ledger();
    await open(ledger);
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'probeAt', Date.now() + 3_600_000);
    expect(await ask(ledger)).toBe('probe');
  });

  test('a rolled-back store that opens again does not count how long the breaker was open before', async () => {
    const ledger = await bench.ledger();
    await open(ledger, HALT_AFTER_MS + 1_000);
    await arm(ledger, (await readFence(ledger)).run, 0);
    expect(await ask(ledger)).toBe('probe');
    expect((await realmState(ledger)).halt).toBeNull();
  });

  test('a breaker open for too long halts the realm once with its reason; closing and releasing end the halt', async () => {
    const ledger = await bench.ledger();
    await open(ledger, HALT_AFTER_MS + 1_000);
    expect(await ask(ledger)).toBe('halted');
    expect(await ask(ledger)).toBe('halted');
    expect(await realmState(ledger)).toMatchObject({ halt: WHY, breakerSince: null });
    await closeBreaker(ledger);
    expect(await ask(ledger)).toBe('halted');
    await releaseRealm(ledger);
    expect(await ask(ledger)).toBe('closed');
  });

  test('closed by an answer, the breaker counts unknowns from zero', async () => {
    const ledger = await bench.ledger();
    await open(ledger);
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'unknowns', 20);
    await closeBreaker(ledger);
    expect(await ask(ledger)).toBe('closed');
    expect(await ledger.scripts.redis.hexists(ledger.keyPrefix, 'unknowns')).toBe(0);
  });
});
