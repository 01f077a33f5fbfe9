import { describe, expect, test } from 'vitest';
import { claim } from '../../../src/ledger/moves/begin-sending.js';
import { cancelBatch, haltRealm, pauseBatch, releaseRealm } from '../../../src/ledger/moves/steer.js';
import { STATE_CODES } from '../../../src/ledger/record.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import {
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

describe('claim', () => {
  test('releases a due order, and repeats its answer', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    const ask = () => claim(ledger, { no: batch.no, index: 1 }, '', []);
    expect(await ask()).toEqual({ answer: 'go', unknown: false, hold: '' });
    expect(await ask()).toEqual({ answer: 'go', unknown: false, hold: '' });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('repeats the same hold of members for the same order', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ member: '1', to: '2' }]);
    await feedAll(batch);
    const hold = await held(batch, 1);
    expect(hold).not.toBe('');
    expect(await held(batch, 1)).toBe(hold);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('answers how long an order is not due yet', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    await settleAs(batch, 1, 'w', await begun(batch, 1), { dueInMs: 60_000 });
    const answer = await claim(ledger, { no: batch.no, index: 1 }, '', []);
    expect(answer).toMatchObject({ refusal: 'early' });
    if ('earlyByMs' in answer) expect(answer.earlyByMs).toBeGreaterThan(50_000);
  });

  test.each(['P', 'R', 'X', 'D'] as const)(
    'a delivery of an order that ended as %s has nothing to do',
    async (code) => {
      const ledger = await bench.ledger();
      const batch = await sealed(ledger, [{}, {}]);
      await feedAll(batch);
      await sendAs(batch, 1, code);
      expect(await claimFor(batch, 1)).toEqual({ refusal: 'order', state: STATE_CODES[code] });
      expect(await tieUp(ledger)).toEqual([]);
    },
  );

  test('refuses orders that are being sent, of another owner, not fed, or without a batch', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}], { owner: 'run-1' });
    expect(await claimFor(batch, 1)).toEqual({ refusal: 'batch', state: 'planned' });
    await feedAll(batch);
    await begun(batch, 1);
    expect(await claimFor(batch, 1)).toEqual({ refusal: 'order', state: 'sending' });
    expect(await claimFor(batch, 2, 'stranger')).toEqual({ refusal: 'owner' });
    expect(await claim(ledger, { no: '99', index: 1 }, '', [])).toEqual({ refusal: 'gone' });
  });

  test('refuses every order of a halted realm or a paused batch, and holds no member', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    await haltRealm(ledger, WHY);
    expect(await claimFor(batch, 1)).toEqual({ refusal: 'halted' });
    await releaseRealm(ledger);
    await pauseBatch(batch.ref, WHY, audit('paused'));
    expect(await claimFor(batch, 1)).toEqual({ refusal: 'batch', state: 'paused' });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('behind an open breaker refuses unsent orders and releases unknown ones', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'breaker', Date.now());
    expect(await claimFor(batch, 1)).toMatchObject({ answer: 'go', unknown: true });
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'breaker' });
  });

  test('in a cancelled batch releases unknown orders and refuses unsent ones', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'u');
    await cancelBatch(batch.ref, audit('cancelled'));
    expect(await claimFor(batch, 1)).toMatchObject({ answer: 'go', unknown: true });
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'batch', state: 'cancelled' });
    expect(await tieUp(ledger)).toEqual([]);
  });
});
