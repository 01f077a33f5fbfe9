import { describe, expect, test } from 'vitest';
import { orderId } from '../../src/core/ids.js';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { ClockWatch, TwoClocks } from '../../src/queue/two-clocks.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs, feedAll, moment, sendAs } from '../support/ledger/order-moves.js';
import { Machines } from '../support/machines/machines.js';
import { SETTLE_MS } from '../support/machines/played-realm.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();
const HOUR_MS = 3_600_000;

/** A process that watches the store’s clock with simulated clocks of its own. */
function watchOf(ledger: RealmLedger) {
  const time = { storeMs: Date.now(), ownMs: 50, slowMs: 0 };
  const said: string[] = [];
  const storeMs = () => {
    const now = time.storeMs;
    time.ownMs += time.slowMs;
    time.storeMs += time.slowMs;
    return Promise.resolve(now);
  };
  const watch = new ClockWatch(
    ledger,
    SETTLE_MS,
    (message) => said.push(message),
    new TwoClocks(storeMs, () => time.ownMs),
  );
  const noted = () => ledger.scripts.redis.hget(ledger.keyPrefix, 'steppedUntil');
  const pass = async (store: number, own: number) => {
    time.storeMs += store;
    time.ownMs += own;
    await watch.look();
  };
  return { time, said, watch, noted, pass };
}

describe('a step of the store’s clock', () => {
  test('forward is recorded for all processes and reported; so is a sleep of the process’s machine', async () => {
    for (const [store, own] of [
      [HOUR_MS + 250, 250],
      [HOUR_MS, 0],
    ] as const) {
      const { time, said, watch, noted, pass } = watchOf(await bench.ledger());
      await watch.look();
      await pass(250, 250);
      expect(await noted()).toBeNull();
      await pass(store, own);
      expect(Number(await noted())).toBe(time.storeMs + SETTLE_MS);
      expect(said).toEqual([expect.stringContaining('3600 s ahead')]);
    }
  });

  test('is not suspected after a slow reply, a long pause between looks, or a clock that was set back', async () => {
    const { time, watch, noted, pass } = watchOf(await bench.ledger());
    await watch.look();
    time.slowMs = 30_000;
    await pass(250, 250);
    time.slowMs = 0;
    await pass(250, 250);
    await pass(HOUR_MS, HOUR_MS);
    await pass(-HOUR_MS, 250);
    expect(await noted()).toBeNull();
  });
});

/** The store’s clock jumps ahead, so the scripts consider the settle time over. */
async function stepAhead(ledger: RealmLedger): Promise<void> {
  const { watch, pass } = watchOf(ledger);
  await watch.look();
  await pass(SETTLE_MS + 1_000, 250);
  // The scripts’ clock itself was not stepped, so the end lies one settle time ahead of it.
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'steppedUntil', Date.now() + SETTLE_MS);
}

test('does not shorten the time in which a doubt’s request may arrive: read-back proves nothing on its member', async () => {
  const ledger = await bench.ledger();
  const { redis } = ledger.scripts;
  const batch = await sealed(ledger, [{ member: '77' }, { member: '77' }]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'readback');
  const { sender } = await machines.start(await tempFolder());
  expect(await sender.recover()).toBe(true);
  await sender.begin(1);
  await sender.finish('lost-late');
  await concludeAs(batch, 1, 'u', 'D', { evidence: null });
  const marks = `${ledger.keyPrefix}:void`;
  const mark = Number(await redis.hget(marks, '77'));
  await redis.hset(marks, '77', String(mark - SETTLE_MS - 60_000));
  await stepAhead(ledger);
  await sender.begin(2);
  await sender.finish('lost-before');
  // The request of order 1 arrives.
  machines.realm.pass(SETTLE_MS);
  await sender.begin(2);
  expect(machines.realm.applied.get(2)).toBeUndefined();
  expect((await readRecord(batch.ref, 2)).code).not.toBe('P');
  await sender.die();
});

test.each(['before', 'after'])(
  'does not let an order be paid again that was called unpaid %s it',
  async (when) => {
    const batch = await sealed(await bench.ledger(), [{}]);
    await feedAll(batch);
    const retry = () =>
      retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: moment(), nonce: `n${moment()}` });
    // Sent a moment ago; by the stepped clock, longer ago than the settle time.
    await sendAs(batch, 1, 'D', { sentAt: Date.now() - SETTLE_MS });
    if (when === 'before') await concludeAs(batch, 1, 'D', 'X', { settleMs: SETTLE_MS + 100 });
    await stepAhead(batch.ledger);
    if (when === 'after') await concludeAs(batch, 1, 'D', 'X', { settleMs: SETTLE_MS - 1_000 });
    const { arrivesUntil } = await readRecord(batch.ref, 1);
    if (when === 'before') await until('its mark to be past', () => Date.now() > (arrivesUntil ?? 0));
    const message = expect.stringContaining('may still arrive');
    const against = { order: orderId(batch.ref.id, 1), code: 'ALM_ROW_ORDER_MAY_BE_PAID', message };
    expect(await retry()).toEqual({ why: message, against });
    // The clock is corrected.
    await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'steppedUntil', Date.now() + 2 * HOUR_MS);
    if (when === 'before') expect(await retry()).toBe('ok');
  },
);
