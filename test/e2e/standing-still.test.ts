import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { RealmAndWorkers, type RealmAndWorkersOptions } from '../support/realm-and-workers.js';
import { uniqueRows } from '../support/unique-rows.js';
import { until } from '../support/until.js';

/** No order stands still in silence: what real processes leave behind is named wherever people look. */
const ROWS = 60;
let world: RealmAndWorkers;
afterEach(() => world.close());

async function open(more: Partial<RealmAndWorkersOptions> = {}): Promise<void> {
  world = await RealmAndWorkers.open({ certainty: 'manual', members: uniqueRows(ROWS).seeds, ...more });
  await world.file('pay.csv', uniqueRows(ROWS).csv);
}

async function status() {
  const ran = await world.run('status', 'last', '--json');
  expect(ran.status, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout);
}

const sendingNow = (count: number, stderr: () => string) =>
  until(
    `${count} orders being sent: ${stderr()}`,
    async () => {
      const ref = await findBatch(world.ledger().scripts, 'last').catch(() => undefined);
      return ref !== undefined && ((await readBatch(ref))?.counts.sending ?? 0) >= count;
    },
    60_000,
  );

test('imported and no worker there; a run that was killed: each says so, and what ends it', async () => {
  await open({ realmFaults: ['latency:1:1000'], rate: '1/s' });
  const imported = await world.run('import', 'pay.csv', '--yes', '--json');
  expect(JSON.parse(imported.stdout).waiting).toMatchObject([
    { why: 'no-worker', orders: ROWS, until: null, next: 'almoner worker' },
  ]);
  const worker = world.start(['worker']);
  await until('the worker to have it', async () => (await status()).waiting.length === 0, 60_000);
  worker.child.kill('SIGTERM');
  await worker.ended;
  const { batch, counts, waiting, etaSeconds } = await status();
  expect({ waiting, etaSeconds }).toMatchObject({
    waiting: [{ why: 'no-worker', orders: counts.planned }],
    etaSeconds: null,
  });

  const run = world.start(['run', 'pay.csv', '--yes', '--json']);
  await sendingNow(1, run.stderr);
  run.child.kill('SIGKILL');
  await run.ended;
  const killed = await status();
  expect(killed).toMatchObject({ state: 'paused', etaSeconds: null });
  const named = killed.waiting.map(({ why, next }: { why: string; next: string }) => [why, next]);
  expect(named).toEqual([
    ['no-worker', `almoner resume ${batch}`],
    ['dead-session', `almoner resume ${batch}`],
  ]);
  const orders = killed.waiting.reduce((sum: number, one: { orders: number }) => sum + one.orders, 0);
  expect(orders).toBe((killed.counts.planned ?? 0) + killed.counts.sending);
}, 180_000);

test('a worker lost with its machine and its disk: named by status, doctor and recover, with the command', async () => {
  await open({ realmFaults: ['latency:1:300'] });
  await world.run('import', 'pay.csv', '--yes', '--json');
  const lost = world.start(['worker', '--concurrency', '3'], world.env('lost'));
  await sendingNow(3, lost.stderr);
  lost.child.kill('SIGKILL');
  await lost.ended;
  await rm(join(world.folder, 'lost'), { recursive: true });
  const session = await movedAway();
  const { sending } = (await status()).counts;
  expect(sending).toBeGreaterThan(0);

  const other = world.start(['worker']);
  const named = await until(
    `only what was lost to be left: ${other.stderr()}`,
    async () => {
      const now = await status();
      return (now.counts.planned ?? 0) === 0 && now.counts.sending === sending ? now : undefined;
    },
    90_000,
  );
  expect(named).toMatchObject({ state: 'running', counts: { paid: ROWS - sending }, etaSeconds: null });
  expect(named.waiting).toMatchObject([
    {
      why: 'missing-session',
      orders: sending,
      tokens: named.tokens.sending,
      until: null,
      next: `almoner recover --accept-missing ${session}`,
      session,
    },
  ]);
  expect(named.waiting[0].message).toContain('machine away');
  const text = await world.run('status', 'last');
  expect(text.stdout).toContain(`almoner recover --accept-missing ${session}`);
  const doctor = await world.run('doctor', '--json');
  expect(JSON.parse(doctor.stdout).checks).toContainEqual(
    expect.objectContaining({
      name: 'waiting',
      state: 'failed',
      message: expect.stringContaining(session),
      remedy: expect.stringContaining(`--accept-missing ${session}`),
    }),
  );
  const recover = await world.run('recover');
  expect(recover.stdout).toContain(
    `${sending} orders stand still (${named.tokens.sending} tokens, absolute). Session ${session}`,
  );
  expect(recover.stdout).toContain(`almoner recover --accept-missing ${session}`);
  // A worker that waits says for what.
  await until('its log to say so', () => other.stderr().includes('missing-session'), 60_000);
}, 240_000);

/** As far as this machine can tell, the only registered session was on another one, and is silent for a while. */
async function movedAway(): Promise<string> {
  const { scripts, keyPrefix } = world.ledger();
  const [entry] = Object.entries(await scripts.redis.hgetall(`${keyPrefix}:sessions`));
  const [id = '', json = '{}'] = entry ?? [];
  const far = { machine: 'away', boot: 'another', socket: '/nowhere/sessions/x.sock', place: '1:1' };
  const silentMs = Date.now() - 50_000;
  await scripts.redis.hset(
    `${keyPrefix}:sessions`,
    id,
    JSON.stringify({ ...JSON.parse(json), ...far, startedAt: silentMs }),
  );
  await scripts.redis.hset(`${keyPrefix}:seen`, id, silentMs);
  return id;
}
