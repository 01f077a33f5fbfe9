import { expect, test } from 'vitest';
import { Here } from '../../src/ledger/here/liveness.js';
import { batchKeys } from '../../src/ledger/keys.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { waitingOf } from '../../src/operations/batches/waiting.js';
import { recoverRealms } from '../../src/operations/services/recover.js';
import { App } from '../../src/runtime/app.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { clerkOf, pickyClient } from '../support/ledger/refusing-store.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { PATIENT, startWorkerInProcess } from '../support/ledger/worker-in-process.js';
import { DeafRealm } from '../support/program/deaf-realm.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/**
 * Once a request has left, its worker offers the result to the ledger until the ledger accepts it, despite any error.
 */
const bench = ledgersOnRedis();
const manifest = { certainty: 'idempotent' } as const;
const countsOf = async ({ ref }: TestBatch) => (await readBatch(ref))?.counts ?? {};
const paid = async (batch: TestBatch) => (await countsOf(batch)).paid ?? 0;
const rows = (count: number) => Array.from({ length: count }, () => ({}));

async function batchOf(count: number): Promise<TestBatch> {
  return sealed(await bench.ledger(), rows(count), { manifest });
}

test('a store that forbids scripts while answers arrive accepts all of them once it allows scripts again', async () => {
  const batch = await batchOf(8);
  const { client, allow, refuse } = await clerkOf(bench.redis());
  let refused: Promise<unknown> | undefined;
  const realm = await DeafRealm.start(() => 200);
  const worker = await startWorkerInProcess(batch, bench.redis(), realm.url, PATIENT, undefined, {
    connection: client,
    change: (plain) => ({
      ...plain,
      changeBalance: async (change) => {
        const outcome = await plain.changeBalance(change);
        refused ??= refuse();
        await refused;
        return outcome;
      },
    }),
  });
  await until('results to be refused', () => worker.trouble.some((text) => text.includes('NOPERM')));
  expect((await countsOf(batch)).sending).toBeGreaterThan(0);
  await allow();
  await until('all to be paid', async () => (await paid(batch)) === 8);
  expect(realm.applied).toHaveLength(8);
  expect(await tieUp(batch.ledger)).toEqual([]);
});

test('a refused result releases its slot, is listed with the error’s text, and is stored when the store allows it', async () => {
  const batch = await batchOf(6);
  let refusing = true;
  const connection = pickyClient(bench.redis(), ({ name, indexes }) =>
    refusing && name === 'settle' && indexes.includes(2) ? 'before' : null,
  );
  const realm = await DeafRealm.start(() => 200);
  const worker = await startWorkerInProcess(batch, bench.redis(), realm.url, PATIENT, undefined, {
    connection,
    limits: { refusedMs: 100 },
  });
  await until('the others to be paid', async () => (await paid(batch)) === 5);
  const listed = await until('it to be listed', async () => {
    const [one] = await waitingOf(batch.ref, { profiles: [] });
    return one?.why === 'store-refuses' && one;
  });
  expect(listed).toMatchObject({ orders: 1, tokens: '5', until: null, next: 'almoner recover' });
  expect(listed.message).toContain('WEIRD nothing that anybody has heard of');
  expect(listed.session).toBe(worker.session.id);
  refusing = false;
  await until('it to be paid as well', async () => (await paid(batch)) === 6);
  expect(await waitingOf(batch.ref, { profiles: [] })).toEqual([]);
  expect(realm.asked).toHaveLength(6);
  expect(await tieUp(batch.ledger)).toEqual([]);
  await worker.stop();
  expect(await listSessions(batch.ledger)).toEqual([]);
});

test('a stop waits for refused results up to its limit and says so; the next process settles them', async () => {
  const batch = await batchOf(3);
  const connection = pickyClient(bench.redis(), ({ name, indexes }) =>
    name === 'settle' && indexes.includes(1) ? 'before' : null,
  );
  const realm = await DeafRealm.start(() => 200);
  const folder = await tempFolder();
  const worker = await startWorkerInProcess(batch, bench.redis(), realm.url, PATIENT, folder, {
    connection,
    limits: { stopMs: 500 },
  });
  await until('the others to be paid', async () => (await paid(batch)) === 2);
  const begun = performance.now();
  await expect(worker.stop()).rejects.toMatchObject({
    code: 'ALM_LEDGER_UNSETTLED',
    message: expect.stringContaining('WEIRD'),
  });
  expect(performance.now() - begun).toBeLessThan(3_000);
  expect((await listSessions(batch.ledger)).map(({ id }) => id)).toEqual([worker.session.id]);
  expect(await countsOf(batch)).toMatchObject({ paid: 2, sending: 1 });
  const next = await startWorkerInProcess(batch, bench.redis(), realm.url, PATIENT, folder);
  await until('the journal to settle it', async () => (await paid(batch)) === 3);
  expect(realm.asked).toHaveLength(3);
  await next.stop();
  expect(await listSessions(batch.ledger)).toEqual([]);
  expect(await tieUp(batch.ledger)).toEqual([]);
});

