import { expect, test } from 'vitest';
import type { RealmProfile } from '../../src/core/profile.js';
import { haltBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { KnownBatches } from '../../src/queue/batches.js';
import { feed } from '../support/ledger/feed-one.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { WHY } from '../support/ledger/order-moves.js';
import { testProfile } from '../support/ledger/realm-profile.js';

const bench = ledgersOnRedis();

function sealsOf(ledger: RealmLedger, changes: Partial<RealmProfile> = {}): KnownBatches {
  const { baseUrl, realmId } = ledger.realm;
  return new KnownBatches(ledger, testProfile({ baseUrl, realmId, currency: 'gold', ...changes }));
}

const inGold = (ledger: RealmLedger, id: string, owner = '') =>
  sealed(ledger, [{}, {}], { id, owner, manifest: { currency: 'gold' } });
const stateOf = async ({ ref }: TestBatch) => (await readBatch(ref))?.state;

test('a batch that the profile fits is left alone; one that it does not fit is halted before it is fed', async () => {
  const ledger = await bench.ledger();
  const batch = await inGold(ledger, 'gold');
  expect(await sealsOf(ledger).fit(batch.no)).toBe(true);
  expect(await stateOf(batch)).toBe('planned');
  for (const changes of [{ currency: 'gems' }, { currency: null }, { realmId: 'other' }])
    expect(await sealsOf(ledger, changes).fit(batch.no)).toBe(false);
  expect(await readBatch(batch.ref)).toMatchObject({
    state: 'halted',
    reason: {
      code: 'ALM_BATCH_TERMS_CHANGED',
      message: expect.stringContaining('gold'),
      next: expect.stringContaining('almoner cancel gold'),
    },
  });
  expect(await feed(ledger, batch.no, 2, '')).toEqual([]);
});

test('a starting process halts batches that its profile does not fit, and resumes those that fit again', async () => {
  const ledger = await bench.ledger();
  const [mine, another, capped] = [
    await inGold(ledger, 'mine'),
    await inGold(ledger, 'of-a-run', 'run-1'),
    await inGold(ledger, 'capped'),
  ];
  await haltBatch(capped.ref, WHY);
  await sealsOf(ledger, { currency: 'gems' }).lookAll('');
  expect([await stateOf(mine), await stateOf(another)]).toEqual(['halted', 'planned']);
  await sealsOf(ledger).lookAll('');
  expect([await stateOf(mine), await stateOf(another), await stateOf(capped)]).toEqual([
    'running',
    'planned',
    'halted',
  ]);
});

test('the terms are the stricter of seal and profile, in the currency of the seal', async () => {
  const ledger = await bench.ledger();
  const manifest = { currency: 'gold', certainty: 'idempotent', keyLifetimeMs: 10 } as const;
  const batch = await sealed(ledger, [{}], { id: 'terms', manifest });
  const seals = sealsOf(ledger, { currency: 'gems', certainty: 'readback', keyLifetimeMs: 20 });
  expect(await seals.termsOf(batch.no)).toEqual({
    currency: 'gold',
    certainty: 'readback',
    keyLifetimeMs: 10,
  });
});
