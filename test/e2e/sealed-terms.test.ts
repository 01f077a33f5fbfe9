import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { document, field, textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { type PickyRealm, startPickyRealm } from '../support/program/picky-realm.js';
import { startWorkerBeside, type WorkerBeside } from '../support/program/worker-beside.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** The sender keeps the terms that were confirmed, whatever changes in the profile afterwards. */

let store: TestRedis;
let realm: PickyRealm;
let folder: string;
const workers = new Set<WorkerBeside>();
beforeEach(async () => {
  store = await startRedis();
  realm = await startPickyRealm();
  folder = await mkdtemp(join(tmpdir(), 'almoner-sealed-'));
});
afterEach(async () => {
  for (const worker of workers) await stop(worker);
  await realm.close();
  await store.stop();
  await rm(folder, { recursive: true, force: true });
});

async function profile(changes: Readonly<Record<string, string | null>> = {}): Promise<void> {
  const settings = {
    baseUrl: realm.url,
    realmId: 'picky',
    keyEnv: 'ALMONER_API_KEY',
    rate: 'none',
    certainty: 'manual',
    realmPointId: 'gold',
    ...changes,
  };
  await writeFile(
    join(folder, 'almoner.config.yaml'),
    `realms:\n  guild: ${JSON.stringify({ ...settings, attempts: { max: 5, backoffMs: 20, backoffMaxMs: 50 } })}\n`,
  );
}

const env = () => ({
  REDIS_URL: store.url,
  ALMONER_DATA: join(folder, 'data'),
  ALMONER_REPORTS: join(folder, 'reports'),
  ALMONER_API_KEY: 'key-of-the-picky-realm',
});
const run = (...args: string[]) => almoner([...args, '--json'], { cwd: folder, env: env() });

async function imported(rows: string): Promise<string> {
  await writeFile(join(folder, 'awards.csv'), `member,tokens,reference\n${rows}`);
  const ran = await run('import', 'awards.csv', '--yes');
  expect([ran.status, ran.stderr]).toMatchObject([0, expect.any(String)]);
  return textField(ran, 'batch');
}

async function work(): Promise<WorkerBeside> {
  const worker = await startWorkerBeside({ env: { HOME: folder, ...env() }, cwd: folder });
  workers.add(worker);
  return worker;
}

async function stop(worker: WorkerBeside): Promise<void> {
  workers.delete(worker);
  await worker.stop();
}

/** What the ledger itself says, past the commands. */
const view = async (batch: string) =>
  readBatch(await findBatch(new ScriptClient(store.client(), 5_000, () => {}), batch));
const told = async (batch: string) => (await view(batch))?.state;
const counted = async (batch: string) => (await view(batch))?.counts;
const untilState = (batch: string, state: string) =>
  until(`batch to be ${state}`, async () => (await told(batch)) === state, 60_000);

const ROWS = '1,5,a\n2,6,b\n3,7,c\n';

describe('a batch confirmed in gold', { timeout: 180_000 }, () => {
  it('is not paid in gems: it is halted until the profile is as it was, and then paid in gold', async () => {
    await profile();
    const batch = await imported(ROWS);
    await profile({ realmPointId: 'gems' });
    const early = await run('status', batch);
    expect([early.status, document(early)]).toMatchObject([
      5,
      { state: 'halted', reason: { code: 'ALM_BATCH_TERMS_CHANGED' } },
    ]);

    const worker = await work();
    await untilState(batch, 'halted');
    const halted = await run('status', batch);
    expect(halted.status).toBe(5);
    const message = textField(halted, 'reason.message');
    expect(message).toContain('gold');
    expect(message).toContain('gems');
    expect(textField(halted, 'reason.next')).toContain(`almoner cancel ${batch}`);
    const refused = await run('resume', batch);
    expect([refused.status, refused.stdout + refused.stderr]).toEqual([
      5,
      expect.stringContaining('ALM_BATCH_TERMS_CHANGED'),
    ]);
    await stop(worker);
    expect(realm.writes).toEqual([]);

    await profile();
    await work();
    await untilState(batch, 'done');
    expect(realm.bodies).toHaveLength(3);
    for (const body of realm.bodies) expect(body).toMatchObject({ realmPointId: 'gold' });
    expect((await run('report', batch)).status).toBe(0);
    const reports = join(folder, 'reports', batch);
    const summary = JSON.parse(await readFile(join(reports, 'summary.json'), 'utf8'));
    expect(summary.manifest).toMatchObject({ currency: 'gold', certainty: 'manual' });
    expect(await readFile(join(reports, 'report.html'), 'utf8')).toContain('<dd>gold</dd>');

    // What was paid in gold is taken back in gold or not at all.
    expect((await run('undo', batch, '--out', 'undo.csv')).status).toBe(0);
    await profile({ realmPointId: 'gems' });
    const undone = await run('plan', 'undo.csv');
    expect([undone.status, field(undone, 'faults.0.code')]).toEqual([3, 'ALM_ROW_CURRENCY_OTHER']);
  });

  it('goes on with resume, and can be cancelled, whatever the profile says', async () => {
    await profile();
    const [kept, given] = [await imported(ROWS), await imported('4,1,d\n')];
    await profile({ realmPointId: 'gems' });
    const worker = await work();
    await untilState(kept, 'halted');
    await untilState(given, 'halted');
    await stop(worker);
    expect((await run('cancel', given)).status).toBe(0);
    expect(await told(given)).toBe('cancelled');
    await profile();
    expect((await run('resume', kept)).status).toBe(0);
    await work();
    await untilState(kept, 'done');
    expect(realm.writes.toSorted()).toEqual(['1', '2', '3']);
  });

  it('cancelled while something in it is unknown: that becomes a doubt, and is not sent again', async () => {
    await profile({ certainty: 'idempotent' });
    const batch = await imported('81,6,b\n');
    const first = await work();
    await until('it to be unknown', async () => (await counted(batch))?.unknown === 1, 60_000);
    await stop(first);
    const sent = realm.writes.length;
    await profile({ certainty: 'idempotent', realmPointId: 'gems' });
    expect((await run('cancel', batch)).status).toBe(0);
    await work();
    await until('it to be a doubt', async () => (await counted(batch))?.doubt === 1, 60_000);
    expect(realm.writes).toHaveLength(sent);
  });

  it('whose address was edited does not stand in silence', async () => {
    await profile();
    const batch = await imported(ROWS);
    await profile({ baseUrl: 'http://127.0.0.1:9' });
    const worker = await work();
    const status = await run('status', batch);
    expect([status.status, document(status)]).toMatchObject([
      5,
      { state: 'halted', reason: { code: 'ALM_BATCH_TERMS_CHANGED' } },
    ]);
    for (const address of [realm.url, 'http://127.0.0.1:9'])
      expect(textField(status, 'reason.message')).toContain(address);
    const listed = await run('status');
    expect([listed.status, field(listed, 'batches.0.state')]).toEqual([0, 'halted']);
    const resumed = await run('resume', batch);
    expect([resumed.status, resumed.stdout + resumed.stderr]).toEqual([
      5,
      expect.stringContaining(realm.url),
    ]);
    await stop(worker);
    expect((await run('cancel', batch)).status).toBe(0);
    expect(realm.writes).toEqual([]);
  });
});

describe('of certainty the stricter counts', { timeout: 180_000 }, () => {
  it.each([
    ['manual', 'idempotent'],
    ['idempotent', 'manual'],
  ])('sealed %s, now %s: an unknown is a doubt and is not sent again', async (sealed, now) => {
    await profile({ certainty: sealed });
    const batch = await imported('1,5,a\n81,6,b\n');
    await profile({ certainty: now });
    await work();
    await untilState(batch, 'done');
    expect(field(await run('status', batch), 'counts')).toEqual({ paid: 1, doubt: 1 });
    expect(realm.writes.toSorted()).toEqual(['1', '81']);
  });
});
