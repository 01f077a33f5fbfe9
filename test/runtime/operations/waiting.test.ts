import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Books } from '../../../src/ledger/books.js';
import { readFence, sayDisarmed } from '../../../src/ledger/fence.js';
import { batchKeys } from '../../../src/ledger/keys.js';
import { Session } from '../../../src/ledger/sessions.js';
import { workersAtWork } from '../../../src/ledger/signs.js';
import { askProbe, cancelBatch, haltRealm, pauseBatch } from '../../../src/ledger/steering.js';
import { batchStatus } from '../../../src/runtime/operations/batch-status.js';
import { waitingOf } from '../../../src/runtime/operations/waiting.js';
import { type Line, ledgerBench, type SealOptions, sealed, type TestBatch } from '../../support/ledger.js';
import { namedOrders, openStates } from '../../support/named-orders.js';
import { audit, begun, claimFor, feedAll, held, sendAs, settleAs, WHY } from '../../support/order-moves.js';
import { testProfile } from '../../support/realm-profile.js';
import { load } from '../config/workbench.js';

/** Every cause for which orders stand still, on a real ledger: named with exactly its orders and their tokens. */
const bench = ledgerBench();
const sessions: Session[] = [];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-waiting-'));
});
afterAll(async () => {
  for (const session of sessions) await session.close();
  await rm(folder, { recursive: true });
});

async function session(books: Books, kind = 'worker'): Promise<Session> {
  const opened = await Session.open(kind, folder);
  sessions.push(opened);
  await opened.register(books);
  await beat(books, opened.id);
  return opened;
}

async function beat(books: Books, id: string, agoMs = 0): Promise<void> {
  await books.caller.redis.hset(`${books.realm}:seen`, id, Date.now() - agoMs);
}

/** A session of a machine that cannot be asked from here. */
async function elsewhere(books: Books, seenAgoMs: number): Promise<string> {
  const { entry } = await session(books);
  const far = { ...entry, machine: 'far', boot: 'another', socket: '/nowhere/sessions/x.sock', place: '1:1' };
  await books.caller.redis.hset(`${books.realm}:sessions`, entry.id, JSON.stringify(far));
  await beat(books, entry.id, seenAgoMs);
  return entry.id;
}

/** Amounts of which every sum tells which orders it is of. */
const rows = (count: number): Line[] => Array.from({ length: count }, (_, i) => ({ tokens: 2 ** i }));
const sumOf = (...indexes: number[]) => String(indexes.reduce((sum, index) => sum + 2 ** (index - 1), 0));

async function running(count: number, options: SealOptions = {}, owner?: string): Promise<TestBatch> {
  const books = await bench.books();
  const worker = await session(books);
  const batch = await sealed(books, rows(count), { ...options, owner: owner ?? '' });
  await feedAll(batch);
  sentBy.set(batch, worker.id);
  return batch;
}
const sentBy = new Map<TestBatch, string>();
const by = (batch: TestBatch) => ({ session: sentBy.get(batch) ?? '' });

const told = async ({ ref }: TestBatch) =>
  (await waitingOf(ref)).map(({ why, orders, tokens, next }) => ({ why, orders, tokens, next }));
const secondsTo = (time: string | null | undefined) => (Date.parse(time ?? '') - Date.now()) / 1000;

/** Counts tie: what is not final moves or is named, each under one cause, by the same numbers that are told. */
async function moving(batch: TestBatch): Promise<number[]> {
  const [named, open, list] = await Promise.all([
    namedOrders(batch.ref),
    openStates(batch.ref),
    waitingOf(batch.ref),
  ]);
  expect(named.size).toBe(list.reduce((sum, { orders }) => sum + orders, 0));
  for (const { why, orders, tokens } of list) {
    const its = [...named].filter(([, because]) => because === why).map(([index]) => index);
    expect({ why, orders, tokens }).toEqual({ why, orders: its.length, tokens: sumOf(...its) });
  }
  return [...open.keys()].filter((index) => !named.has(index));
}

describe('nothing is named', () => {
  test('while a living worker sends and is fed', async () => {
    const batch = await running(6);
    await begun(batch, 1, by(batch));
    await sendAs(batch, 2, 'P', by(batch));
    expect(await told(batch)).toEqual([]);
    expect(await moving(batch)).toEqual([1, 3, 4, 5, 6]);
  });
});

