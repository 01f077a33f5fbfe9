import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Certainty } from '../../../src/core/profile.js';
import { giveUpBatch } from '../../../src/ledger/moves/give-up.js';
import { registerRealm } from '../../../src/ledger/moves/import-batch.js';
import { orphan } from '../../../src/ledger/moves/orphan.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { listSessions } from '../../../src/ledger/read/session-list.js';
import { readAudit } from '../../../src/ledger/read/snapshot.js';
import { openLedger, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { acceptMissing, lossOf } from '../../../src/ledger/sessions/accept-missing.js';
import { Attempts } from '../../../src/ledger/sessions/attempts.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import {
  attemptOf,
  merge,
  mergeContext,
  PAID,
  REFUSED,
  WAITS,
} from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, begun, claimFor, feedAll, sendAs, WHY } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';
import { tempFolder } from '../../support/temp-folder.js';

/**
 * A machine is lost with its disk. One order is paid, one is being sent by the lost session, one by another, one is
 * unknown, one waits and one is planned.
 */
const bench = ledgersOnRedis();
const BY = { who: 'ada', at: Date.UTC(2026, 5, 1) };

async function lostMachine(ledger: RealmLedger): Promise<{ batch: TestBatch; lost: Session }> {
  const batch = await sealed(ledger, [{ reference: 'a' }, { tokens: 7 }, {}, {}, {}, {}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  const lost = await Session.open('worker', await tempFolder());
  await lost.register(ledger);
  await begun(batch, 2, { session: lost.id });
  await begun(batch, 3, { session: 'other' });
  await sendAs(batch, 4, 'u');
  await sendAs(batch, 5, 'w');
  return { batch, lost };
}

const accept = (batch: TestBatch, session: string, certainty: Certainty = 'idempotent') =>
  acceptMissing(mergeContext(batch, certainty), session, BY);

describe('a lost session accepted on a store that was not rolled back since it joined', () => {
  test.each([
    ['idempotent', 'unknown'],
    ['manual', 'doubt'],
  ] as const)('%s: exactly what it was sending is %s; nothing else changes', async (certainty, state) => {
    const { batch, lost } = await lostMachine(await bench.ledger());
    const told = { exact: true, orders: 1, tokens: 7n };
    expect(await lossOf(mergeContext(batch, certainty), lost.id)).toEqual(told);
    expect(await accept(batch, lost.id, certainty)).toEqual(told);
    expect((await readBatch(batch.ref))?.counts).toEqual(
      state === 'unknown'
        ? { paid: 1, sending: 1, unknown: 2, planned: 2 }
        : { paid: 1, sending: 1, unknown: 1, doubt: 1, planned: 2 },
    );
    expect((await readRecord(batch.ref, 2)).nonce).toBe('nonce-2');
    expect((await readAudit(batch.ref)).at(-1)).toMatchObject({
      who: 'ada',
      what: `accepted session ${lost.id} as lost: 1 order is unknown`,
    });
    expect(await listSessions(batch.ledger)).toEqual([]);
    expect(await readFence(batch.ledger)).toMatchObject({ armed: true });
    expect(await tieUp(batch.ledger)).toEqual([]);
    await lost.close();
  });

  test('claims and begins nothing from then on, and never joins again', async () => {
    const { batch, lost } = await lostMachine(await bench.ledger());
    const { ledger } = batch;
    await accept(batch, lost.id);
    ledger.mark.session = lost.id;
    expect(await claimFor(batch, 6)).toEqual({ refusal: 'lost' });
    expect(await begin(batch, 6, { session: lost.id })).toEqual({ refusal: 'lost' });
    // Its own repeated call does not begin the order again that it was sending when it was given up.
    expect(await begin(batch, 2, { session: lost.id, keyAgeMaxMs: 60_000 })).toEqual({ refusal: 'lost' });
    expect((await readFence(ledger)).lost).toBe(true);
    await expect(lost.register(ledger)).rejects.toMatchObject({ code: 'ALM_LEDGER_GIVEN_UP' });
    expect(await listSessions(ledger)).toEqual([]);
    expect(await begun(batch, 6, { session: 'other' })).toMatchObject({ attempts: 1 });
    await lost.close();
  });

  test('its answers still count: an order that it sent and the realm paid is paid', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}, {}]);
    await feedAll(batch);
    const lost = await Session.open('worker', await tempFolder());
    const sender = new Attempts({
      ledger,
      journal: lost.journal,
      session: lost.id,
      context: mergeContext(batch, 'idempotent'),
      onFenced: () => {},
    });
    await sendAs(batch, 2, 'P');
    await lost.register(ledger);
    const ref = { no: batch.no, index: 1 };
    const nonce = 'of-the-lost';
    const terms = { certainty: 'idempotent', currency: null, keyLifetimeMs: 60_000 } as const;
    const manifest = { batch: batch.ref.id, again: null, table: null };
    const request = { nonce, row: batch.row(1), terms, manifest, dayCap: null, resend: null, before: null };
    const begunNow = await sender.begin(ref, { ...request, capReason: WHY, hold: '' });
    if ('refusal' in begunNow) throw new Error(begunNow.refusal);
    await accept(batch, lost.id);
    expect((await readRecord(batch.ref, 1)).code).toBe('u');
    const { keyNumber, keyFirstAt, attempts, tries, firstSentAt: sentAt } = begunNow;
    const settled = await sender.settle(
      { ref, nonce, row: batch.row(1) },
      {
        ...{ to: 'paid', keyNumber, keyFirstAt, attempts, tries, sentAt, status: 200, balance: '105' },
        ...{ tookMs: 5, latencyMs: 5, evidence: 'answer', dueInMs: 0, detail: null, requests: 1 },
        ...{ limited: false, errorCode: null, sliceMs: 1_000, batchCreatedAt: sentAt, haltRealm: null },
        refusalReason: null,
      },
    );
    expect(settled).toMatchObject({ settled: true, state: 'paid' });
    expect(await readBatch(batch.ref)).toMatchObject({ state: 'done', counts: { paid: 2 } });
    expect(await tieUp(ledger)).toEqual([]);
    await lost.close();
  });
});

