import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealmAndWorkers } from '../support/realm-and-workers.js';
import { uniqueRows } from '../support/unique-rows.js';
import { uniqueRuns } from '../support/unique-runs.js';
import { until } from '../support/until.js';

/**
 * The store stops answering and closes no connection: its host has vanished, or it is frozen. A request may
 * take a minute here, so that a slot of the pace that got lost on the way would show as a minute of silence.
 */
const ROWS = 160;
const ANSWER_MS = 1_500;
const STOP_MS = 4_000;
let world: RealmAndWorkers;

beforeAll(async () => {
  world = await RealmAndWorkers.open({
    certainty: 'manual',
    members: uniqueRows(ROWS * 3).seeds,
    rate: '40/s',
    totalMs: 60_000,
    limits: { storeAnswerMs: ANSWER_MS, stopMs: STOP_MS },
  });
});
afterAll(async () => {
  signalStore('SIGCONT');
  await world.close();
});

const signalStore = (signal: NodeJS.Signals) => process.kill(world.store.pid, signal);

const { begin: running, expectAllPaid } = uniqueRuns(() => world, ROWS);

test('the host vanishes under a run and is back under new connections: it goes on by itself, nobody in doubt', async () => {
  const { run } = await running();
  world.ledgerNet.silence();
  expect(await run.ended, run.stderr()).toBe(0);
  await expectAllPaid(run.stdout());
});

test('the store is frozen under a run for longer than calls wait: nothing is sent, then it goes on at once', async () => {
  const { run } = await running();
  signalStore('SIGSTOP');
  const sent = await world.appliedWhenQuiet(4 * ANSWER_MS);
  signalStore('SIGCONT');
  const startedAt = performance.now();
  await until('payments to go on', async () => (await world.appliedCount()) > sent + 60, 90_000);
  // Sixty orders are two windows; the time-out of a lost slot would be a minute.
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(await run.ended, run.stderr()).toBe(0);
  await expectAllPaid(run.stdout());
});

test('Ctrl-C while the store is frozen: the run leaves within its deadline, and the next one finishes the file', async () => {
  const { run, name } = await running();
  signalStore('SIGSTOP');
  await world.appliedWhenQuiet();
  run.child.kill('SIGINT');
  // Nobody wakes the store before it has left.
  expect(await run.ended).toBe(130);
  signalStore('SIGCONT');
  const again = await world.run('run', name, '--yes', '--json');
  expect(again.status, again.stderr).toBe(0);
  await expectAllPaid(again.stdout);
});

test.each(['frozen', 'silent from the first byte'])(
  'status and doctor end with the store’s error when it is %s',
  async (how) => {
    if (how === 'frozen') signalStore('SIGSTOP');
    else world.ledgerNet.mode = 'silent';
    const [status, doctor] = await Promise.all([
      world.run('status', '--json'),
      world.run('doctor', '--json'),
    ]);
    signalStore('SIGCONT');
    world.ledgerNet.heal();
    expect([status.status, status.stdout]).toEqual([5, expect.stringContaining('ALM_STORE_UNREACHABLE')]);
    expect(doctor.status).not.toBe(0);
    const { checks } = JSON.parse(doctor.stdout);
    for (const name of ['store', 'journals'])
      expect(checks).toContainEqual(
        expect.objectContaining({
          name,
          state: 'failed',
          message: expect.stringContaining('cannot be reached'),
        }),
      );
  },
);

test('a command in the middle of which the store falls silent ends with the store’s error as well', async () => {
  await world.file('waits.csv', uniqueRows(1, 3 * ROWS).csv);
  const imported = await world.run('import', 'waits.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const watching = world.start(['status', 'last', '--watch', '--json']);
  await until('the progress to be shown', () => watching.stderr().includes('0/1'));
  world.ledgerNet.mode = 'silent';
  world.ledgerNet.silence();
  expect(await watching.ended).toBe(5);
  world.ledgerNet.heal();
  expect(watching.stdout()).toContain('ALM_STORE_UNREACHABLE');
});
