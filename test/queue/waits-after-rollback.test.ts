import { expect, test } from 'vitest';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readFence } from '../../src/ledger/read/fence.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { readWaitAfterRollback } from '../../src/ledger/sessions/after-rollback.js';
import { arm, disarm, sayDisarmed } from '../../src/ledger/sessions/fence.js';
import { listFolders } from '../../src/ledger/sessions/folders.js';
import { waitingOf } from '../../src/operations/batches/waiting.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { audit, claimFor, feedAll, held, sendAs, WHY } from '../support/ledger/order-moves.js';
import { NO_PROFILES } from '../support/ledger/realm-profile.js';
import { standingOrders } from '../support/ledger/standing-orders.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** What waits for a person after a rollback, what does not, and what is reported about both. */
const bench = ledgersOnRedis();
const { session } = standingOrders(bench);
const WAIT = { afterRollback: 'wait' } as const;

async function rolledBack(ledger: RealmLedger): Promise<void> {
  await disarm(ledger, { at: Date.now(), seen: 9, found: 1, by: 'a test', attempts: 1 }, 'anyway');
  const { run } = await readFence(ledger);
  for (const id of await ledger.scripts.redis.hkeys(`${ledger.keyPrefix}:sessions`))
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:merged`, id, run);
  for (const { id } of await listFolders(ledger))
    await ledger.scripts.redis.hset(`${ledger.keyPrefix}:looks`, id, run);
  expect(await arm(ledger, run, 0)).toMatchObject({ answer: 'armed' });
}

test('a rollback that forgets only a cancel is noticed by a process that saw the cancel', async () => {
  const batch = await sealed(await bench.ledger(WAIT), [{}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const { sender } = await machines.start(await tempFolder());
  expect(await sender.recover()).toBe(true);
  await sender.send(batch, 1, 'paid');
  const restore = await photograph(batch.ledger);
  await cancelBatch(batch.ref, audit('cancelled: wrong amounts'));
  expect(await sender.recover()).toBe(true);
  await restore();
  expect(await sender.recover()).toBe(true);
  expect(await readWaitAfterRollback(batch.ledger)).toMatchObject({ batches: 1 });
  expect(await sender.send(batch, 2, 'paid')).toBe(false);
  await sender.die();
});

test('under read-back a waiting batch holds no members, so batches sealed afterwards run', async () => {
  const ledger = await bench.ledger(WAIT);
  const manifest = { certainty: 'readback' } as const;
  const old = await sealed(ledger, [{ member: '77' }], { id: 'old', manifest });
  await feedAll(old);
  await held(old, 1);
  await rolledBack(ledger);
  const later = await sealed(ledger, [{ member: '77' }], { id: 'later', manifest });
  await feedAll(later);
  expect(await claimFor(old, 1)).toEqual({ refusal: 'after-rollback' });
  expect(await claimFor(later, 1)).toMatchObject({ answer: 'go' });
});

test('the workers resolve unknown orders of a run whose process ended because of the wait', async () => {
  const ledger = await bench.ledger(WAIT);
  const run = await session(ledger, 'run');
  const batch = await sealed(ledger, [{}, {}], { manifest: { certainty: 'idempotent' }, owner: run.id });
  await feedAll(batch);
  await sendAs(batch, 1, 'u', { session: run.id });
  await rolledBack(ledger);
  await run.deregister({ ...ledger, mark: { ...ledger.mark, session: run.id } });
  await session(ledger, 'worker');
  expect(await readBatch(batch.ref)).toMatchObject({
    state: 'halted',
    reason: { code: 'ALM_LEDGER_AFTER_ROLLBACK' },
  });
  expect(await claimFor(batch, 1, '')).toMatchObject({ answer: 'go' });
});

test('without a worker, unknown orders are reported as waiting for one', async () => {
  const ledger = await bench.ledger(WAIT);
  const batch = await sealed(ledger, [{}, {}], { manifest: { certainty: 'idempotent' } });
  await feedAll(batch);
  await sendAs(batch, 1, 'u');
  await rolledBack(ledger);
  expect(await waitingOf(batch.ref, NO_PROFILES)).toMatchObject([
    { why: 'after-rollback', orders: 1, next: 'almoner resume --after-rollback' },
    { why: 'no-worker', orders: 1 },
  ]);
});

test('a cancelled batch does not count among those that wait', async () => {
  const ledger = await bench.ledger(WAIT);
  const batch = await sealed(ledger, [{}, {}]);
  await feedAll(batch);
  await rolledBack(ledger);
  await cancelBatch(batch.ref, audit('cancelled'));
  expect(await readWaitAfterRollback(ledger)).toMatchObject({ batches: 0 });
});

test('a reason for a closed ledger is not kept if it arrives after the ledger was opened', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'w');
  await sayDisarmed(ledger, WHY);
  expect(await readBatch(batch.ref)).toMatchObject({ state: 'running', reason: null });
});
