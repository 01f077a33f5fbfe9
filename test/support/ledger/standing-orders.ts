import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import { waitingOf } from '../../../src/operations/batches/waiting.js';
import {
  type LedgersOnRedis,
  type Line,
  type SealOptions,
  sealed,
  type TestBatch,
} from './ledgers-on-redis.js';
import { namedOrders, openStates } from './named-orders.js';
import { feedAll } from './order-moves.js';
import { NO_PROFILES } from './realm-profile.js';

/** Sessions, heartbeats and fed batches for tests of the reasons that are reported for waiting orders. */
export function standingOrders(bench: LedgersOnRedis) {
  const sessions: Session[] = [];
  const workers = new Map<TestBatch, Session>();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'almoner-waiting-'));
  });
  afterAll(async () => {
    for (const session of sessions) await session.close();
    await rm(folder, { recursive: true });
  });

  async function session(ledger: RealmLedger, kind = 'worker'): Promise<Session> {
    const opened = await Session.open(kind, folder);
    sessions.push(opened);
    await opened.register(ledger);
    await beat(ledger, opened.id);
    return opened;
  }

  /** A session on another machine, which this machine cannot probe. */
  async function elsewhere(ledger: RealmLedger, seenAgoMs: number): Promise<string> {
    const { entry } = await session(ledger);
    const far = {
      ...entry,
      machine: 'far',
      boot: 'another',
      socket: '/nowhere/sessions/x.sock',
      place: '1:1',
    };
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:sessions`, entry.id, JSON.stringify(far));
    await beat(ledger, entry.id, seenAgoMs);
    return entry.id;
  }

  /** A fed batch with a live worker. */
  async function working(
    ledger: RealmLedger,
    lines: readonly Line[],
    options: SealOptions = {},
  ): Promise<TestBatch> {
    const worker = await session(ledger);
    const batch = await sealed(ledger, lines, options);
    await feedAll(batch);
    workers.set(batch, worker);
    return batch;
  }

  const running = async (count: number, options: SealOptions = {}, owner = '') =>
    working(await bench.ledger(), rows(count), { ...options, owner });
  const workerOf = (batch: TestBatch) => workers.get(batch);
  const by = (batch: TestBatch) => ({ session: workerOf(batch)?.id ?? '' });
  return { session, elsewhere, working, running, workerOf, by };
}

export async function beat(ledger: RealmLedger, id: string, agoMs = 0): Promise<void> {
  await ledger.scripts.redis.hset(`${ledger.keyPrefix}:seen`, id, Date.now() - agoMs);
}

/** Amounts in powers of two, so that every sum identifies its orders. */
export const rows = (count: number): Line[] => Array.from({ length: count }, (_, i) => ({ tokens: 2 ** i }));
export const sumOf = (...indexes: number[]) =>
  String(indexes.reduce((sum, index) => sum + 2 ** (index - 1), 0));

export const reasons = async ({ ref }: TestBatch) =>
  (await waitingOf(ref, NO_PROFILES)).map(({ why, orders, tokens, next }) => ({ why, orders, tokens, next }));

/**
 * Checks that the counts agree and returns the moving orders: every open order either moves or is reported under
 * exactly one reason.
 */
export async function moving(batch: TestBatch): Promise<number[]> {
  const [named, open, list] = await Promise.all([
    namedOrders(batch.ref),
    openStates(batch.ref),
    waitingOf(batch.ref, NO_PROFILES),
  ]);
  expect(named.size).toBe(list.reduce((sum, { orders }) => sum + orders, 0));
  for (const { why, orders, tokens } of list) {
    const its = [...named].filter(([, because]) => because === why).map(([index]) => index);
    expect({ why, orders, tokens }).toEqual({ why, orders: its.length, tokens: sumOf(...its) });
  }
  return [...open.keys()].filter((index) => !named.has(index));
}
