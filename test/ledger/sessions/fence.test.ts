import { describe, expect, test } from 'vitest';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { acceptRemoved, arm, disarm, reportMerged, sayDisarmed } from '../../../src/ledger/sessions/fence.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begin, begun, claimFor, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';
import { tempFolder } from '../../support/temp-folder.js';

const bench = ledgersOnRedis();

/** As on a promoted replica: opened for the server it was copied from. */
const failOver = (ledger: RealmLedger) =>
  ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', 'another-server');
/** One order was paid before the failover, another is due. */
async function failedOver() {
  const batch = await sealed(await bench.ledger(), [{}, {}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await failOver(batch.ledger);
  return batch;
}
const merged = (ledger: RealmLedger, run: string, session: string, seen: number) =>
  reportMerged(ledger, run, { session, seen, era: '', looked: [], putBack: [0, 0, 0, 0] });
const register = (ledger: RealmLedger, id: string) =>
  ledger.scripts.redis.hset(`${ledger.keyPrefix}:sessions`, id, '{}');

describe('the fence', () => {
  test('a ledger that never sent anything opens by itself', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    expect(await readFence(batch.ledger)).toMatchObject({ armed: false, untouched: true });
    await begun(batch, 1);
    expect(await readFence(batch.ledger)).toMatchObject({ armed: true, untouched: false });
  });

  test('on another server neither claim nor send passes until every process has merged', async () => {
    const batch = await failedOver();
    const { ledger } = batch;
    await register(ledger, 'a');
    await register(ledger, 'b');
    expect(await claimFor(batch, 2)).toEqual({ refusal: 'disarmed' });
    expect(await begin(batch, 2)).toEqual({ refusal: 'disarmed' });
    const { run } = await readFence(ledger);
    expect(await merged(ledger, run, 'a', 0)).toBe(true);
    expect(await arm(ledger, run, 0)).toEqual({ answer: 'waiting', for: { sessions: ['b'], folders: [] } });
    await merged(ledger, run, 'b', 40);
    expect(await arm(ledger, run, 0)).toMatchObject({ answer: 'armed' });
    expect((await readFence(ledger)).seq).toBe(40);
    await begun(batch, 2);
  });

  test('a joining process without orders is not waited for, and begins nothing before the others have merged', async () => {
    const batch = await failedOver();
    const { ledger } = batch;
    await register(ledger, 'a');
    const session = await Session.open('run', await tempFolder());
    await session.join(ledger);
    const { run } = await readFence(ledger);
    expect(await arm(ledger, run, 0)).toEqual({ answer: 'waiting', for: { sessions: ['a'], folders: [] } });
    expect(await begin(batch, 2)).toEqual({ refusal: 'disarmed' });
    // From here on it merges the journals that others left in its folder.
    await session.register(ledger);
    await merged(ledger, run, 'a', 0);
    expect(await arm(ledger, run, 0)).toEqual({
      answer: 'waiting',
      for: { sessions: [session.id], folders: [] },
    });
    await session.join(ledger);
    expect(await arm(ledger, run, 0)).toMatchObject({ answer: 'armed' });
    await begun(batch, 2);
    await session.close();
  });

  test('a merge for another server does not count', async () => {
    const { ledger } = await sealed(await bench.ledger(), [{}]);
    expect(await merged(ledger, 'another-server', 'a', 0)).toBe(false);
    expect(await arm(ledger, 'another-server', 0)).toEqual({ answer: 'changed' });
  });

  test('no seal and no retry passes on a store that may have forgotten payments', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'R');
    await failOver(ledger);
    await expect(sealed(ledger, [{ tokens: 9 }])).rejects.toThrow('disarmed');
    const by = { who: 'ada', why: null, at: 1, nonce: 'one' };
    expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toMatchObject({
      why: expect.stringContaining('almoner recover'),
    });
    const { run } = await readFence(ledger);
    await arm(ledger, run, 0);
    expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toBe('ok');
    await sealed(ledger, [{ tokens: 9 }]);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a sequence below the one seen stops the sender and closes the ledger', async () => {
    const batch = await sealed(await bench.ledger(), [{}, {}]);
    const { ledger } = batch;
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'seq', 1);
    expect(await begin(batch, 2)).toEqual({ refusal: 'rollback' });
    expect(await disarm(ledger, { at: 1, seen: ledger.mark.seen, found: 1, by: 'a' }, 'behind')).toBe(true);
    expect(await readFence(ledger)).toMatchObject({ armed: false, untouched: false, rollback: { found: 1 } });
  });

  test('a sender that was away while others opened the ledger merges first', async () => {
    const batch = await sealed(await bench.ledger(), [{}, {}]);
    const { ledger } = batch;
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    ledger.mark.era = (await readFence(ledger)).era;
    await failOver(ledger);
    const { run } = await readFence(ledger);
    await arm(ledger, run, 0);
    expect(await begin(batch, 2)).toEqual({ refusal: 'era' });
  });
});

test('a removal that a person accepted is no longer the reason for the closed ledger', async () => {
  const ledger = await bench.ledger();
  const note = { at: 1, seen: 9, found: 0, by: 'a test' };
  expect(await disarm(ledger, note, 'anyway', { missed: { era: 9 } })).toBe(true);
  await sayDisarmed(ledger, { code: 'ALM_LEDGER_ROLLED_BACK', message: 'journals are missing', next: '' });
  expect(await readFence(ledger)).toMatchObject({ reason: { code: 'ALM_LEDGER_ROLLED_BACK' } });
  expect(await acceptRemoved(ledger, {}, '')).toBe(true);
  expect(await readFence(ledger)).toMatchObject({ reason: null, missed: {}, armed: false });
});
