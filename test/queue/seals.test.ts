import { expect, test } from 'vitest';
import type { RealmProfile } from '../../src/core/profile.js';
import { readBatch } from '../../src/ledger/batches.js';
import type { Books } from '../../src/ledger/books.js';
import { feed } from '../../src/ledger/feeding.js';
import { haltBatch } from '../../src/ledger/steering.js';
import { KnownBatches } from '../../src/queue/known-batches.js';
import { Seals } from '../../src/queue/seals.js';
import { ledgerBench, sealed, type TestBatch } from '../support/ledger.js';
import { WHY } from '../support/order-moves.js';
import { testProfile } from '../support/realm-profile.js';

const bench = ledgerBench();

function sealsOf(books: Books, changes: Partial<RealmProfile> = {}): Seals {
  const { baseUrl, realmId } = books.owner;
  return new Seals(
    books,
    testProfile({ baseUrl, realmId, currency: 'gold', ...changes }),
    new KnownBatches(books),
  );
}

const inGold = (books: Books, id: string, owner = '') =>
  sealed(books, [{}, {}], { id, owner, manifest: { currency: 'gold' } });
const stateOf = async ({ ref }: TestBatch) => (await readBatch(ref))?.state;

test('a batch that the profile fits is left alone; one that it does not is halted before it is fed', async () => {
  const books = await bench.books();
  const batch = await inGold(books, 'gold');
  expect(await sealsOf(books).fit(batch.no)).toBe(true);
  expect(await stateOf(batch)).toBe('planned');
  for (const changes of [{ currency: 'gems' }, { currency: null }, { realmId: 'other' }])
    expect(await sealsOf(books, changes).fit(batch.no)).toBe(false);
  expect(await readBatch(batch.ref)).toMatchObject({
    state: 'halted',
    reason: {
      code: 'ALM_BATCH_TERMS_CHANGED',
      message: expect.stringContaining('gold'),
      next: expect.stringContaining('almoner cancel gold'),
    },
  });
  expect(await feed(books, batch.no, 2, '')).toEqual([]);
});

test('a process that begins halts what its profile does not fit, and lets go on what it fits again', async () => {
  const books = await bench.books();
  const [mine, another, capped] = [
    await inGold(books, 'mine'),
    await inGold(books, 'of-a-run', 'run-1'),
    await inGold(books, 'capped'),
  ];
  await haltBatch(books, capped.no, WHY);
  await sealsOf(books, { currency: 'gems' }).lookAll('');
  expect([await stateOf(mine), await stateOf(another)]).toEqual(['halted', 'planned']);
  await sealsOf(books).lookAll('');
  expect([await stateOf(mine), await stateOf(another), await stateOf(capped)]).toEqual([
    'running',
    'planned',
    'halted',
  ]);
});

test('the terms are the stricter of seal and profile, in the currency of the seal', async () => {
  const books = await bench.books();
  const manifest = { currency: 'gold', certainty: 'idempotent', keyLifetimeMs: 10 } as const;
  const batch = await sealed(books, [{}], { id: 'terms', manifest });
  const seals = sealsOf(books, { currency: 'gems', certainty: 'readback', keyLifetimeMs: 20 });
  expect(await seals.termsOf(batch.no)).toEqual({
    currency: 'gold',
    certainty: 'readback',
    keyLifetimeMs: 10,
  });
});
