import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { batchKeys } from '../../../src/ledger/keys.js';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { verifyLedger } from '../../../src/ledger/read/verify.js';
import { openLedger, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tempFolder } from '../../support/temp-folder.js';

const bench = ledgersOnRedis();

/** One order paid, one refused, one planned, each under a reference. */
async function batchOfThree(ledger: RealmLedger) {
  const batch = await sealed(ledger, [{ reference: 'a' }, { reference: 'b' }, { reference: 'c' }]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await sendAs(batch, 2, 'R');
  return { batch, keys: batchKeys(ledger.keyPrefix, batch.no) };
}

test('a correct ledger has no differences, and verify reports how much it checked', async () => {
  const ledger = await bench.ledger();
  await batchOfThree(ledger);
  expect(await verifyLedger(ledger)).toEqual({ batches: 1, orders: 3, differences: [], unchecked: [] });
});

describe('verify names each inconsistency', () => {
  const redis = (ledger: RealmLedger) => ledger.scripts.redis;
  type Batch = Awaited<ReturnType<typeof batchOfThree>>;
  const FAULTS: [string, (ledger: RealmLedger, found: Batch) => Promise<unknown>, RegExp][] = [
    ['a counter', (l, { keys }) => redis(l).hincrby(keys.counters, 'c:P', 1), /2 counted in P, 1 found/],
    ['a sum', (l, { keys }) => redis(l).hincrby(keys.counters, 't:P', 7), /sum 12 in P, 5 found/],
    [
      'a record',
      (l, { keys }) => redis(l).hset(keys.records(0), '1', 'Z|?'),
      /record of order 1 cannot be read/,
    ],
    ['a lost record', (l, { keys }) => redis(l).hdel(keys.records(0), '1'), /1 counted in P, 0 found/],
    ['a plan block', (l, { keys }) => redis(l).del(keys.plan(0)), /block 0 of its plan is not there/],
    ['attention', (l, { keys }) => redis(l).zrem(keys.attention, '2'), /attention lists/],
    ['a list', (l, { keys }) => redis(l).zrem(keys.due, '3'), /order 3 is planned and in no list/],
    ['a day', (l) => redis(l).del(`${l.keyPrefix}:days`), /days say \{\}, orders say/],
    ['an account', (l) => redis(l).hset(`${l.keyPrefix}:held`, 'tea:2026', '5'), /accounts say/],
    ['a hold', (l) => redis(l).hset(`${l.keyPrefix}:holders`, '1001', '1:1'), /holds are \{"1001":"1:1"\}/],
    ['open', (l, { batch }) => redis(l).zrem(`${l.keyPrefix}:open`, batch.no), /is not open/],
    [
      'a reference',
      async (l) => redis(l).del(await redis(l).keys(`${l.keyPrefix}:ref:*`)),
      /reference of paid order 1:1 is not spent by it/,
    ],
    [
      'a reference that no order has',
      (l) => redis(l).hset(`${l.keyPrefix}:ref:00ff`, 'ten bytes!', 'digest:1:3'),
      /3 references are spent in the name of batch no. 1, and its orders account for 2/,
    ],
    [
      'a batch whose references are left',
      async (l, { keys }) => {
        const all = await redis(l).keys(`${keys.meta}:*`);
        await redis(l).del(keys.meta, `${l.keyPrefix}:batches`, ...all);
      },
      /2 references in the name of batch no. 1, which is not in the store/,
    ],
    ['a state', (l, { keys }) => redis(l).hdel(keys.meta, 'state'), /no batch has that state/],
    [
      'a malformed reference',
      async (l) => {
        for (const key of await redis(l).keys(`${l.keyPrefix}:ref:*`))
          for (const field of await redis(l).hkeysBuffer(key)) await redis(l).hset(key, field, 'what');
      },
      /what holds the reference of order 1 cannot be read/,
    ],
    [
      'the list of batches',
      (l) => redis(l).del(`${l.keyPrefix}:batches`),
      /no. 1 is in the store and in no list/,
    ],
    ['a batch', (l, { keys }) => redis(l).del(keys.meta), /it is listed, and its hash is not there/],
    ['a manifest', (l, { keys }) => redis(l).hdel(keys.meta, 'manifest'), /its manifest is not there/],
    ['the realm', (l) => redis(l).del(l.keyPrefix), /0 batches counted, and there is no. 1/],
    [
      'the number of moves',
      async (l) => {
        await redis(l).hset(`${l.keyPrefix}:looked`, 'folder', '28');
        await redis(l).hset(l.keyPrefix, 'seq', '27');
      },
      /ends at move 27, and a process has seen move 28/,
    ],
    ['a stray open batch', (l) => redis(l).zadd(`${l.keyPrefix}:open`, 1, '77'), /no. 77 is open/],
  ];

  test.each(FAULTS)('%s', async (_, damage, said) => {
    const ledger = await bench.ledger();
    const found = await batchOfThree(ledger);
    await damage(ledger, found);
    const { differences } = await verifyLedger(ledger);
    expect(differences.join('\n')).toMatch(said);
  });
});

test('a batch that moves while it is read is never a difference, and one that moves at every look is named', async () => {
  const ledger = await bench.ledger();
  const lines = Array.from({ length: 300 }, (_, i) => ({ reference: `m-${i}` }));
  const batch = await sealed(ledger, lines);
  const still = await sealed(ledger, [{ reference: 'still' }], { id: 'still' });
  await feedAll(batch);
  let [index, named] = [1, 0];
  const moving = (async () => {
    for (; index <= lines.length; index++) await sendAs(batch, index, index % 3 === 0 ? 'R' : 'P');
  })();
  while (index <= lines.length) {
    const { differences, unchecked, batches } = await verifyLedger(ledger);
    expect(differences).toEqual([]);
    expect(batches).toBeGreaterThanOrEqual(1);
    if (unchecked.some((what) => what.startsWith(`batch ${batch.ref.id}: it moved`))) named += 1;
    expect(unchecked.join()).not.toContain(still.ref.id);
  }
  await moving;
  expect(named).toBeGreaterThan(0);
  expect(await verifyLedger(ledger)).toMatchObject({ batches: 2, differences: [], unchecked: [] });
});

test('an archived batch is checked by its file: a damaged file is a difference, a missing one is only unchecked', async () => {
  const folder = await tempFolder();
  const plain = await bench.ledger();
  const scripts = new ScriptClient(plain.scripts.redis, 10_000, () => {}, { archiveFolder: folder });
  const ledger = openLedger(scripts, plain.realm);
  const batch = await sealed(plain, [{ reference: 'a' }, { reference: 'b' }]);
  await feedAll(batch);
  for (const index of [1, 2]) await sendAs(batch, index, 'P');
  await archiveBatch({ ...batch.ref, ledger }, folder);
  expect(await verifyLedger(ledger, { archives: 'here' })).toMatchObject({
    orders: 2,
    differences: [],
    unchecked: [],
  });
  const file = join(folder, ledger.id, `${batch.ref.id}.alm`);
  await appendFile(file, 'more');
  const damaged = await verifyLedger(ledger, { archives: 'here' });
  expect(damaged.differences.join()).toContain('its archive cannot be read');
  await rm(file);
  const elsewhere = await verifyLedger(ledger);
  expect(elsewhere.differences).toEqual([]);
  expect(elsewhere.unchecked.join()).toContain(batch.ref.id);
  expect((await verifyLedger(ledger, { archives: 'here' })).differences.join()).toContain(batch.ref.id);
});
