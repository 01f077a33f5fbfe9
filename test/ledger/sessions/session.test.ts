import { describe, expect, test } from 'vitest';
import { listJournals, noteMerged } from '../../../src/ledger/journal/folder.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { listSessions } from '../../../src/ledger/read/session-list.js';
import { openLedger, storeNowMs } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { localJournals } from '../../../src/ledger/sessions/local-journals.js';
import { forgetSession, Session } from '../../../src/ledger/sessions/session.js';
import { journalIntent } from '../../support/ledger/journal-lines.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begun, claimFor, feedAll, held, settleAs } from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';

const bench = ledgersOnRedis();

describe('the register of sessions', () => {
  test('lists registered sessions; a clean exit deregisters', async () => {
    const ledger = await bench.ledger();
    const session = await Session.open('worker', await tempFolder());
    await session.register(ledger);
    await session.register(ledger);
    expect(await listSessions(ledger)).toEqual([session.entry]);
    await session.deregister(ledger);
    expect(await listSessions(ledger)).toEqual([]);
    await session.close();
  });

  test('restores a live session that a rollback forgot, but not one that only reads', async () => {
    const ledger = await bench.ledger();
    const folder = await tempFolder();
    const session = await Session.open('run', folder);
    const place = { id: '', journal: session.entry.journal };
    const forgotten = async () =>
      (await localJournals(ledger, place, null, 'every journal')).forgotten.map(({ entry }) => entry.id);
    await session.register(ledger);
    await session.deregister(ledger);
    expect(await forgotten()).toEqual([]);
    // The session works again, and the store forgets that.
    await session.register(ledger);
    expect(await forgotten()).toEqual([]);
    await ledger.scripts.redis.del(`${ledger.keyPrefix}:sessions`);
    expect(await forgotten()).toEqual([session.id]);
    await session.close();
  });

  test('the longest settle time and time-out of all registered sessions apply, even after the store forgot them', async () => {
    const ledger = await bench.ledger();
    const noted = () => ledger.scripts.redis.hmget(ledger.keyPrefix, 'settleMs', 'timeoutMs');
    const slow = await Session.open('worker', await tempFolder());
    const fast = await Session.open('worker', await tempFolder());
    await slow.register(ledger, { settleMs: 1_200_000, timeouts: { totalMs: 30_000 } });
    await fast.register(ledger, { settleMs: 1_000, timeouts: { totalMs: 500 } });
    expect(await noted()).toEqual(['1200000', '30000']);
    await ledger.scripts.redis.del(`${ledger.keyPrefix}:waits`);
    await fast.register(ledger);
    await slow.register(ledger);
    expect(await noted()).toEqual(['1200000', '30000']);
    await slow.deregister(ledger);
    expect(await noted()).toEqual(['1000', '500']);
    await fast.deregister(ledger);
    expect(await noted()).toEqual(['1000', '500']);
    await slow.close();
    await fast.close();
  });

  test('forgetting a session stalls its run and releases the members it had claimed', async () => {
    const ledger = await bench.ledger();
    const run = await sealed(ledger, [{ member: '1' }, {}], { owner: 'run-1', id: 'run' });
    const other = await sealed(ledger, [{ member: '1' }], { id: 'other' });
    await feedAll(run);
    await feedAll(other);
    await held(run, 1);
    expect(await claimFor(other, 1)).toEqual({ refusal: 'member-held' });
    await forgetSession(ledger, 'run-1');
    expect(await readBatch(run.ref)).toMatchObject({
      state: 'paused',
      reason: { code: 'ALM_BATCH_INTERRUPTED' },
    });
    expect(await claimFor(other, 1)).toMatchObject({ answer: 'go' });
    expect(await readBatch(other.ref)).toMatchObject({ state: 'running' });
    expect(await tieUp(ledger)).toEqual([]);
  });
});

describe('journals of ended sessions', () => {
  /** An ended session that left one file for each of its intents, and one more. */
  async function over(folder: string, keyPrefix: string, intents: number): Promise<Session> {
    const session = await Session.open('worker', folder, {
      limits: { fileBytesMax: 100, folderBytesMax: 1 << 30 },
    });
    await session.journal.works(keyPrefix);
    for (let index = 1; index <= intents; index++)
      await session.journal.intent({ ...journalIntent(index), realm: keyPrefix });
    await session.close();
    return session;
  }
  const filesOf = async ({ id, entry }: Session) =>
    (await listJournals(entry.journal)).find(({ session }) => session === id)?.files ?? [];

  test('are all removed at once if the budget requires it', async () => {
    const folder = await tempFolder();
    const dead = await over(folder, 'almoner:{0123456789ab}', 9);
    expect(await filesOf(dead)).toHaveLength(10);
    await noteMerged(dead.entry.journal, dead.id, 'almoner:{0123456789ab}', {
      era: 'e1',
      seq: 9,
      sent: true,
    });
    const limits = { fileBytesMax: 4096, folderBytesMax: 1 };
    const next = await Session.open('worker', folder, { limits });
    expect(await filesOf(dead)).toEqual([]);
    await next.close();
  });
});

test('a session that is sending an order does not deregister, so the next process finds it', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}]);
  await feedAll(batch);
  const session = await Session.open('worker', await tempFolder());
  await session.register(ledger);
  const of = await begun(batch, 1, { session: session.id });
  await session.deregister(ledger);
  expect((await listSessions(ledger)).map(({ id }) => id)).toEqual([session.id]);
  await settleAs(batch, 1, 'P', of);
  await session.deregister(ledger);
  expect(await listSessions(ledger)).toEqual([]);
  await session.close();
});

test('a delayed heartbeat is as old as the moment it was written', async () => {
  const { realm, scripts, keyPrefix } = await bench.ledger();
  const { redis } = scripts;
  let refusals = 0;
  const waiting = new ScriptClient(redis, 20_000, () => {
    refusals += 1;
  });
  const ledger = openLedger(waiting, realm);
  const session = await Session.open('worker', await tempFolder());
  await redis.config('SET', 'min-replicas-to-write', 1);
  const said = session.sayAlive(ledger);
  await until('the store to refuse it again and again', () => refusals >= 3);
  const backAt = await storeNowMs(ledger);
  await redis.config('SET', 'min-replicas-to-write', 0);
  await said;
  expect(Number(await redis.hget(`${keyPrefix}:seen`, session.id))).toBeGreaterThanOrEqual(backAt);
  await session.close();
});
