import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import type { Certainty } from '../../src/core/profile.js';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { acceptMissing } from '../../src/ledger/sessions/accept-missing.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { ClockWatch, settleTime, TwoClocks } from '../../src/queue/two-clocks.js';
import { mergeContext } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs, feedAll, sendAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/**
 * The requests of worker A may arrive for an hour. The profile of worker B says 1 ms. The hour applies, whatever the
 * store forgets of A.
 */
const bench = ledgersOnRedis();
const HOUR_MS = 3_600_000;
const limits = (settleMs: number) => ({ settleMs, timeouts: { totalMs: 30_000 } });

type When = 'nothing was forgotten' | 'A was registered' | 'before A was registered';

/** A sends order 1, gets no answer and dies. The store goes back to `when`. */
async function lostWorker(when: When, certainty: Certainty = 'manual', shareFolder = true) {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{ reference: 'r' }, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, certainty);
  const folder = await tempFolder();
  const { sender: b, ledger: seenByB } = await machines.start(folder);
  await b.session.register(seenByB, limits(1));
  await b.recover();
  const early = when === 'before A was registered' ? await photograph(ledger) : null;
  const { sender: a, ledger: seenByA } = await machines.start(shareFolder ? folder : await tempFolder());
  await a.session.register(seenByA, limits(HOUR_MS));
  expect(await a.recover()).toBe(true);
  const back = when === 'A was registered' ? await photograph(ledger) : early;
  await a.begin(1);
  expect((await readRecord(batch.ref, 1)).code).toBe('s');
  await a.die();
  await back?.();
  return { ledger, batch, a, b };
}

async function retriedOnceUnpaid(batch: TestBatch) {
  await concludeAs(batch, 1, 'D', 'X', { settleMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  return retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: 1, nonce: 'x' });
}

test.each<When>(['nothing was forgotten', 'A was registered', 'before A was registered'])(
  'an order that is called unpaid is not retried before the hour is over; the store went back to: %s',
  async (when) => {
    const { batch, b } = await lostWorker(when);
    for (let look = 0; look < 3; look++) await b.recover();
    await b.adoptDead();
    expect((await readRecord(batch.ref, 1)).code).toBe('D');
    expect(await retriedOnceUnpaid(batch)).not.toBe('ok');
    await b.die();
  },
);

test('the hour applies even if the disk of A is lost and a person has given A up', async () => {
  const { ledger, batch, a, b } = await lostWorker('A was registered', 'manual', false);
  await rm(dirname(a.session.entry.journal), { recursive: true });
  for (let look = 0; look < 2; look++) await b.recover();
  const lost = await acceptMissing(mergeContext(batch, 'manual'), a.session.id, { who: 'ada', at: 5 });
  expect(lost.exact).toBe(false);
  for (let look = 0; look < 3; look++) await b.recover();
  expect(await readFence(ledger)).toMatchObject({ armed: true });
  expect(await retriedOnceUnpaid(batch)).not.toBe('ok');
  await b.die();
});

test.each<When>(['nothing was forgotten', 'A was registered'])(
  'a no to a resend is not definite before the hour is over; the store went back to: %s',
  async (when) => {
    const { batch, b } = await lostWorker(when, 'idempotent');
    for (let look = 0; look < 3; look++) await b.recover();
    await b.adoptDead();
    expect((await readRecord(batch.ref, 1)).code).toBe('u');
    await b.begin(1);
    const begun = b.open[0]?.begun;
    if (begun === undefined) throw new Error('not begun');
    const known = { keyNumber: 1, ms: 30, unanswered: { ms: 30, atMostMs: 30, agree: true } };
    expect(settleTime(begun, known, 1).settleTime).toBe('not-yet');
    await b.die();
  },
);

test.each([
  ['only A looks', ['a']],
  ['A, then B', ['a', 'b']],
  ['B, then A', ['b', 'a']],
  ['only B looks', ['b']],
] as const)('after a step of the store’s clock the hour counts anew: %s', async (_, lookers) => {
  const ledger = await bench.ledger();
  const [a, b] = [
    await Session.open('worker', await tempFolder()),
    await Session.open('worker', await tempFolder()),
  ];
  await a.register(ledger, limits(HOUR_MS));
  await b.register(ledger, limits(1));
  const batch = await sealed(ledger, [{}]);
  await feedAll(batch);
  // Sent seconds ago, and two hours ago by the clock that was stepped since.
  await sendAs(batch, 1, 'D', { sentAt: Date.now() - 2 * HOUR_MS, session: a.id });
  let [storeMs, ownMs] = [Date.now() - 2 * HOUR_MS, 0];
  const watch = (settleMs: number) =>
    new ClockWatch(
      ledger,
      settleMs,
      () => {},
      new TwoClocks(
        () => Promise.resolve(storeMs),
        () => ownMs,
      ),
    );
  const watches = { a: watch(HOUR_MS), b: watch(1) };
  for (const one of Object.values(watches)) await one.look();
  storeMs = Date.now();
  ownMs += 100;
  for (const who of lookers) await watches[who].look();
  expect(await retriedOnceUnpaid(batch)).not.toBe('ok');
  await a.close();
  await b.close();
});
