import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Program } from '../support/program/program.js';
import { ANSWER_MS, expectStoreNamed, openSilentWorld } from '../support/program/silent-store.js';
import { uniqueRuns } from '../support/program/unique-runs.js';
import { until } from '../support/until.js';

/** The store is frozen: it stops answering and closes no connection. silent-store.long.test.ts lets its host vanish. */
const ROWS = 160;
let world: Program;

beforeAll(async () => {
  world = await openSilentWorld(ROWS);
});
afterAll(async () => {
  signalStore('SIGCONT');
  await world.end();
});

const signalStore = (signal: NodeJS.Signals) => process.kill(world.store.pid, signal);

const { begin: running, expectAllPaid } = uniqueRuns(() => world, ROWS);

test('a store frozen under a run for longer than calls wait: no order is sent, then the run resumes at once', async () => {
  const { run } = await running();
  signalStore('SIGSTOP');
  const sent = await world.appliedWhenQuiet(2 * ANSWER_MS);
  signalStore('SIGCONT');
  const startedAt = performance.now();
  await until('payments to go on', async () => (await world.appliedCount()) > sent + 60, 90_000);
  // Sixty orders are two windows; the time-out of a lost slot would be a minute.
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(await run.ended, run.stderr()).toBe(0);
  await expectAllPaid(run.stdout());
});

test('status and doctor end with the store’s error', async () => {
  signalStore('SIGSTOP');
  await expectStoreNamed(world, () => signalStore('SIGCONT'));
});
