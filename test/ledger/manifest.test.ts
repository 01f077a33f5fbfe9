import { describe, expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { decodeEvent, encodeEvent, type OrderEvent } from '../../src/ledger/order-event.js';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { decodeManifest, encodeManifest } from '../../src/ledger/views.js';
import { ledgersOnRedis, manifestOf, planRow } from '../support/ledger/ledgers-on-redis.js';

const bench = ledgersOnRedis();

describe('a manifest', () => {
  test('reads back as it was sealed, including sums beyond 2^53', async () => {
    const { realm } = await bench.ledger();
    const ledger = openLedger(new ScriptClient(bench.redis().client(), 1_000, () => {}), realm);
    const manifest = manifestOf(ledger, batchId('spring'), [planRow({ to: '2' }, 1)], {
      tokens: { credit: 2n ** 63n - 1n, debit: 0n, transfer: 9_007_199_254_740_993n },
      delimiter: '\t',
      header: ['Mitglied „id“', 'tokens'],
      again: 'second helping',
      currency: 'gold',
    });
    expect(decodeManifest(encodeManifest(manifest))).toEqual(manifest);
  });

  test('with a missing field is refused', () => {
    expect(() => decodeManifest('{"batch":"spring"}')).toThrow();
  });
});

describe('a detail', () => {
  const DETAILS: OrderEvent[] = [
    {
      event: 'attempt',
      at: 1,
      key: 'a-1.1',
      kind: 'refused',
      code: null,
      message: 'no',
      status: 404,
      phase: 'done',
      requestId: null,
      latencyMs: 2,
      body: '{}',
    },
    { event: 'orphaned', at: 1, key: 'a-1.1', session: 's', code: 'c', message: 'died' },
    {
      event: 'balances',
      at: 1,
      when: 'before',
      balances: { member: '12345678901234567890', recipient: null },
    },
    { event: 'concluded', at: 1, state: 'paid', by: 'readback', code: null, message: 'moved' },
    { event: 'retried', at: 1, who: 'ada', why: null },
    { event: 'discarded', at: 1, who: 'ada', why: 'left' },
  ];

  test.each(DETAILS)(
    'of the event $event reads back unchanged, with or without the nonce of its call',
    (detail) => {
      expect(decodeEvent(encodeEvent(detail))).toEqual(detail);
      expect(decodeEvent(encodeEvent(detail, 'nonce'))).toEqual(detail);
      expect(encodeEvent(detail, 'one')).not.toBe(encodeEvent(detail, 'two'));
    },
  );
});
