import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { uniqueRuns } from '../support/program/unique-runs.js';
import { until } from '../support/until.js';

/**
 * The store or a disk fails in the middle of a run. The realm honours no key and the certainty is manual, so
 * every wrong step would show: as a second payment, or as a doubt that nobody had to have.
 */
const ROWS = 160;
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: uniqueRows(ROWS * 5).seeds,
      rate: '80/s',
    }),
  );
});
afterAll(() => world.end());

const { begin, expectAllPaid } = uniqueRuns(() => world, ROWS);

/** A run of about two seconds, in the middle of which something happens. */
async function runThrough(trouble: (run: ReturnType<Program['start']>) => Promise<void>) {
  const { run, name } = await begin();
  await trouble(run);
  return { run, name, status: await run.ended };
}

test('the store is away for a while: no order is claimed, answers are kept, and the run resumes by itself', async () => {
  const { run, status } = await runThrough(async () => {
    await world.store.kill();
    const sent = await world.appliedWhenQuiet();
    await sleep(2_000);
    expect(await world.appliedCount()).toBe(sent);
    await world.store.restart();
  });
  expect(status, run.stderr()).toBe(0);
  await expectAllPaid(run.stdout());
});

test('the store is out of memory for a while: nothing is lost, and the log is not flooded', async () => {
  const { run, status } = await runThrough(async () => {
    const client = world.store.client();
    await client.config('SET', 'maxmemory', '1');
    await world.appliedWhenQuiet();
    await sleep(1_500);
    await client.config('SET', 'maxmemory', '0');
  });
  expect(status, run.stderr()).toBe(0);
  expect(run.stderr().split('\n').length).toBeLessThan(200);
  await expectAllPaid(run.stdout());
});

test('the store’s disk is full: it ends rather than forget, and the run waits for it', async () => {
  const { run, status } = await runThrough(async () => {
    const { pid } = world.store;
    limitFiles(pid, 1);
    // It cannot append any more: it ends, or answers that it cannot write; either way nothing is claimed.
    await world.appliedWhenQuiet();
    await world.store.kill();
    await world.store.restart();
  });
  expect(status, run.stderr()).toBe(0);
  await expectAllPaid(run.stdout());
});

test('the journal’s disk is full: the process reports it, ends with 1, and the next one finishes the file', async () => {
  const { run, name, status } = await runThrough(async ({ child }) => limitFiles(child.pid ?? -1, 1));
  expect(status).toBe(1);
  expect(run.stderr()).toContain('ALM_LEDGER_JOURNAL_FAILED');
  const again = await world.run('run', name, '--yes', '--json');
  expect(again.status, again.stderr).toBe(0);
  await expectAllPaid(again.stdout);
});

test('the network between worker and store loses replies: every call is repeated and counts once', async () => {
  const { run, status } = await runThrough(async () => {
    const net = world.storeNet;
    const more = async (which: 'lost' | 'passed') => {
      const before = net.answers[which];
      await until(`answers to be ${which}`, () => net.answers[which] > before + 3);
    };
    for (let i = 0; i < 3; i++) {
      net.mode = 'lose-answers';
      await more('lost');
      net.heal();
      await more('passed');
      net.cut();
    }
  });
  expect(status, run.stderr()).toBe(0);
  await expectAllPaid(run.stdout());
});

/** The largest file the process may write, in bytes: what a full disk looks like to it. */
function limitFiles(pid: number, bytes: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:${bytes}`]);
}
