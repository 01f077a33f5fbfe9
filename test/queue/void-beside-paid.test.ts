import { expect, test } from 'vitest';
import { orderId } from '../../src/core/ids.js';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { storeNowMs } from '../../src/ledger/realm-ledger.js';
import { attemptOf, merge } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs, feedAll, sendAs } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { SETTLE_MS } from '../support/machines/played-realm.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();

test('an attempt found beside a paid one may still arrive: read-back is void on its member', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{ member: '77' }, { member: '77' }]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'readback');
  const [one, two] = [await tempFolder(), await tempFolder()];
  const first = await machines.start(one);
  expect(await first.sender.recover()).toBe(true);
  const restore = await photograph(ledger);
  const second = await machines.start(two);
  expect(await second.sender.recover()).toBe(true);
  await second.sender.begin(1);
  expect(second.sender.open).toHaveLength(1);
  machines.realm.take(1, `${orderId(batch.ref.id, 1)}.1`, 'lost-late'); // it has left, and hangs in a backend
  await second.sender.die();
  await restore();
  expect(await first.sender.recover()).toBe(true);
  await first.sender.begin(1);
  await first.sender.finish('paid'); // unavoidable: nobody could know
  await first.sender.begin(2);
  await first.sender.finish('lost-before');
  expect((await readRecord(batch.ref, 2)).code).toBe('u');
  // Machine 2 starts again and merges its attempt: a possible second payment of order 1, perhaps still to arrive.
  const late = await machines.start(two);
  await late.sender.recover();
  await first.sender.recover();
  await late.sender.recover();
  machines.realm.pass(SETTLE_MS); // it arrives
  await first.sender.begin(2);
  expect(machines.realm.applied.get(2)).toBeUndefined();
  expect((await readRecord(batch.ref, 2)).code).not.toBe('P');
  await first.sender.die();
  await late.sender.die();
});

test('an attempt found beside a doubt may still arrive: read-back is void, and the order is not retried at once', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{ member: '77' }]);
  await feedAll(batch);
  await sendAs(batch, 1, 'D');
  const { sentAt } = await readRecord(batch.ref, 1);
  await until(
    'the doubt to be old',
    async () => (await storeNowMs(ledger)) - (sentAt ?? 0) > 700 || undefined,
  );
  // The journal of another process: the order was sent a moment ago, without an answer.
  const now = Date.now();
  await merge(
    batch,
    'readback',
    attemptOf(batch, 1, null, { nonce: 'another', sentAt: now, firstSentAt: now, keyFirstAt: now }),
  );
  await concludeAs(batch, 1, 'D', 'X', { settleMs: 500 });
  const answer = await retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: now, nonce: 'n' });
  expect(answer).not.toBe('ok');
});