describe('a lost session accepted on a store that may have forgotten what it sent', () => {
  const widely = async (batch: TestBatch, lost: Session) => {
    const told = await lossOf(mergeContext(batch, 'idempotent'), lost.id);
    expect(told.exact).toBe(false);
    const loss = await accept(batch, lost.id);
    expect(loss).toEqual({ exact: false, orders: 5, tokens: 27n });
    expect(told).toEqual(loss);
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 1, doubt: 5 });
    expect(await tieUp(batch.ledger)).toEqual([]);
    await lost.close();
  };

  test('restarted since: every unsettled order becomes a doubt, and counts for the day', async () => {
    const { batch, lost } = await lostMachine(await bench.ledger());
    // As on a promoted replica: opened for the server it was copied from.
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'armed', 'another-server');
    await widely(batch, lost);
    expect(await begin(batch, 6)).toEqual({ refusal: 'disarmed' });
  });

  test('opened again since it joined: every unsettled order becomes a doubt', async () => {
    const { batch, lost } = await lostMachine(await bench.ledger());
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'era', 'another');
    await widely(batch, lost);
  });

  test.each([
    ['refused', REFUSED],
    ['a no', WAITS],
  ])('what another session was sending, and is answered with %s, stays a doubt', async (_, answer) => {
    const { batch, lost } = await lostMachine(await bench.ledger());
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'armed', 'another-server');
    await accept(batch, lost.id);
    await merge(batch, 'idempotent', attemptOf(batch, 3, answer));
    expect((await readRecord(batch.ref, 3)).code).toBe('D');
    await lost.close();
  });

  test('an order that another session was sending but never sent stays a doubt', async () => {
    const { batch, lost } = await lostMachine(await bench.ledger());
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'armed', 'another-server');
    await accept(batch, lost.id);
    const of = { session: 'other', row: batch.row(3), attempt: 'nonce-3' };
    const detail = {
      event: 'orphaned',
      at: START,
      key: '',
      session: 'other',
      code: null,
      message: '',
    } as const;
    expect(await orphan(batch.ledger, { no: batch.no, index: 3 }, of, { detail, to: 'w' })).toBe(false);
    expect((await readRecord(batch.ref, 3)).code).toBe('D');
    await lost.close();
  });

  test('a journal that is found afterwards still counts, and the days agree', async () => {
    const { batch, lost } = await lostMachine(await bench.ledger());
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'era', 'another');
    await widely(batch, lost);
    await merge(batch, 'manual', attemptOf(batch, 6, PAID));
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 2, doubt: 4 });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  describe('on a store that does not reveal which server it is', () => {
    let server: TestRedis;
    beforeAll(async () => {
      server = await startRedis(['--appendonly', 'no']);
    });
    afterAll(() => server.stop());

    test('every unsettled order becomes a doubt, because nothing proves that no rollback happened', async () => {
      const redis = server.client();
      await redis.call('ACL', 'SETUSER', 'default', '-info');
      const owner = { name: 'meadow', baseUrl: 'http://127.0.0.1:1', realmId: 'mute', rehearsal: false };
      const ledger = openLedger(new ScriptClient(redis, 10_000, () => {}), owner);
      await registerRealm(ledger);
      const { batch, lost } = await lostMachine(ledger);
      expect((await readFence(ledger)).run).toBe('unproven');
      await widely(batch, lost);
    });
  });
});

test('a batch that had not begun is done once all of its orders are doubts', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}]);
  const why = { message: 'a journal is lost', at: BY.at };
  expect(await giveUpBatch(mergeContext(batch, 'manual'), batch.no, why)).toMatchObject({ orders: 2 });
  expect(await readBatch(batch.ref)).toMatchObject({ state: 'done', counts: { doubt: 2 } });
  expect(await tieUp(ledger)).toEqual([]);
});