describe('the whole batch', () => {
  test('no worker: never there, gone in order, or a run’s process that is dead', async () => {
    const books = await bench.books();
    const batch = await sealed(books, rows(3));
    const all = { orders: 3, tokens: sumOf(1, 2, 3) };
    expect(await told(batch)).toEqual([{ ...all, why: 'no-worker', next: 'almoner worker' }]);
    const worker = await session(books);
    expect(await told(batch)).toEqual([]);
    await worker.deregister(books);
    const [gone] = await waitingOf(batch.ref);
    expect(gone).toMatchObject({ ...all, why: 'no-worker', until: null });
    expect(secondsTo(gone?.since)).toBeGreaterThan(-30);

    const runner = await session(books, 'run');
    const run = await sealed(books, rows(2), { id: 'a-run', owner: runner.id });
    expect(await told(run)).toEqual([]);
    await runner.close();
    expect(await told(run)).toMatchObject([{ why: 'no-worker', next: 'almoner resume a-run' }]);
    expect(await batchStatus(run.ref)).toMatchObject({ state: 'paused', etaSeconds: null });
    expect(await moving(run)).toEqual([]);
  });

  test('an unknown of a cancelled batch, and nobody there to resolve it', async () => {
    const batch = await running(3, { manifest: { certainty: 'idempotent' } });
    await sendAs(batch, 2, 'u', by(batch));
    await cancelBatch(batch.books, batch.no, audit('cancelled'));
    expect(await told(batch)).toMatchObject([{ why: 'settle-time', orders: 1 }]);
    await sessions.at(-1)?.deregister(batch.books);
    expect(await told(batch)).toMatchObject([{ why: 'no-worker', orders: 1, tokens: sumOf(2) }]);
  });

  test('paused and halted: since then, with the command', async () => {
    const batch = await running(4);
    await sendAs(batch, 1, 'P', by(batch));
    const sent = await begun(batch, 2, by(batch));
    await pauseBatch(batch.books, batch.no, WHY, audit('paused'));
    const [paused, ...more] = await waitingOf(batch.ref);
    expect(more).toEqual([]);
    expect(paused).toMatchObject({ why: 'paused', orders: 2, message: WHY.message, until: null });
    expect(secondsTo(paused?.since)).toBeGreaterThan(-30);
    // What is being sent finishes.
    expect(await moving(batch)).toEqual([2]);
    await settleAs(batch, 2, 'P', sent);

    const other = await running(2);
    await haltRealm(other.books, { ...WHY, code: 'ALM_KEY_REFUSED' });
    const [halted] = await waitingOf(other.ref);
    expect(halted).toMatchObject({ why: 'halted', orders: 2, next: `almoner resume ${other.ref.id}` });
    expect(secondsTo(halted?.since)).toBeGreaterThan(-30);
  });

  test('confirmed for another address than the profile has now: that, and not that no worker runs', async () => {
    const books = await bench.books();
    const batch = await sealed(books, rows(2));
    const { realmId } = books.owner;
    const edited = { profiles: [testProfile({ name: 'meadow', baseUrl: 'http://127.0.0.1:2', realmId })] };
    const config = { ...load({}), ...edited };
    expect(await batchStatus(batch.ref, { config })).toMatchObject({
      state: 'halted',
      reason: { code: 'ALM_BATCH_TERMS_CHANGED' },
      waiting: [{ why: 'halted', orders: 2, message: expect.stringContaining('127.0.0.1:2') }],
    });
    // A worker of the books has the profile that fits.
    await session(books);
    expect(await batchStatus(batch.ref, { config })).toMatchObject({ state: 'planned', waiting: [] });
  });

  test('a store that was restarted: with its reason where a person must act, and without while it is mended', async () => {
    const batch = await running(2);
    await sendAs(batch, 1, 'P', by(batch));
    await batch.books.caller.redis.hset(batch.books.realm, 'armed', 'another-server');
    expect((await readFence(batch.books)).armed).toBe(false);
    expect(await told(batch)).toMatchObject([{ why: 'disarmed', orders: 1, next: null }]);
    await sayDisarmed(batch.books, { ...WHY, code: 'ALM_LEDGER_DISARMED' });
    expect(await told(batch)).toMatchObject([{ why: 'disarmed', orders: 1, next: 'almoner recover' }]);
  });

  test('payments that journals know and that are not put back yet', async () => {
    const batch = await running(2);
    await batch.books.caller.redis.hset(`${batch.books.realm}:parked`, batch.ref.id, '1');
    expect(await told(batch)).toMatchObject([{ why: 'parked', orders: 2 }]);
  });

  test('an open breaker: since when, and when it gives up; a person need do nothing', async () => {
    const batch = await running(3, { manifest: { certainty: 'idempotent' } });
    await sendAs(batch, 1, 'u', by(batch));
    await batch.books.caller.redis.hset(batch.books.realm, 'breaker', Date.now() - 60_000);
    await askProbe(batch.books, 1_000, 900_000, WHY);
    const [open, ...more] = await waitingOf(batch.ref);
    expect(more).toEqual([]);
    expect(open).toMatchObject({ why: 'breaker', orders: 3, tokens: sumOf(1, 2, 3), next: null });
    expect(secondsTo(open?.until)).toBeGreaterThan(800);
    expect((await batchStatus(batch.ref)).etaSeconds).toBeNull();
  });
});

