import { describe, expect, test } from 'vitest';
import { freeSlots } from '../../../src/ledger/pace/pace.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { texts } from '../../../src/ledger/script-client.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';

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
const underWay = ({ scripts, keyPrefix }: RealmLedger) => scripts.redis.hkeys(`${keyPrefix}:pace:o`);
const answeredAt = ({ scripts, keyPrefix }: RealmLedger, slot: string) =>
  scripts.redis.zscore(`${keyPrefix}:pace:w`, slot);

describe('free-slots', () => {
  test('treats a dead session’s unanswered slots as answered now, and no others', async () => {
    const ledger = await bench.ledger();
    expect(await ask(ledger, 'dead', 'n1')).toEqual(['go', '0', '1', '2']);
    expect(await ask(ledger, 'deadly', 'n2')).toEqual(['go', '3', '4', '5']);
    expect(await ask(ledger, '', 'n3')).toEqual(['go', '6', '7', '8']);
    await answer(ledger, '1');
    const first = await answeredAt(ledger, '1');
    expect(await freeSlots(ledger, 'dead')).toBe(2);
    expect(await underWay(ledger)).toEqual(['3', '4', '5', '6', '7', '8']);
    expect(await answeredAt(ledger, '1')).toBe(first);
    expect(await freeSlots(ledger, 'dead')).toBe(0);
  });

  test('makes slots without a known window a window old before another is granted', async () => {
    const ledger = await bench.ledger();
    const { redis } = ledger.scripts;
    const pace = `${ledger.keyPrefix}:pace`;
    await redis.hset(pace, 'k', 1);
    const [said, ms] = await ask(ledger, 's', 'n1');
    expect([said, Number(ms)]).toEqual(['wait', 1_000]);
    expect(Number((await ask(ledger, 's', 'n1'))[1])).toBeGreaterThan(900);
  });

  test('a repeated request for slots gets the same grant after a lost reply, and no more', async () => {
    const ledger = await bench.ledger();
    expect(await ask(ledger, 's', 'n1')).toEqual(['go', '0', '1', '2']);
    expect(await ask(ledger, 'other', 'n2')).toEqual(['go', '3', '4', '5']);
    expect(await ask(ledger, 's', 'n1', '1')).toEqual(['go', '0', '1', '2']);
    expect(await underWay(ledger)).toHaveLength(6);
    // A request that never arrived is granted like any other.
    expect(await ask(ledger, 's', 'n3', '1')).toEqual(['go', '6', '7', '8']);
  });
});
