import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AfterRollback } from '../../../src/core/profile.js';
import { redispatch } from '../../../src/ledger/moves/feed.js';
import { cancelBatch, pauseBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import { openLedger, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import {
  noteRestored,
  readWaitAfterRollback,
  resumeAfterRollback,
} from '../../../src/ledger/sessions/after-rollback.js';
import { arm, disarm, reportMerged } from '../../../src/ledger/sessions/fence.js';
import { readRecovery } from '../../../src/ledger/sessions/story.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, begin, begun, claimFor, feedAll, sendAs, WHY } from '../../support/ledger/order-moves.js';
import { resume } from '../../support/ledger/resume.js';
import { tieUp } from '../../support/ledger/tie-up.js';

/** After a rollback, first sends wait for a person. */
const bench = ledgersOnRedis();

async function opened(ledger: RealmLedger): Promise<void> {
  expect(await arm(ledger, (await readFence(ledger)).run, 0)).toMatchObject({ answer: 'armed' });
}

async function rolledBack(ledger: RealmLedger): Promise<void> {
  await disarm(ledger, { at: Date.now(), seen: 9, found: 1, by: 'a test', attempts: 1 }, 'anyway');
  await opened(ledger);
}

async function restarted(ledger: RealmLedger): Promise<void> {
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', 'another-server');
  await opened(ledger);
}

/** Order 1 is paid, 2 is unknown, 3 is due, 4 waits after a definite refusal, and 5 is not fed. */
async function halfPaid(afterRollback: AfterRollback = 'wait') {
  const batch = await sealed(await bench.ledger({ afterRollback }), [{}, {}, {}, {}, {}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  await sendAs(batch, 2, 'u');
  await sendAs(batch, 4, 'w');
  return batch;
}

test('unsent orders and orders with a definite refusal wait; unknown ones are resolved', async () => {
  const batch = await halfPaid();
  await rolledBack(batch.ledger);
  for (const index of [3, 4]) {
    expect(await claimFor(batch, index)).toEqual({ refusal: 'after-rollback' });
    expect(await begin(batch, index)).toEqual({ refusal: 'after-rollback' });
  }
  expect(await claimFor(batch, 2)).toMatchObject({ answer: 'go' });
  await begun(batch, 2, { keyAgeMaxMs: 60_000 });
  expect(await tieUp(batch.ledger)).toEqual([]);
});

test('only unknown orders are fed or dispatched again', async () => {
  const batch = await halfPaid();
  await rolledBack(batch.ledger);
  expect(await feedAll(batch)).toEqual([]);
  const { indexes } = await redispatch(batch.ledger, batch.no, '', [2, 3, 4]);
  expect(indexes).toEqual([2]);
});

test('the batch is shown as halted, with the command that resumes it', async () => {
  const batch = await halfPaid();
  await rolledBack(batch.ledger);
  expect(await readBatch(batch.ref)).toMatchObject({
    state: 'halted',
    whyNot: ['after-rollback'],
    reason: { code: 'ALM_LEDGER_AFTER_ROLLBACK' },
  });
  expect(await readWaitAfterRollback(batch.ledger)).toMatchObject({ batches: 1 });
});

test('a person resumes it, and the batch records who', async () => {
  const batch = await halfPaid();
  await rolledBack(batch.ledger);
  const resumed = await resume(batch.ledger, audit('resumed'));
  expect(resumed).toEqual({ answer: 'resumed', batches: [batch.ref.id] });
  expect(await readBatch(batch.ref)).toMatchObject({ state: 'running', whyNot: [] });
  await begun(batch, 3);
  expect(await resume(batch.ledger, audit('again'))).toEqual({ answer: 'not waiting' });
});

test('a resume is refused while journals are not merged', async () => {
  const batch = await halfPaid();
  await rolledBack(batch.ledger);
  await batch.ledger.scripts.redis.hset(batch.ledger.keyPrefix, 'armed', 'another-server');
  expect(await resume(batch.ledger, audit('resumed'))).toEqual({ answer: 'disarmed' });
});

test('a resume does not release what another rollback stopped after the person looked', async () => {
  const batch = await halfPaid();
  await rolledBack(batch.ledger);
  const seen = (await readWaitAfterRollback(batch.ledger))?.sinceMs ?? 0;
  await sleep(2);
  await rolledBack(batch.ledger);
  expect(await resumeAfterRollback(batch.ledger, seen, audit('resumed'))).toEqual({ answer: 'disarmed' });
  expect(await begin(batch, 3)).toEqual({ refusal: 'after-rollback' });
});

test('batches sealed afterwards do not wait', async () => {
  const batch = await halfPaid();
  await rolledBack(batch.ledger);
  const later = await sealed(batch.ledger, [{}], { id: 'later' });
  await feedAll(later);
  await begun(later, 1);
});

test('a paused batch stays paused, and still waits if only the pause is resumed', async () => {
  const batch = await halfPaid();
  await pauseBatch(batch.ref, WHY, audit('paused'));
  await rolledBack(batch.ledger);
  expect(await readBatch(batch.ref)).toMatchObject({ state: 'paused', whyNot: ['paused', 'after-rollback'] });
});

test('a cancelled batch has nothing that waits', async () => {
  const batch = await halfPaid();
  await rolledBack(batch.ledger);
  await cancelBatch(batch.ref, audit('cancelled'));
  expect(await resume(batch.ledger, audit('resumed'))).toEqual({
    answer: 'resumed',
    batches: [],
  });
});

test('a second rollback makes everything wait again', async () => {
  const batch = await halfPaid();
  await rolledBack(batch.ledger);
  await resume(batch.ledger, audit('resumed'));
  await rolledBack(batch.ledger);
  expect(await begin(batch, 3)).toEqual({ refusal: 'after-rollback' });
});

test('a mere restart resumes by itself', async () => {
  const batch = await halfPaid();
  await restarted(batch.ledger);
  expect(await readWaitAfterRollback(batch.ledger)).toBeNull();
  await begun(batch, 3);
});

test('a loaded backup makes it wait, whatever the journals hold', async () => {
  const batch = await halfPaid();
  await noteRestored(batch.ledger, Date.now());
  await restarted(batch.ledger);
  expect(await begin(batch, 3)).toEqual({ refusal: 'after-rollback' });
});

test('a profile that prefers to continue does not wait', async () => {
  const batch = await halfPaid('continue');
  await rolledBack(batch.ledger);
  await begun(batch, 3);
});

test('a process that prefers to continue does not overrule a merged process that waits', async () => {
  const batch = await halfPaid('continue');
  const { ledger } = batch;
  await disarm(ledger, { at: Date.now(), seen: 9, found: 1, by: 'a test', attempts: 1 }, 'anyway');
  const careful = openLedger(ledger.scripts, ledger.realm, { afterRollback: 'wait' });
  const { run } = await readFence(ledger);
  await reportMerged(careful, run, { session: 'a', seen: 0, era: '', looked: [], putBack: [0, 0, 0, 0] });
  await opened(ledger);
  expect(await begin(batch, 3)).toEqual({ refusal: 'after-rollback' });
});

test('a schedule’s run that was being planned is not sealed', async () => {
  const { ledger } = await halfPaid();
  await ledger.scripts.redis.hset(
    `${ledger.keyPrefix}:rules:schedules`,
    'daily',
    JSON.stringify({ hash: 'text', approved: { at: 1 } }),
  );
  const schedule = {
    rule: 'daily',
    hash: 'text',
    audience: 'these',
    preparer: null,
    last: '{"at":5}',
    missed: null,
    only: true,
  };
  const run = { id: 'r', account: 'rule:daily:d', limit: null, number: null, record: '{}', schedule };
  await rolledBack(ledger);
  await expect(sealed(ledger, [{}], { id: 'scheduled', run })).rejects.toThrow('noted');
  await resume(ledger, audit('resumed'));
  await sealed(ledger, [{}], { id: 'scheduled', run });
});

test('the numbers of a recovery add up until the ledger opens, and the next recovery starts from zero', async () => {
  const { ledger } = await halfPaid();
  const merged = async (putBack: readonly [number, number, number, number]) => {
    const { run } = await readFence(ledger);
    await reportMerged(ledger, run, { session: 'a', seen: 0, era: '', looked: [], putBack });
  };
  const close = (sinceMs: number) =>
    disarm(ledger, { at: Date.now(), seen: 9, found: 1, by: 'a test', attempts: 1 }, 'anyway', { sinceMs });
  await close(1_000);
  await merged([5, 2, 1, 1]);
  await merged([1, 0, 1, 0]);
  const first = { forgot: true, sinceMs: 1_000, orders: 6, unknown: 2, batches: 2, doubts: 1 };
  expect(await readRecovery(ledger)).toEqual({ ...first, openedMs: null });
  await opened(ledger);
  await close(2_000);
  await merged([3, 0, 1, 0]);
  const second = { forgot: true, sinceMs: 2_000, orders: 3, unknown: 0, batches: 1, doubts: 0 };
  expect(await readRecovery(ledger)).toEqual({ ...second, openedMs: null });
  // A backup made in the middle of the recovery does not continue its numbers.
  await noteRestored(ledger, 500);
  await merged([2, 0, 0, 0]);
  const third = { forgot: true, sinceMs: 500, orders: 2, unknown: 0, batches: 0, doubts: 0 };
  expect(await readRecovery(ledger)).toEqual({ ...third, openedMs: null });
});