describe('some of it', () => {
  test('a realm that asked to wait', async () => {
    const batch = await running(3);
    const { caller, realm } = batch.books;
    await caller.redis.hset(`${realm}:pace`, 'hold', Date.now() + 60_000, 'holdMs', 90_000);
    const [hold] = await waitingOf(batch.ref);
    expect(hold).toMatchObject({ why: 'hold', orders: 3, next: null });
    expect(secondsTo(hold?.until)).toBeGreaterThan(50);
    // Two seconds are no standstill.
    await caller.redis.hset(`${realm}:pace`, 'hold', Date.now() + 2_000);
    expect(await told(batch)).toEqual([]);
  });

  test('unknowns until their resend, planned ones until their next attempt, and the rest moves', async () => {
    const batch = await running(6, { manifest: { certainty: 'idempotent' } });
    await sendAs(batch, 1, 'u', { ...by(batch), dueInMs: 40_000 });
    await sendAs(batch, 2, 'w', { ...by(batch), dueInMs: 20_000 });
    await sendAs(batch, 3, 'w', { ...by(batch), dueInMs: 1_000 });
    await sendAs(batch, 4, 'D', by(batch));
    const list = await waitingOf(batch.ref);
    expect(list.map(({ why, tokens }) => [why, tokens])).toEqual([
      ['settle-time', sumOf(1)],
      ['retry', sumOf(2)],
      ['doubt', sumOf(4)],
    ]);
    expect(secondsTo(list[0]?.until)).toBeGreaterThan(30);
    expect(secondsTo(list[1]?.until)).toBeGreaterThan(10);
    expect(list[2]?.next).toBe(`almoner doubt list --batch ${batch.ref.id}`);
    expect(await moving(batch)).toEqual([3, 5, 6]);
  });

  test('an unknown that ends while it is looked at fails no look', async () => {
    const batch = await running(2, { manifest: { certainty: 'idempotent' } });
    await sendAs(batch, 1, 'u', { ...by(batch), dueInMs: 40_000 });
    // Counted a moment ago, and not in the list any more.
    await batch.books.caller.redis.del(batchKeys(batch.books.realm, batch.no).attention);
    expect((await waitingOf(batch.ref)).map(({ why }) => why)).toEqual(['settle-time']);
  });

  test('read-back: the settle time of an unknown, and whoever waits for its member', async () => {
    const books = await bench.books();
    await session(books);
    const manifest = { certainty: 'readback' } as const;
    await books.caller.redis.hset(books.realm, 'settleMs', 1_200_000);
    const lines = rows(5).map((line, i) => ({ ...line, member: i === 3 ? '999' : '77' }));
    const batch = await sealed(books, lines, { manifest });
    await feedAll(batch);
    sentBy.set(batch, sessions.at(-1)?.id ?? '');
    const hold = await held(batch, 1);
    const of = await begun(batch, 1, { ...by(batch), hold });
    for (const index of [2, 3]) expect(await claimFor(batch, index)).toEqual({ answer: 'held' });
    // Behind an order that is being sent they only queue.
    expect(await moving(batch)).toEqual([1, 2, 3, 4, 5]);
    await settleAs(batch, 1, 'u', of);
    const list = await waitingOf(batch.ref);
    expect(list.map(({ why, tokens }) => [why, tokens])).toEqual([
      ['settle-time', sumOf(1)],
      ['member-held', sumOf(2, 3)],
    ]);
    for (const { until } of list) expect(secondsTo(until)).toBeGreaterThan(1_100);
    expect(list[1]?.message).toContain(`${batch.ref.id}-1`);
    expect(await moving(batch)).toEqual([4, 5]);
    expect((await batchStatus(batch.ref)).etaSeconds ?? 9_999).toBeGreaterThan(1_100);
  });

  test('strictly one after the other, behind one that is unknown', async () => {
    const batch = await running(3, { manifest: { certainty: 'idempotent', inOrder: true } });
    await sendAs(batch, 1, 'u', { ...by(batch), dueInMs: 30_000 });
    expect(await told(batch)).toMatchObject([
      { why: 'settle-time', orders: 1 },
      { why: 'in-order', orders: 2, tokens: sumOf(2, 3) },
    ]);
  });
});

