import { afterEach, expect, test } from 'vitest';
import { noteClockStep } from '../../src/ledger/moves/readback-marks.js';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { type RealmLedger, storeNowMs } from '../../src/ledger/realm-ledger.js';
import { forgetSession, Session } from '../../src/ledger/sessions/session.js';
import { longestSettleMs } from '../../src/ledger/sessions/under-way.js';
import { Readback } from '../../src/queue/readback.js';
import { TwoClocks } from '../../src/queue/two-clocks.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { begun, concludeAs, feedAll, held, sendAs, settleAs } from '../support/ledger/order-moves.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { tempFolder } from '../support/temp-folder.js';

/** A worker on another machine registers a settle time of an hour. Other processes have shorter profiles. */
const bench = ledgersOnRedis();
const HOUR_MS = 3_600_000;
const open: Session[] = [];
afterEach(() => Promise.all(open.splice(0).map((session) => session.close())));

async function patientWorker(ledger: RealmLedger): Promise<Session> {
  const session = await Session.open('worker', await tempFolder());
  open.push(session);
  await session.register(ledger, { settleMs: HOUR_MS, timeouts: { totalMs: 30_000 } });
  return session;
}

test('an order that a person with a shorter settle time calls unpaid is not retried before the hour is over', async () => {
  const ledger = await bench.ledger();
  const { id: session } = await patientWorker(ledger);
  const batch = await sealed(ledger, [{ reference: 'r' }]);
  await feedAll(batch);
  await sendAs(batch, 1, 'D', { sentAt: Date.now() - 60_000, session });
  await concludeAs(batch, 1, 'D', 'X', { settleMs: 30_000 });
  const by = { who: 'ada', why: null, at: 1, nonce: 'x' };
  expect(await retryOrder(batch.ref, 1, batch.row(1), by)).not.toBe('ok');
});

test('the hour still applies after the worker has left, if it sent any order', async () => {
  const ledger = await bench.ledger();
  const idle = await patientWorker(ledger);
  await idle.deregister(ledger);
  expect(await longestSettleMs(ledger, 1)).toBe(1);
  const worker = await patientWorker(ledger);
  const batch = await sealed(ledger, [{}, {}]);
  await feedAll(batch);
  await settleAs(batch, 1, 'u', await begun(batch, 1, { session: worker.id }));
  await forgetSession(ledger, worker.id);
  expect(await longestSettleMs(ledger, 1)).toBe(HOUR_MS);
  expect(await begun(batch, 2)).toMatchObject({ settleMs: HOUR_MS });
  const waits = `${ledger.keyPrefix}:waits`;
  const leftAt = Date.now() - HOUR_MS - 31_000;
  await ledger.scripts.redis.hset(waits, worker.id, `${HOUR_MS} 30000 ${leftAt + HOUR_MS + 30_000}`);
  expect(await longestSettleMs(ledger, 1)).toBe(1);
});

test('a resend waits for the longest settle time of all sessions', async () => {
  const ledger = await bench.ledger();
  await patientWorker(ledger);
  const batch = await sealed(ledger, [{}]);
  await feedAll(batch);
  expect(await begun(batch, 1)).toMatchObject({ settleMs: HOUR_MS });
});

test('read-back with a shorter settle time does not conclude that nothing was applied', async () => {
  const ledger = await bench.ledger();
  const { id: session } = await patientWorker(ledger);
  const batch = await sealed(ledger, [{ member: '1' }]);
  await feedAll(batch);
  let passedMs = 0;
  const readback = new Readback({
    ledger,
    profile: testProfile({ certainty: 'readback', settleMs: 1 }),
    evidence: {
      balances: () => Promise.resolve({ member: '100', recipient: null }),
      ofDoubt: () => Promise.resolve(),
    },
    clocks: new TwoClocks(
      () => Promise.resolve(passedMs),
      () => passedMs,
    ),
    unread: { whileUnknown: () => Promise.reject(new Error('nothing is unread here')) },
    onTrouble: () => {},
  });
  const hold = await held(batch, 1);
  const before = await readback.before(batch.row(1).order, null);
  if ('kind' in before) throw new Error('unread');
  const { expected: _, ...kept } = before;
  await settleAs(batch, 1, 'u', await begun(batch, 1, { hold, before: kept, session }));
  ledger.mark.era = (await ledger.scripts.redis.hget(ledger.keyPrefix, 'era')) ?? '';
  const terms = { certainty: 'readback', currency: null, keyLifetimeMs: 1e9 } as const;
  const item = { batch: batch.ref.id, ref: { no: batch.no, index: 1 }, row: batch.row(1), terms };
  const look = () => readback.resolve(item);
  // With a settle time of 1 ms the third look would conclude. After the hour it does.
  for (const ms of [0, 20, 600]) {
    passedMs += ms;
    await look();
  }
  expect((await readRecord(batch.ref, 1)).code).toBe('u');
  for (const ms of [HOUR_MS, 600]) {
    passedMs += ms;
    await look();
  }
  expect((await readRecord(batch.ref, 1)).code).toBe('w');
});

test('the hour of a worker that left outlasts a clock stepped ahead, even if a session registers first', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}]);
  await feedAll(batch);
  const session = await patientWorker(ledger);
  await sendAs(batch, 1, 'D', { session: session.id });
  await forgetSession(ledger, session.id);
  // The clock is two hours ahead, so earlier records lie two hours further back.
  const waits = `${ledger.keyPrefix}:waits`;
  const [settle, timeout, ends] = ((await ledger.scripts.redis.hget(waits, session.id)) ?? '').split(' ');
  const early = Number(ends) - 2 * HOUR_MS;
  await ledger.scripts.redis.hset(waits, session.id, `${settle} ${timeout} ${early}`);
  const other = await Session.open('recover', await tempFolder());
  open.push(other);
  await other.register(ledger, { settleMs: 1, timeouts: { totalMs: 30_000 } });
  await noteClockStep(ledger, {
    storeMs: await storeNowMs(ledger),
    aheadMs: 2 * HOUR_MS,
    settleMs: 1,
  });
  expect(await longestSettleMs(ledger, 1)).toBe(HOUR_MS);
});
