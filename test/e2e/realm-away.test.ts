import { afterEach, expect, test } from 'vitest';
import { realmState } from '../../src/ledger/moves/steer.js';
import { RealmAndWorkers, type RealmAndWorkersOptions } from '../support/realm-and-workers.js';
import { uniqueRows } from '../support/unique-rows.js';
import { until } from '../support/until.js';

/**
 * The realm's process is killed, and its address refuses connections: nothing was sent, so nothing is known
 * against any order. The certainty is manual and the realm honours no key: a second payment would show.
 */
let world: RealmAndWorkers;
afterEach(() => world.close());

async function open(rows: number, more: Partial<RealmAndWorkersOptions> = {}) {
  world = await RealmAndWorkers.open({
    certainty: 'manual',
    mortalRealm: true,
    members: uniqueRows(rows).seeds,
    attempts: '{max: 3, backoffMs: 50, backoffMaxMs: 60000}',
    ...more,
  });
  await world.file('pay.csv', uniqueRows(rows).csv);
}

async function leave(): Promise<void> {
  await world.killRealm();
  await world.realmNet.shut();
}

async function comeBack(): Promise<void> {
  await world.startRealm();
  await world.realmNet.reopen();
}

const breakerOpens = (stderr: () => string) =>
  until(
    `the breaker to open: ${stderr()}`,
    async () => (await realmState(world.ledger())).breakerSince ?? undefined,
    60_000,
  );

/** Until it has been asked in vain so many times. */
async function probes(count: number): Promise<void> {
  const { scripts, keyPrefix } = world.ledger();
  const turns = new Set<string | null>();
  await until(
    'probes in vain',
    async () => {
      turns.add(await scripts.redis.hget(keyPrefix, 'probeAt'));
      return turns.size > count;
    },
    30_000,
  );
}

test('three rows and a realm that is away from the start: when it is back they are paid at once, and the run ends 0', async () => {
  await open(3);
  await leave();
  const run = world.start(['run', 'pay.csv', '--yes', '--json']);
  await breakerOpens(run.stderr);
  await probes(5);
  const waiting = JSON.parse((await world.run('status', 'last', '--json')).stdout);
  expect(waiting).toMatchObject({
    state: 'running',
    counts: { planned: 3 },
    requests: 0,
    etaSeconds: null,
    waiting: [{ why: 'breaker', orders: 3, next: null }],
  });
  expect(Date.parse(waiting.waiting[0].until)).toBeGreaterThan(Date.now() + 600_000);
  // The process that waits says so itself.
  await until('its progress to say so', () => /3 wait \(breaker since/.test(run.stderr()));
  await comeBack();
  expect(await run.ended, run.stderr()).toBe(0);
  expect(JSON.parse(run.stdout())).toMatchObject({ state: 'done', counts: { paid: 3 } });
  expect(await world.applied()).toHaveLength(3);
}, 120_000);

test('sixty rows and a realm that goes away in the middle: nothing is burnt, all are paid, once', async () => {
  await open(60, { rate: '20/s' });
  const run = world.start(['run', 'pay.csv', '--yes', '--json']);
  await until('payments', async () => (await world.appliedCount()) >= 10, 60_000);
  await leave();
  await breakerOpens(run.stderr);
  await probes(3);
  await comeBack();
  const status = await run.ended;
  const { state, counts } = JSON.parse(run.stdout());
  expect(state).toBe('done');
  // What was under way at the kill is a doubt; everything else was never sent and is paid.
  expect((counts.paid ?? 0) + (counts.doubt ?? 0)).toBe(60);
  expect(counts.doubt ?? 0).toBeLessThan(5);
  expect(status, run.stderr()).toBe(counts.doubt > 0 ? 4 : 0);
  expect(await world.appliedCount()).toBeGreaterThanOrEqual(counts.paid);
  expect(await world.appliedCount()).toBeLessThanOrEqual(60);
}, 120_000);

test('away for longer than the breaker stays open, the run ends 5 with the reason, and resume goes on', async () => {
  await open(30, { limits: { breakerHaltMs: 1_000 } });
  await leave();
  const run = world.start(['run', 'pay.csv', '--yes', '--json']);
  expect(await run.ended, run.stderr()).toBe(5);
  const halted = JSON.parse(run.stdout());
  expect(halted).toMatchObject({
    state: 'halted',
    reason: { code: 'ALM_BATCH_BREAKER' },
    counts: { planned: 30 },
  });
  expect((await world.run('resume', 'last')).status).toBe(5);
  await comeBack();
  const resumed = await world.run('resume', 'last', '--json');
  expect(resumed.status, resumed.stderr).toBe(0);
  const worker = world.start(['worker']);
  await until(
    `all to be paid: ${worker.stderr()}`,
    async () => JSON.parse((await world.run('status', 'last', '--json')).stdout).state === 'done',
    30_000,
  );
  expect(await world.applied()).toHaveLength(30);
}, 120_000);
