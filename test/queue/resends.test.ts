import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { onFailPoint } from '../../src/core/fail-point.js';
import { fileName } from '../../src/ledger/journal/journal.js';
import { batchKeys } from '../../src/ledger/keys.js';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { readDetails, readRecord } from '../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { begin, settleAs } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { startWorkerInProcess } from '../support/ledger/worker-in-process.js';
import { DeafRealm } from '../support/program/deaf-realm.js';
import { until } from '../support/until.js';

/** A worker and a realm that honours keys, with real requests between them. The first requested change hangs. */
const bench = ledgersOnRedis();

const recordOf = (batch: TestBatch) => readRecord(batch.ref, 1);
const inState = (batch: TestBatch, code: string) =>
  until(
    `order 1 to be ${code}`,
    async () => {
      const record = await recordOf(batch);
      return record.code === code ? record : undefined;
    },
    30_000,
  );
const oneOrder = async () =>
  sealed(await bench.ledger(), [{ reference: 'r' }], { manifest: { certainty: 'idempotent' } });
const referenceIsSpent = async (batch: TestBatch) => (await findSpent(batch.ledger, ['r'])).has('r');

describe('a key as old as its life', () => {
  /**
   * Applied, its answer lost, interrupted on Friday, and resumed `ms` later. A negative time means a clock set back.
   */
  async function resumedAfter(ms: number) {
    const batch = await oneOrder();
    const realm = await DeafRealm.start(() => 'hang');
    const profile = { keyLifetimeMs: 60_000, settleMs: 60_000 };
    const friday = await startWorkerInProcess(batch, bench.redis(), realm.url, {
      ...profile,
      attempts: { max: 3, backoffMs: 800, backoffMaxMs: 800 },
    });
    await inState(batch, 'u');
    await friday.stop();
    realm.land();
    const { redis } = batch.ledger.scripts;
    const keys = batchKeys(batch.ledger.keyPrefix, batch.no);
    const fields = ((await redis.hget(keys.records(0), '1')) ?? '').split('|');
    fields[6] = (Number.parseInt(fields[6] ?? '', 36) - ms).toString(36);
    await redis.hset(keys.records(0), '1', fields.join('|'));
    const asked = realm.asked.length;
    await startWorkerInProcess(batch, bench.redis(), realm.url, profile);
    return { batch, realm, asked };
  }

  test('is not resent: the order becomes a doubt, and the realm gets no request', async () => {
    const { batch, realm, asked } = await resumedAfter(60_000);
    await inState(batch, 'D');
    expect(realm.asked).toHaveLength(asked);
    expect(realm.applied).toHaveLength(1);
    expect(
      (await readDetails(batch.ref, 1)).map((one) => ('message' in one ? one.message : '')),
    ).toContainEqual(expect.stringContaining('may have forgotten its key'));
    expect(await referenceIsSpent(batch)).toBe(true);
  });

  test('is not resent if the request might arrive only after its lifetime', async () => {
    const { batch, realm, asked } = await resumedAfter(60_000 - 250);
    await inState(batch, 'D');
    expect(realm.asked).toHaveLength(asked);
  });

  test('is not resent if the clocks disagree about its age', async () => {
    const { batch, realm, asked } = await resumedAfter(-3_600_000);
    await inState(batch, 'D');
    expect(realm.asked).toHaveLength(asked);
    expect(
      (await readDetails(batch.ref, 1)).map((one) => ('message' in one ? one.message : '')),
    ).toContainEqual(expect.stringContaining('clocks disagree'));
  });

  test('and a younger one is: the realm answers it with the payment it made', async () => {
    const { batch, realm } = await resumedAfter(30_000);
    const { keyNumber } = await inState(batch, 'P');
    expect([keyNumber, new Set(realm.asked).size, realm.applied.length]).toEqual([1, 1, 1]);
  });
});

