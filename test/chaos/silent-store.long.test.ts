import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Program } from '../support/program/program.js';
import { expectStoreNamed, openSilentWorld } from '../support/program/silent-store.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { uniqueRuns } from '../support/program/unique-runs.js';
import { until } from '../support/until.js';

/**
 * The store's host vanishes. BullMQ asks with commands that block for up to 15 s, so that a run needs as long to notice;
 * a command waits as long for a store that it had.
 */
const ROWS = 160;
let world: Program;

beforeAll(async () => {
  world = await openSilentWorld(2 * ROWS + 1);
});
afterAll(async () => {
  signalStore('SIGCONT');
  await world.end();
});

const signalStore = (signal: NodeJS.Signals) => process.kill(world.store.pid, signal);

const { begin: running, expectAllPaid } = uniqueRuns(() => world, ROWS);

test('the host vanishes under a run and is back under new connections: it goes on by itself, nobody in doubt', async () => {
  const { run } = await running();
  world.storeNet.silence();
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

test('status and doctor end with the store’s error when it is silent from the first byte', async () => {
  world.storeNet.mode = 'silent';
  await expectStoreNamed(world, () => world.storeNet.heal());
});

test('a command in the middle of which the store falls silent ends with the store’s error as well', async () => {
  await world.file('waits.csv', uniqueRows(1, 2 * ROWS).csv);
  const imported = await world.run('import', 'waits.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const watching = world.start(['status', 'last', '--watch', '--json']);
  await until('the progress to be shown', () => watching.stderr().includes('0/1'));
  world.storeNet.mode = 'silent';
  world.storeNet.silence();
  expect(await watching.ended).toBe(5);
  world.storeNet.heal();
  expect(watching.stdout()).toContain('ALM_STORE_UNREACHABLE');
});