describe('what a session was sending', () => {
  test('lost with its machine: named within a minute, with exactly its orders; heard again, it is not', async () => {
    const batch = await running(5);
    const lost = await elsewhere(batch.books, 10_000);
    await begun(batch, 1, by(batch));
    for (const index of [2, 4]) await begun(batch, index, { session: lost });
    expect(await told(batch)).toEqual([]);
    await beat(batch.books, lost, 50_000);
    const [missing, ...more] = await waitingOf(batch.ref);
    expect(more).toEqual([]);
    expect(missing).toMatchObject({
      why: 'missing-session',
      orders: 2,
      tokens: sumOf(2, 4),
      until: null,
      next: `almoner recover --accept-missing ${lost}`,
    });
    expect(missing?.message).toContain('machine far');
    expect(await moving(batch)).toEqual([1, 3, 5]);
    expect((await batchStatus(batch.ref)).etaSeconds).toBeNull();
    await beat(batch.books, lost);
    expect(await told(batch)).toEqual([]);
  });

  test('never heard of since it was registered, it counts from then', async () => {
    const batch = await running(1);
    const lost = await elsewhere(batch.books, 0);
    await begun(batch, 1, { session: lost });
    const { caller, realm } = batch.books;
    await caller.redis.hdel(`${realm}:seen`, lost);
    expect(await told(batch)).toEqual([]);
    const entry = JSON.parse((await caller.redis.hget(`${realm}:sessions`, lost)) ?? '');
    const old = { ...entry, startedAt: Date.now() - 60_000 };
    await caller.redis.hset(`${realm}:sessions`, lost, JSON.stringify(old));
    expect(await told(batch)).toMatchObject([{ why: 'missing-session', orders: 1 }]);
  });

  test('dead and not taken over, or frozen', async () => {
    const batch = await running(3);
    const dead = await session(batch.books);
    await begun(batch, 1, { session: dead.id });
    await dead.close();
    expect(await told(batch)).toMatchObject([
      { why: 'dead-session', orders: 1, tokens: sumOf(1), next: 'almoner worker' },
    ]);
    const frozen = await session(batch.books);
    await begun(batch, 2, { session: frozen.id });
    await beat(batch.books, frozen.id, 60_000);
    expect(await told(batch)).toMatchObject([
      { why: 'dead-session' },
      {
        why: 'frozen-session',
        orders: 1,
        tokens: sumOf(2),
        next: expect.stringContaining(`kill -CONT ${process.pid} where`),
      },
    ]);
    expect(await moving(batch)).toEqual([3]);
  });
});

test('a worker that is silent, dead or of another kind is not counted among those that run', async () => {
  const books = await bench.books();
  const here = await session(books);
  await session(books, 'run');
  const far = await elsewhere(books, 30_000);
  expect((await workersAtWork(books)).toSorted()).toEqual([here.id, far].toSorted());
  await beat(books, far, 50_000);
  expect(await workersAtWork(books)).toEqual([here.id]);
  await here.close();
  expect(await workersAtWork(books)).toEqual([]);
});

test('a large batch is told of by its counters: no row is read that was not dispatched', async () => {
  const books = await bench.books();
  const batch = await sealed(
    books,
    Array.from({ length: 600 }, () => ({})),
  );
  const keys = batchKeys(books.realm, batch.no);
  for (let block = 0; block < 3; block++) await books.caller.redis.del(keys.plan(block));
  expect(await told(batch)).toMatchObject([{ why: 'no-worker', orders: 600, tokens: '3000' }]);
});