describe('a new key', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('does not inherit the age of the one before it, whichever process ended that one', async () => {
    const batch = await oneOrder();
    const { redis } = batch.ledger.scripts;
    let hanging = Number.POSITIVE_INFINITY;
    const realm = await DeafRealm.start((before) => (before < hanging ? 'hang' : 200));
    const attempts = { max: 3, backoffMs: 1_500, backoffMaxMs: 1_500 };
    await startWorkerInProcess(batch, bench.redis(), realm.url, { attempts });
    await inState(batch, 'u');
    // Another machine resends it after the settle time and gets a definite refusal. The worker may resend it first.
    const other = await until('another machine to resend it', async () => {
      await redis.zadd(batchKeys(batch.ledger.keyPrefix, batch.no).due, 0, '1');
      const answer = await begin(batch, 1, { nonce: 'of-machine-2', keyAgeMaxMs: 60_000 });
      return 'refusal' in answer ? undefined : answer;
    });
    expect(await settleAs(batch, 1, 'R', other, { nonce: 'of-machine-2' })).toMatchObject({ settled: true });
    // The first request with the new key gets no answer either.
    hanging = realm.asked.length + 1;
    // An hour passes.
    const real = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => real() + 3_600_000);
    const by = { who: 'ada', why: null, at: 1, nonce: 'retry' };
    expect(await retryOrder(batch.ref, 1, batch.row(1), by)).toBe('ok');
    expect(await inState(batch, 'P')).toMatchObject({ keyNumber: 2, evidence: 'key' });
    expect(realm.asked.map((key) => key.at(-1))).toEqual(['1', '2', '2']);
  });
});

describe('a refusal of a resend', () => {
  const SETTLE_MS = 1_500;
  const refusing = async (status: number) => {
    const batch = await oneOrder();
    const realm = await DeafRealm.start((before) => (before === 0 ? 'hang' : status));
    await startWorkerInProcess(batch, bench.redis(), realm.url, {
      settleMs: SETTLE_MS,
      keyLifetimeMs: 60_000,
    });
    await until('a refused resend', () => realm.asked.length >= 2);
    return { batch, realm };
  };
  const refusedOnce = (batch: TestBatch) =>
    until('the refusal to be settled', async () => {
      const record = await recordOf(batch);
      return record.attempts >= 2 && record.code !== 's' ? record : undefined;
    });

  test('leaves it unknown, with key and reference, until the first request can no longer arrive', async () => {
    const { batch, realm } = await refusing(404);
    expect(await refusedOnce(batch)).toMatchObject({ code: 'u', keyNumber: 1 });
    expect(await referenceIsSpent(batch)).toBe(true);
    const begunAt = performance.now();
    const end = await inState(batch, 'R');
    expect(performance.now() - begunAt).toBeGreaterThan(SETTLE_MS / 3);
    expect(end).toMatchObject({ keyNumber: 2, evidence: 'key' });
    expect(await referenceIsSpent(batch)).toBe(false);
    expect(new Set(realm.asked).size).toBe(1);
    // Requests are limited to one at once and one when the settle time is over.
    expect(realm.asked.length).toBeLessThanOrEqual(4);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('a hanging request that is applied meanwhile is found by the next resend: paid once', async () => {
    const { batch, realm } = await refusing(422);
    expect(await refusedOnce(batch)).toMatchObject({ code: 'u' });
    realm.land();
    expect(await inState(batch, 'P')).toMatchObject({ keyNumber: 1, evidence: 'key' });
    expect(realm.applied).toHaveLength(1);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });
});

describe('a process that was frozen between the ledger’s permission and the first byte', () => {
  afterEach(() => {
    onFailPoint(() => {});
    vi.restoreAllMocks();
  });

  test.each([
    ['its own clock', performance],
    ['the wall clock', Date],
  ] as const)('by %s: sends nothing, takes its attempt back and begins anew', async (_, clock) => {
    const batch = await oneOrder();
    const realm = await DeafRealm.start(() => 200);
    let slept = 0;
    const real = clock.now.bind(clock);
    vi.spyOn(clock, 'now').mockImplementation(() => real() + slept);
    const askedThen: number[] = [];
    onFailPoint((point) => {
      if (point !== 'intent-written') return;
      askedThen.push(realm.asked.length);
      if (slept === 0) slept = 10_500;
    });
    const { session, folder } = await startWorkerInProcess(batch, bench.redis(), realm.url);
    const end = await inState(batch, 'P');
    // The second attempt found that the first one had sent nothing.
    expect(askedThen).toEqual([0, 0]);
    expect([realm.asked.length, end.attempts]).toEqual([1, 2]);
    const journal = await readFile(fileName(`${folder}/journal`, session.id, 1), 'utf8');
    expect(journal.match(/\["N",/g)).toHaveLength(1);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });
});
