import { expect, test } from 'vitest';
import type { Person } from '../../../src/core/people.js';
import {
  approveBatch,
  changeRequirement,
  keepRequirement,
  readGate,
  readRequirement,
  registerRealm,
  withdrawApprovals,
} from '../../../src/ledger/moves/gate.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { openLedger, storeNowMs } from '../../../src/ledger/realm-ledger.js';
import { disarm } from '../../../src/ledger/sessions/fence.js';
import { feed } from '../../support/ledger/feed-one.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, sendAs } from '../../support/ledger/order-moves.js';

/** What the gate goes by may be forgotten by a store, or end with somebody's token: none of it lets anything begin. */
const bench = ledgersOnRedis();
const OVER_100 = { overTokens: 100, overRows: null };
const DAY_MS = 86_400_000;

async function approveAs(batch: { readonly ref: Parameters<typeof readBatch>[0] }, who: string) {
  const seal = (await readBatch(batch.ref))?.sealHash ?? '';
  return approveBatch(batch.ref, { who, seal }, { go: audit('approved'), takenUp: audit('took it up') });
}

test('nothing begins by the word of a process that knew another store', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{ tokens: 500 }]);
  const worker = openLedger(ledger.scripts, ledger.realm, { requirement: OVER_100 });
  Object.assign(worker.mark, { era: 'of before', seen: 7, session: 'w' });
  expect(await feed(worker, batch.no, 10, '')).toEqual([]);
  expect(await readBatch(batch.ref)).toMatchObject({ state: 'planned', startedAt: null });
});

test('what one person cleared alone before a loss was known counts no more after it', async () => {
  const ledger = await bench.ledger();
  const by = (who: string, tokens: number, id: string) =>
    sealed(ledger, [{ tokens }], { id, prepared: { who, requirement: OVER_100 } });
  const early = await by('ada', 100, 'early');
  const begun = await by('ben', 100, 'begun');
  await feedAll(begun);
  await sendAs(begun, 1, 'R');
  expect((await readGate(early.ref)).closed).toBeNull();
  await disarm(ledger, { at: 1, seen: 9, found: 0, by: 'w', attempts: 1 }, 'anyway');
  await ledger.scripts.redis.hdel(ledger.keyPrefix, 'seq');
  expect((await readGate(early.ref)).closed).toBe('approval');
  expect(await feed(ledger, early.no, 10, '')).toEqual([]);
  const retried = { who: 'ben', why: 'mended', at: 1, nonce: 'one' };
  expect(await retryOrder(begun.ref, 1, begun.row(1), retried)).toEqual({
    why: expect.stringContaining('second person'),
  });
});

test('a go for the dead letters of a batch that is done ends with its giver’s token', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{ tokens: 500 }]);
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  expect(await readBatch(batch.ref)).toMatchObject({ state: 'done' });
  await keepRequirement(ledger, OVER_100);
  expect(await approveAs(batch, 'ada')).toBe('taken-up');
  expect(await approveAs(batch, 'ben')).toBe('approved');
  expect(await withdrawApprovals(ledger.scripts, 'ben')).toEqual([batch.ref.id]);
  const by = { who: 'ada', why: 'mended', at: 1, nonce: 'one' };
  expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toEqual({
    why: expect.stringContaining('second person'),
  });
});

test('a clock that strays and comes back leaves the day’s account as it was', async () => {
  const ledger = await bench.ledger();
  const { redis } = ledger.scripts;
  const key = `${ledger.keyPrefix}:prepared:ada`;
  const by = (tokens: number, id: string) =>
    sealed(ledger, [{ tokens }], { id, prepared: { who: 'ada', requirement: OVER_100 } });
  // As the clock saw it that was two days ahead for a moment: the entries of today are of long ago.
  await redis.zadd(key, (await storeNowMs(ledger)) - 2 * DAY_MS, 'before 1 90');
  await by(5, 'ahead');
  expect(await redis.zrange(key, 0, '-1')).toContain('before 1 90');
  await redis.zadd(key, await storeNowMs(ledger), 'before 1 90');
  expect((await readGate((await by(6, 'back')).ref)).closed).toBe('approval');
  // What is of no day any more does not grow without end.
  for (let i = 0; i < 1_010; i++) await redis.zadd(key, i, `old${i} 1 1`);
  await by(1, 'many');
  expect(await redis.zcard(key)).toBeLessThanOrEqual(1_000);
  expect(await redis.zrange(key, 0, '-1')).toContain('before 1 90');
});

test('what is required of a realm id is required in all its books, old ones and new', async () => {
  const ledger = await bench.ledger();
  const at = (port: number) =>
    openLedger(ledger.scripts, { ...ledger.realm, baseUrl: `http://127.0.0.1:${port}` });
  const other = at(2);
  const batch = await sealed(ledger, [{ tokens: 500 }]);
  const dead = await sealed(ledger, [{ tokens: 500 }], { id: 'dead' });
  await feedAll(dead);
  await sendAs(dead, 1, 'R');
  await keepRequirement(other, OVER_100);
  expect(await feed(ledger, batch.no, 10, '')).toEqual([]);
  const by = { who: 'ada', why: 'mended', at: 1, nonce: 'one' };
  expect(await retryOrder(dead.ref, 1, dead.row(1), by)).toEqual({
    why: expect.stringContaining('second person'),
  });
  const later = at(3);
  await keepRequirement(later, { overTokens: null, overRows: 7 });
  for (const one of [ledger, other, later])
    expect(await readRequirement(one)).toEqual({ overTokens: 100, overRows: 7 });
});

test('two people lower it in all books, also in those that came after the first one’s word', async () => {
  const ledger = await bench.ledger();
  const other = openLedger(ledger.scripts, { ...ledger.realm, baseUrl: 'http://127.0.0.1:2' });
  await keepRequirement(ledger, { overTokens: 10, overRows: 5 });
  const wanted = OVER_100;
  const approver = (name: string): Person => ({ name, roles: ['approver'] });
  expect(await changeRequirement(ledger, wanted, approver('ada'))).toMatchObject({ answer: 'asked' });
  await registerRealm(other);
  expect(await readRequirement(other)).toEqual({ overTokens: 10, overRows: 5 });
  expect(await changeRequirement(ledger, wanted, approver('ben'))).toEqual({
    answer: 'changed',
    first: 'ada',
    now: wanted,
  });
  await registerRealm(other);
  for (const one of [ledger, other]) expect(await readRequirement(one)).toEqual(wanted);
});
