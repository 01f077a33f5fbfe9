import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { orderId } from '../../src/core/ids.js';
import { giveUpBatch } from '../../src/ledger/moves/give-up.js';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { readAudit, snapshotBatch } from '../../src/ledger/read/snapshot.js';
import { acceptMissing } from '../../src/ledger/sessions/accept-missing.js';
import { attemptOf, merge, mergeContext, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { begun, concludeAs, feedAll, moment, sendAs, settleAs } from '../support/ledger/order-moves.js';
import { startWorkerInProcess } from '../support/ledger/worker-in-process.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();

const retry = (batch: TestBatch) =>
  retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: moment(), nonce: `retry ${moment()}` });
const seconds = async ({ ref }: TestBatch) =>
  (await readAudit(ref)).filter(({ what }) => what.includes('twice'));

/** A realm that applies every change; it answers the first one when the test says so. */
async function slowRealm() {
  const slow: ServerResponse[] = [];
  const paid = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"newBalance":105}');
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'GET') response.end('{"id":"1","tokenBalance":100}');
      else if (slow.length === 0) slow.push(response);
      else paid(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    asked: () => slow.length,
    answer: () => slow.map(paid),
  };
}

test('a process that learns of a second payment reports it, and the batch and the audit keep it', async () => {
  const batch = await sealed(await bench.ledger(), [{}]);
  const realm = await slowRealm();
  const profile = {
    certainty: 'manual',
    settleMs: 500,
    timeouts: { connectMs: 1_000, tlsMs: 1_000, responseMs: 20_000, totalMs: 20_000 },
  } as const;
  const one = await startWorkerInProcess(batch, bench.redis(), realm.url, profile);
  await until('it is sent', () => realm.asked() === 1, 20_000);
  await acceptMissing(mergeContext(batch, 'manual'), one.session.id, { who: 'ada', at: Date.now() });
  // An operator waits until the settle time is over, calls it unpaid and has it resent.
  await concludeAs(batch, 1, 'D', 'X', { settleMs: 500 });
  await until('the retry', async () => (await retry(batch)) === 'ok', 10_000);
  await startWorkerInProcess(batch, bench.redis(), realm.url, profile);
  await until('it is paid', async () => (await readRecord(batch.ref, 1)).code === 'P', 20_000);
  realm.answer();
  await until('it is said', async () => (await seconds(batch)).length > 0, 20_000);
  const order = orderId(batch.ref.id, 1);
  expect(await seconds(batch)).toMatchObject([
    { who: 'almoner', what: `order ${order} was paid twice`, why: expect.stringContaining('almoner undo') },
  ]);
  expect(one.trouble).toContainEqual(expect.stringContaining(`order ${order}`));
  expect((await readBatch(batch.ref))?.notes).toEqual([expect.stringContaining(order)]);
  const report = await snapshotBatch(batch.ref, new PlanReader(batch.ledger), []);
  expect(report.caveats).toEqual([expect.stringContaining(order)]);
});

/** A session was given up while it was sending. The order was called unpaid, resent by another session, and paid. */
async function givenUpAndPaid() {
  const batch = await sealed(await bench.ledger(), [{}]);
  await feedAll(batch);
  const first = await begun(batch, 1, { nonce: 'nonce-1', session: 'frozen' });
  await settleAs(batch, 1, 'D', first, { nonce: 'nonce-1' });
  await concludeAs(batch, 1, 'D', 'X');
  expect(await retry(batch)).toBe('ok');
  await sendAs(batch, 1, 'P', { nonce: 'nonce-2' });
  return batch;
}

test('the journal of a given-up session reports the second payment at the next look, once', async () => {
  const batch = await givenUpAndPaid();
  const paid = attemptOf(batch, 1, PAID);
  for (const second of [[orderId(batch.ref.id, 1)], []])
    expect(await merge(batch, 'manual', paid)).toMatchObject({ moved: 0, second });
  expect(await seconds(batch)).toHaveLength(1);
});

test('an attempt without an answer that an operator called unpaid is not reported again', async () => {
  const batch = await givenUpAndPaid();
  expect(await merge(batch, 'manual', attemptOf(batch, 1, null))).toMatchObject({ second: [] });
  expect(await seconds(batch)).toEqual([]);
  expect((await readBatch(batch.ref))?.notes).toEqual([]);
});

test('a possible second payment that proves real is reported as real', async () => {
  const batch = await sealed(await bench.ledger(), [{}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P', { nonce: 'nonce-2' });
  await merge(batch, 'manual', attemptOf(batch, 1, null));
  await merge(batch, 'manual', attemptOf(batch, 1, PAID));
  const order = `order ${orderId(batch.ref.id, 1)}`;
  expect((await seconds(batch)).map(({ what }) => what)).toEqual([
    `${order} may have been paid twice`,
    `${order} was paid twice`,
  ]);
  expect((await readBatch(batch.ref))?.notes).toHaveLength(1);
});

test('the late answer to the attempt that a person called paid is no second payment', async () => {
  const batch = await sealed(await bench.ledger(), [{}]);
  await feedAll(batch);
  const only = await begun(batch, 1, { nonce: 'nonce-1' });
  await settleAs(batch, 1, 'D', only, { nonce: 'nonce-1' });
  await concludeAs(batch, 1, 'D', 'P');
  const sent = only.firstSentAt;
  const late = attemptOf(batch, 1, PAID.replace(/[a-z0-9]{8}/, sent.toString(36)), {
    sentAt: sent,
    firstSentAt: sent,
  });
  expect(await merge(batch, 'manual', late)).toMatchObject({ second: [] });
  expect(await seconds(batch)).toEqual([]);
});

test.each([[[1, 11]], [[11, 1]]])(
  'each order of a doubt without an attempt that proves paid is reported: %s',
  async (orders) => {
    const batch = await sealed(
      await bench.ledger(),
      Array.from({ length: 11 }, () => ({})),
    );
    await feedAll(batch);
    const why = { message: 'lost', at: 1 };
    await giveUpBatch(mergeContext(batch, 'manual'), batch.no, why);
    for (const index of orders) await merge(batch, 'manual', attemptOf(batch, index, PAID));
    expect((await readBatch(batch.ref))?.twice).toEqual(new Set(orders));
  },
);
