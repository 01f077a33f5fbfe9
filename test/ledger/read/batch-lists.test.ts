import { expect, test } from 'vitest';
import { cancelBatch, pauseBatch, resumeBatch } from '../../../src/ledger/moves/steer.js';
import {
  batchesIn,
  batchesLike,
  batchesOfAll,
  changedSince,
  countBatches,
  everyBatchIn,
  newestFirst,
  paidEver,
  placeOf,
} from '../../../src/ledger/read/batch-lists.js';
import { findBatch } from '../../../src/ledger/read/batches.js';
import { verifyLedger } from '../../../src/ledger/read/verify.js';
import type { BatchRef, RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { feed } from '../../support/ledger/feed-one.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, sendAs, WHY } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();

async function idsOf(batches: AsyncIterable<BatchRef>, most = Number.POSITIVE_INFINITY): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of batches) {
    found.push(id);
    if (found.length >= most) break;
  }
  return found;
}

const numbersIn = async (ledger: RealmLedger, list: Parameters<typeof batchesIn>[1]) =>
  (await batchesIn(ledger, list)).map(({ id }) => id);

test('a batch is in the lists for its state, from its seal to its end', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}, {}], { id: 'one' });
  expect(await numbersIn(ledger, 'open')).toEqual(['one']);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await sendAs(batch, 2, 'R');
  expect([await numbersIn(ledger, 'dead'), await numbersIn(ledger, 'doubts')]).toEqual([['one'], []]);
  await pauseBatch(batch.ref, WHY, audit('paused'));
  await resumeBatch(batch.ref, audit('resumed'), { owner: '' });
  await sendAs(batch, 3, 'D');
  expect(await numbersIn(ledger, 'open')).toEqual([]);
  expect([await numbersIn(ledger, 'ended'), await numbersIn(ledger, 'doubts')]).toEqual([['one'], ['one']]);
  expect(await paidEver(ledger)).toMatchObject({ paid: 1, tokens: 5n, batches: 1 });
  expect(await countBatches(ledger)).toEqual({ batches: 1, rows: 3 });
  await cancelBatch((await sealed(ledger, [{}], { id: 'two' })).ref, audit('cancelled'));
  expect(await numbersIn(ledger, 'ended')).toEqual(['one', 'two']);
});

test('all batches of all realms are listed newest first, and a page continues after any of them', async () => {
  const [one, other] = [await bench.ledger(), await bench.ledger()];
  const made: string[] = [];
  for (let i = 0; i < 9; i++) {
    const id = `mixed-${i}`;
    await sealed(i % 3 === 0 ? one : other, [{}], { id });
    made.unshift(id);
  }
  const isOurs = ({ id }: BatchRef) => id.startsWith('mixed-');
  const all: BatchRef[] = [];
  for await (const ref of batchesOfAll(one.scripts)) if (isOurs(ref)) all.push(ref);
  expect(all.map(({ id }) => id)).toEqual(made);
  for (const [at, ref] of all.entries()) {
    const after = placeOf(ref);
    expect((await idsOf(batchesOfAll(one.scripts, { after }), 8 - at)).slice(0, 8 - at)).toEqual(
      made.slice(at + 1),
    );
    expect((await idsOf(batchesOfAll(one.scripts, { from: after }), 1)).at(0)).toBe(ref.id);
  }
  expect(await idsOf(batchesOfAll(one.scripts, { realm: one.realm.realmId, list: 'open' }))).toEqual([
    'mixed-6',
    'mixed-3',
    'mixed-0',
  ]);
  expect((await everyBatchIn(one.scripts, ['open', 'dead'], one.realm.realmId)).map(({ id }) => id)).toEqual([
    'mixed-0',
    'mixed-3',
    'mixed-6',
  ]);
});

test('a page of missing numbers does not stop the listing', async () => {
  const ledger = await bench.ledger();
  await sealed(ledger, [{}], { id: 'before' });
  await ledger.scripts.redis.hincrby(ledger.keyPrefix, 'batches', 250);
  await sealed(ledger, [{}], { id: 'behind' });
  expect(await idsOf(newestFirst(ledger))).toEqual(['behind', 'before']);
});

test('batches are found by the beginning of their ids, and counted if there are many', async () => {
  const ledger = await bench.ledger();
  for (const id of ['abc', 'abcd', 'abcde', 'bcd']) await sealed(ledger, [{}], { id });
  const find = (text: string) => findBatch(ledger.scripts, text, ledger.realm.realmId);
  expect((await find('abcde')).id).toBe('abcde');
  expect((await find('abc')).id).toBe('abc');
  await expect(find('a')).rejects.toMatchObject({ code: 'ALM_BATCH_AMBIGUOUS' });
  await expect(find('c')).rejects.toMatchObject({ code: 'ALM_BATCH_NOT_FOUND' });
  expect(await batchesLike(ledger, 'abcd', 1)).toMatchObject({ refs: [{ id: 'abcd' }], count: 2 });
});

test('a list of changes since a moment names each changed batch once, and no other', async () => {
  const ledger = await bench.ledger();
  const one = await sealed(ledger, [{}, {}]);
  const other = await sealed(ledger, [{}]);
  const { changes } = await changedSince(ledger, 0);
  await feedAll(one);
  await sendAs(one, 1, 'P');
  const since = await changedSince(ledger, changes);
  expect([since.numbers, since.changes > changes]).toEqual([[one.no], true]);
  expect(await changedSince(ledger, since.changes)).toEqual({ changes: since.changes, numbers: [] });
  await pauseBatch(other.ref, WHY, audit('paused'));
  expect((await changedSince(ledger, since.changes)).numbers).toEqual([other.no]);
});

const LISTS = [
  ...(['ids', 'importing', 'open', 'feed', 'busy', 'ended', 'archived', 'purging', 'dead', 'aside'] as const),
  ...(['doubts', 'sealed', 'again', 'asks', 'recovered', 'changed'] as const),
];

test.each(LISTS)('verify names a stray entry of the list %s', async (list) => {
  const ledger = await bench.ledger();
  await sealed(ledger, [{}]);
  expect((await verifyLedger(ledger)).differences).toEqual([]);
  await ledger.scripts.redis.zadd(`${ledger.keyPrefix}:${list}`, 3, '77');
  expect((await verifyLedger(ledger)).differences.join('\n')).toMatch(new RegExp(`the list ${list} `));
});

test.each(['ids', 'open', 'feed', 'busy', 'dead', 'sealed', 'changed'])(
  'verify names a batch that is missing in the list %s',
  async (list) => {
    const ledger = await bench.ledger();
    const of = await sealed(ledger, [{}, {}, {}]);
    await feed(ledger, of.no, 2, '');
    await sendAs(of, 1, 'R');
    expect((await verifyLedger(ledger)).differences).toEqual([]);
    const member = list === 'ids' ? `${of.ref.id} ${of.no}` : of.no;
    expect(await ledger.scripts.redis.zrem(`${ledger.keyPrefix}:${list}`, member)).toBe(1);
    expect((await verifyLedger(ledger)).differences.join('\n')).toMatch(new RegExp(`the list ${list} `));
  },
);

test('verify names wrong sums over all batches', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await ledger.scripts.redis.hincrby(ledger.keyPrefix, 'rows', 1);
  await ledger.scripts.redis.hincrby(ledger.keyPrefix, 'paid', 1);
  const { differences } = await verifyLedger(ledger);
  expect(differences.join('\n')).toMatch(/of what is paid has 1 batch with 2 paid orders.*\n.*has 2 rows/);
});
