import { describe, expect, test } from 'vitest';
import { haltBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import { readGate } from '../../../src/ledger/read/gate.js';
import { feed } from '../../support/ledger/feed-one.js';
import { attemptOf, merge, PAID } from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, limitedTo, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

const bench = ledgersOnRedis();
const HOUR = 3_600_000;
const WHY = { code: 'ALM_BATCH_PAUSED', message: 'stopped', next: 'resume' } as const;
const BY_A_PERSON = { at: 1, who: 'ada', what: 'resumed', why: null };

/** A batch with a set time, in a store from before it began; a journal holds one of its payments. */
async function restored(startsInMs: number): Promise<TestBatch> {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}]);
  await ledger.scripts.redis.hset(
    `${ledger.keyPrefix}:b:${batch.no}`,
    ...['startAt', String(Date.now() + startsInMs), 'startZone', 'UTC'],
  );
  expect((await readGate(batch.ref)).gate.closed).toBe(startsInMs > 0 ? 'start-time' : 'start-missed');
  await merge(batch, 'manual', attemptOf(batch, 1, PAID));
  return batch;
}

describe.each([
  ['is missed', -2 * HOUR],
  ['is to come', HOUR],
])('a batch that had begun when the store forgot it, whose set time %s', (_, startsInMs) => {
  test('ignores its set time: its other orders are fed', async () => {
    const batch = await restored(startsInMs);
    expect((await readGate(batch.ref)).gate).toMatchObject({ closed: null, start: null });
    await feedAll(batch);
    expect(
      await bench.redis().client().zrange(`${batch.ledger.keyPrefix}:b:${batch.no}:due`, '0', '-1'),
    ).toEqual(['2']);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('can be resumed by a person if it is halted', async () => {
    const batch = await restored(startsInMs);
    await haltBatch(batch.ref, WHY);
    expect(await resumeBatch(batch.ref, BY_A_PERSON, { owner: '' })).toEqual({
      done: true,
      state: 'running',
    });
    expect((await readGate(batch.ref)).gate.closed).toBeNull();
  });

  test('requires an approval that the store has forgotten if its sender requires one', async () => {
    const batch = await restored(startsInMs);
    const limited = limitedTo(batch.ledger, { overTokens: 1, overRows: null });
    expect(await feed(limited, batch.no, 10, '')).toEqual([]);
    expect((await readGate(batch.ref)).gate.closed).toBe('approval');
    expect(await resumeBatch(batch.ref, BY_A_PERSON, { owner: '' })).toEqual({
      done: false,
      state: 'approval',
    });
  });
});
