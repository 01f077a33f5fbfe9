import { expect, test } from 'vitest';
import { BatchViews, type SeenBatch } from '../../src/desk/live/batch-views.js';
import { discardOrder } from '../../src/ledger/moves/retry.js';
import { pauseBatch } from '../../src/ledger/moves/steer.js';
import { approveBatch } from '../support/ledger/approve-batch.js';
import { countedCalls } from '../support/ledger/counted-calls.js';
import { feed } from '../support/ledger/feed-one.js';
import { ledgersOnRedis, limitedTo, START, sealed } from '../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, sendAs, WHY } from '../support/ledger/order-moves.js';

const bench = ledgersOnRedis();

const statesOf = (seen: readonly SeenBatch[]) =>
  Object.fromEntries(seen.map(({ ref, view }) => [ref.id, view.state]));

async function endedBatches(ledger: Awaited<ReturnType<typeof bench.ledger>>, count: number) {
  for (let i = 0; i < count; i++) {
    const batch = await sealed(ledger, [{}], { id: `ended-${i}` });
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
  }
}

/** Only those of one realm: the store of this file has others. */
async function look(views: BatchViews, realmId: string): Promise<SeenBatch[]> {
  return (await views.list()).filter(({ ref }) => ref.ledger.realm.realmId === realmId);
}

test('of batches that have ended only the newest are seen, those that somebody waits for, and those of late', async () => {
  const ledger = await bench.ledger();
  const { realmId } = ledger.realm;
  const refused = await sealed(ledger, [{}], { id: 'refused' });
  await feedAll(refused);
  await sendAs(refused, 1, 'R');
  await endedBatches(ledger, 30);
  const views = new BatchViews(ledger.scripts);
  const seen = await look(views, realmId);
  expect(seen.map(({ ref }) => ref.id)).toEqual([
    'refused',
    ...Array.from({ length: 20 }, (_, i) => `ended-${i + 10}`),
  ]);
  await discardOrder(refused.ref, 1, { who: 'ada', why: 'known', at: START });
  expect((await look(views, realmId)).map(({ ref }) => ref.id)).not.toContain('refused');
  const late = new BatchViews(ledger.scripts);
  late.endedSince = 0;
  expect(await look(late, realmId)).toHaveLength(31);
});

test('only what changed is read again, and a look at which nothing did asks the same however many batches there are', async () => {
  const ledger = await bench.ledger();
  const { realmId } = ledger.realm;
  const one = await sealed(ledger, [{}, {}], { id: 'one' });
  await sealed(ledger, [{}], { id: 'other' });
  const views = new BatchViews(ledger.scripts);
  const before = await look(views, realmId);
  const calls = countedCalls(ledger.scripts.redis);
  const again = await look(views, realmId);
  const few = calls.take();
  expect(again.map(({ view }) => view)).toEqual(before.map(({ view }) => view));
  for (const [at, { view }] of again.entries()) expect(view).toBe(before[at]?.view);
  await pauseBatch(one.ref, WHY, audit('paused'));
  const after = await look(views, realmId);
  expect(statesOf(after)).toEqual({ one: 'paused', other: 'planned' });
  expect(after.find(({ ref }) => ref.id === 'other')?.view).toBe(
    before.find(({ ref }) => ref.id === 'other')?.view,
  );
  await endedBatches(ledger, 40);
  await look(views, realmId);
  calls.take();
  await look(views, realmId);
  expect(calls.take()).toBe(few);
  calls.end();
});

test('while no batch changes, the list is the very same one, whatever else does', async () => {
  const ledger = await bench.ledger();
  const one = await sealed(ledger, [{}], { id: 'one' });
  const views = new BatchViews(ledger.scripts);
  const before = await views.list();
  expect(await views.list()).toBe(before);
  const other = await bench.ledger();
  await sealed(other, [{}], { id: 'elsewhere' });
  const more = await views.list();
  expect(more).toHaveLength(before.length + 1);
  await pauseBatch(one.ref, WHY, audit('paused'));
  const paused = await views.list();
  expect(paused).not.toBe(more);
  expect(await views.list()).toBe(paused);
});

test('a view follows what no change of its batch tells: an approval that is needed, and a realm that is halted', async () => {
  const ledger = await bench.ledger();
  const { realmId } = ledger.realm;
  const batch = await sealed(ledger, [{}], { id: 'approved', prepared: { who: 'ada' } });
  const views = new BatchViews(ledger.scripts);
  expect(statesOf(await look(views, realmId))).toEqual({ approved: 'planned' });
  // Its sender requires what its preparer did not.
  await feed(limitedTo(ledger, { overTokens: 1, overRows: null }), batch.no, 1, '');
  const [asking] = await look(views, realmId);
  expect(asking?.view.gate?.closed).toBe('approval');
  await approveBatch(batch.ref, 'ben');
  expect((await look(views, realmId))[0]?.view.gate?.closed).toBeNull();
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'halt', JSON.stringify(WHY));
  expect(statesOf(await look(views, realmId))).toEqual({ approved: 'halted' });
});

test('a store that went back is read anew', async () => {
  const ledger = await bench.ledger();
  const { realmId } = ledger.realm;
  await sealed(ledger, [{}], { id: 'kept' });
  const views = new BatchViews(ledger.scripts);
  const later = await sealed(ledger, [{}], { id: 'lost' });
  expect(Object.keys(statesOf(await look(views, realmId)))).toEqual(['kept', 'lost']);
  const { redis } = ledger.scripts;
  await redis.del(`${ledger.keyPrefix}:b:${later.no}`);
  for (const list of ['open', 'changed', 'ids', 'feed', 'sealed'])
    await redis.zrem(`${ledger.keyPrefix}:${list}`, later.no);
  await redis.hset(ledger.keyPrefix, 'changes', 1);
  expect(Object.keys(statesOf(await look(views, realmId)))).toEqual(['kept']);
});