test('an error after the ledger has begun an order puts the order back, and it is paid once', async () => {
  const batch = await batchOf(4);
  let failures = 3;
  const connection = pickyClient(bench.redis(), ({ name }) => {
    if (name !== 'begin' || failures === 0) return null;
    failures -= 1;
    return 'after';
  });
  const realm = await DeafRealm.start(() => 200);
  await startWorkerInProcess(batch, bench.redis(), realm.url, PATIENT, undefined, { connection });
  await until('all to be paid', async () => (await paid(batch)) === 4);
  expect(realm.asked).toHaveLength(4);
  expect(await tieUp(batch.ledger)).toEqual([]);
});

test('an exception while a request is under way makes the order unknown, and it is resent under its key', async () => {
  const batch = await batchOf(2);
  const realm = await DeafRealm.start(() => 200);
  let failures = 1;
  await startWorkerInProcess(batch, bench.redis(), realm.url, PATIENT, undefined, {
    change: (plain) => ({
      ...plain,
      changeBalance: async (change) => {
        const outcome = await plain.changeBalance(change);
        failures -= 1;
        if (failures >= 0) throw new Error('a bug between the answer and the ledger');
        return outcome;
      },
    }),
  });
  await until('both to be paid', async () => (await paid(batch)) === 2);
  expect(realm.applied).toHaveLength(2);
  expect(await tieUp(batch.ledger)).toEqual([]);
});

test('`recover` settles from a live process’s journal what the store refuses to accept from that process', async () => {
  const batch = await batchOf(2);
  const connection = pickyClient(bench.redis(), ({ name, indexes }) =>
    name === 'settle' && indexes.includes(2) ? 'before' : null,
  );
  const realm = await DeafRealm.start(() => 200);
  const folder = await tempFolder();
  const worker = await startWorkerInProcess(batch, bench.redis(), realm.url, PATIENT, folder, { connection });
  await until('the other to be paid', async () => (await paid(batch)) === 1);
  expect(await waitingOf(batch.ref, { profiles: [] })).toEqual([]);
  await age(batch, 2, 60_000);
  expect(await waitingOf(batch.ref, { profiles: [] })).toMatchObject([
    { why: 'overdue', orders: 1, next: 'almoner recover', session: worker.session.id },
  ]);
  const { merged } = await recoverRealms(appIn(folder, batch));
  expect(merged).toBe(1);
  expect(await paid(batch)).toBe(2);
  expect(await waitingOf(batch.ref, { profiles: [] })).toEqual([]);
  expect(realm.asked).toHaveLength(2);
  // The process learns of it although the script still fails, and leaves in order.
  await worker.stop();
  expect(await listSessions(batch.ledger)).toEqual([]);
  expect(await tieUp(batch.ledger)).toEqual([]);
});

/** Makes the order’s times earlier by `ms`. */
async function age({ ledger, no }: TestBatch, index: number, ms: number): Promise<void> {
  const keys = batchKeys(ledger.keyPrefix, no);
  const { redis } = ledger.scripts;
  const fields = ((await redis.hget(keys.records(0), String(index))) ?? '').split('|');
  const sentMs = Number.parseInt(fields[6] ?? '', 36);
  fields[6] = (sentMs - ms).toString(36);
  await redis.hset(keys.records(0), String(index), fields.join('|'));
  await redis.zadd(keys.due, sentMs - ms, String(index));
}

/** `almoner recover` in the same data folder; to the store it looks like a separate process. */
function appIn(folder: string, { ledger }: TestBatch): App {
  const { name, baseUrl, realmId } = ledger.realm;
  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {}, { here: new Here(folder) });
  return Object.create(App.prototype, {
    scripts: { value: scripts },
    config: {
      value: {
        profiles: [testProfile({ name, baseUrl, realmId, certainty: 'idempotent' })],
        dataFolder: folder,
        operator: 'ada',
        limits: { mergePatienceMs: 0 },
      },
    },
    openings: { value: new Map() },
    logger: { value: { warn: () => {} } },
  });
}
