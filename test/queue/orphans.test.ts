import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'bullmq';
import { expect, onTestFinished, test } from 'vitest';
import { HEARD_LATELY_MS } from '../../src/core/presence.js';
import type { Certainty } from '../../src/core/profile.js';
import { lastSent } from '../../src/ledger/order-event.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readDetails, readRecord } from '../../src/ledger/read/rows.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { addOrders, ORDERS_QUEUE, type OrderJob, openQueue } from '../../src/queue/queues.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { PATIENT, startWorkerInProcess } from '../support/ledger/worker-in-process.js';
import { Sender } from '../support/machines/machines.js';
import { Clocks, PlayedRealm } from '../support/machines/played-realm.js';
import { DeafRealm } from '../support/program/deaf-realm.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();

/** A sender dies with a request under way. The test decides about its journal. Another process finds it. */
async function afterDeath(certainty: Certainty, spoil: (folder: string) => Promise<void>) {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}]);
  await feedAll(batch);
  const clocks = new Clocks();
  const realm = new PlayedRealm(certainty === 'idempotent', (index) => batch.row(index).order, clocks);
  const [dying, other] = [await tempFolder(), await tempFolder()];
  const dead = await Sender.start(ledger, batch, certainty, dying, realm, clocks);
  expect(await dead.recover()).toBe(true);
  for (const index of [1, 2]) await dead.begin(index);
  await dead.finish('paid');
  await dead.die();
  await spoil(join(dying, 'journal'));
  const finder = await Sender.start(ledger, batch, certainty, other, realm, clocks);
  expect(await finder.recover()).toBe(true);
  await finder.adoptDead();
  const { code, sentAt } = await readRecord(batch.ref, 2);
  // An operator looks up the request at that time in the realm’s own log.
  expect(lastSent(await readDetails(batch.ref, 2), { attempt: null, doubt: null })).toMatchObject({ sentAt });
  const sessions = await listSessions(ledger);
  const ties = await tieUp(ledger);
  await finder.die();
  return { code, sessions: sessions.length, ties };
}

const lost = (folder: string) => rm(folder, { recursive: true });
const kept = () => Promise.resolve();

/** The first line after the head is corrupted; the lines after it can be read. */
async function damaged(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const lines = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, [lines[0], 'spoilt', ...lines.slice(3)].join('\n'));
  }
}

test.each([
  ['manual', 'kept', kept, 'D'],
  ['manual', 'lost', lost, 'D'],
  ['manual', 'damaged', damaged, 'D'],
  ['idempotent', 'lost', lost, 'u'],
  ['readback', 'lost', lost, 'u'],
] as const)(
  '%s: what a dead process was sending and whose journal is %s is never taken for unsent',
  async (certainty, _, spoil, code) => {
    expect(await afterDeath(certainty, spoil)).toEqual({ code, sessions: 1, ties: [] });
  },
);

test('deliveries that a machine took from the queue before it fell silent are delivered by the others', async () => {
  const ledger = await bench.ledger();
  const { redis } = ledger.scripts;
  const manifest = { certainty: 'idempotent' } as const;
  const realm = await DeafRealm.start(() => 200);
  const paid = async ({ ref }: TestBatch) => (await readBatch(ref))?.counts.paid;
  const before = await sealed(ledger, [{}], { manifest });
  const first = await startWorkerInProcess(before, bench.redis(), realm.url);
  await until('the store to be in use', async () => (await paid(before)) === 1, 20_000);
  await first.stop();
  const batch = await sealed(ledger, [{}, {}, {}], { manifest });
  const lost = await Session.open('worker', await tempFolder());
  onTestFinished(() => lost.close());
  await lost.register(ledger);
  // Another machine’s session: its liveness cannot be checked from here.
  const far = { ...lost.entry, machine: 'far', boot: 'another', socket: '/nowhere/x.sock', place: '1:1' };
  await redis.hset(`${ledger.keyPrefix}:sessions`, lost.id, JSON.stringify(far));
  const queue = openQueue<OrderJob>(ledger, ORDERS_QUEUE, bench.redis().client());
  onTestFinished(() => queue.close());
  // Its locks are renewed all the time, so that BullMQ itself never reassigns its deliveries.
  let letGo = () => {};
  const held = new Promise<null>((resolve) => {
    letGo = () => resolve(null);
  });
  const worker = new Worker<OrderJob>(ORDERS_QUEUE, () => held, {
    connection: bench.redis().client(),
    prefix: ledger.queuePrefix,
    concurrency: 3,
    name: lost.id,
  });
  onTestFinished(() => {
    letGo();
    return worker.close();
  });
  await addOrders(queue, [{ no: batch.no, indexes: await feedAll(batch) }], 0);
  await until('its deliveries to be taken', async () => (await queue.getActiveCount()) === 3);
  await redis.hset(`${ledger.keyPrefix}:seen`, lost.id, Date.now() - HEARD_LATELY_MS - 1_000);
  await startWorkerInProcess(batch, bench.redis(), realm.url, PATIENT);
  await until('all to be paid', async () => (await paid(batch)) === 3, 20_000);
  expect(realm.asked).toHaveLength(4);
});
