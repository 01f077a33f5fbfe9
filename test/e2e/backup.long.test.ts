import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { RESTORE_POINTS } from '../../src/core/fail-point.js';
import { MAIN } from '../support/program/almoner.js';
import { auditByContent } from '../support/program/auditor.js';
import { Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

const PRELOAD = fileURLToPath(new URL('../support/fail-point-preload.mjs', import.meta.url));
const POINTS = resolve(dirname(MAIN), '../core/fail-point.js');

let world: Program;
afterEach(() => world.end());

async function ok(...args: string[]) {
  const started = world.start([...args, '--json']);
  expect(await started.ended, `${args.join(' ')}: ${started.stdout()}${started.stderr()}`).toBe(0);
  return JSON.parse(started.stdout());
}

/** The command lines of all processes that name the folder. */
async function processesIn(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line.includes(folder));
}

const asides = async () =>
  (await readdir(join(world.folder, 'data'))).filter((name) => /^redis\./.test(name));

describe('a restore that is killed, given again', () => {
  const ROWS = 12;
  const before = uniqueRows(ROWS);
  const since = uniqueRows(ROWS, ROWS);
  const open = uniqueRows(ROWS, 2 * ROWS);

  test('ends as if it had not been, wherever it was killed', async () => {
    world = await Program.start({
      store: 'embedded',
      network: true,
      certainty: 'manual',
      members: [...before.seeds, ...since.seeds, ...open.seeds],
      profile: {},
    });
    for (const [name, { csv }] of Object.entries({ before, since, open }))
      await world.file(`${name}.csv`, csv);
    await ok('run', 'before.csv', '--yes');
    const { batch } = await ok('import', 'open.csv', '--yes');
    await ok('backup', 'kept');
    await ok('run', 'since.csv', '--yes');
    let replaced = 0;
    for (const point of RESTORE_POINTS) {
      await killedAt(point);
      await ok('restore', 'kept', '--yes');
      // Where the first one had come to its end, it has replaced a store too.
      replaced += point === 'restore-done' ? 2 : 1;
      expect(
        (await asides()).filter((name) => name.startsWith('redis.restoring-')),
        point,
      ).toEqual([]);
      expect((await asides()).length, point).toBe(replaced);
      for (const name of await asides())
        expect(await readdir(join(world.folder, 'data', name)), point).toEqual(['appendonlydir']);
      expect((await ok('verify')).ties, point).toBe(true);
    }
    await ok('run', 'since.csv', '--yes');
    expect(await world.appliedCount()).toBe(2 * ROWS);
    await ok('resume', '--after-rollback');
    const worker = world.start(['worker']);
    await until('the open batch to be paid', async () => (await world.appliedCount()) === 3 * ROWS);
    worker.child.kill('SIGTERM');
    await worker.ended;
    await ok('report', batch);
    const verdicts = await auditByContent(await world.applied(), join(world.folder, 'reports'), batch);
    expect(verdicts).toEqual({ states: { paid: ROWS }, wrong: [] });
    expect((await ok('verify')).ties).toBe(true);
  });

  /** A restore that gets SIGKILL at the point, and what other commands say then. */
  async function killedAt(point: (typeof RESTORE_POINTS)[number]) {
    const killed = world.start(
      ['restore', 'kept', '--yes', '--json'],
      { FAIL_AT: `${point}:SIGKILL:1`, FAIL_POINTS: POINTS },
      ['--import', PRELOAD],
    );
    expect(await killed.ended, `${point}: ${killed.stderr()}`).toBe(null);
    const status = await world.run('status', '--json');
    const isBetween = ['restore-noted', 'restore-aside', 'restore-in'].includes(point);
    expect(status.status, `${point}: ${status.stdout}`).toBe(isBetween ? 5 : 0);
    if (isBetween) expect(JSON.parse(status.stdout).error.code).toBe('ALM_BACKUP_RESTORE_UNFINISHED');
    const staged = join(world.folder, 'data', 'redis.restoring-');
    await until(
      'the private server to end with its process',
      async () => (await processesIn(staged)).length === 0,
    );
  }
});

describe('a backup while payments run at full speed', () => {
  const ROWS = 3_000;
  const { csv, seeds } = uniqueRows(ROWS);

  test.each([
    ['stopped in order, and keys are not honoured', 'manual', 'SIGTERM'],
    ['killed, and keys are honoured', 'idempotent', 'SIGKILL'],
  ] as const)('restored and recovered, every row is paid once: workers %s', async (_, certainty, signal) => {
    world = await Program.start({
      store: 'embedded',
      network: true,
      certainty,
      members: seeds,
      // So that all of it falls into the run: on a fast machine, and on a busy one where each command takes seconds.
      rate: '150/s',
      profile: { attempts: { backoffMs: 50, backoffMaxMs: 500 } },
    });
    await world.file('all.csv', csv);
    const { batch } = await ok('import', 'all.csv', '--yes');
    const workers = [0, 1].map(() => world.start(['worker']));
    const reached = (count: number) =>
      until(`payment ${count}`, async () => (await world.appliedCount()) >= count, 60_000);
    for (const [i, count] of [150, 400, 700].entries()) {
      await reached(count);
      await ok('backup', `kept-${i}`);
    }
    // A batch that moves is not checked, and nothing that moves is taken for a difference.
    expect((await ok('verify')).ties).toBe(true);
    await reached(1_000);
    for (const { child, ended } of workers) {
      child.kill(signal);
      await ended;
    }
    const paid = await world.appliedWhenQuiet();
    expect(paid).toBeLessThan(ROWS);
    for (const i of [0, 1, 2]) {
      const checked = await ok('verify', '--backup', `kept-${i}`);
      expect(checked.realms[0]).toMatchObject({ orders: ROWS, differences: [], unchecked: [] });
    }
    // The newest first, then an older one on top of it.
    for (const i of [2, 0]) {
      const restored = await ok('restore', `kept-${i}`, '--yes');
      expect(restored.merged).toBeGreaterThan(0);
      expect((await ok('verify')).ties).toBe(true);
    }
    await ok('resume', '--after-rollback');
    const worker = world.start(['worker']);
    await until(
      'the batch to be done',
      async () => JSON.parse((await world.run('status', batch, '--json')).stdout).state === 'done',
      120_000,
      500,
    );
    worker.child.kill('SIGTERM');
    await worker.ended;
    await ok('report', batch);
    const verdicts = await auditByContent(await world.applied(), join(world.folder, 'reports'), batch);
    expect(verdicts).toEqual({ states: { paid: ROWS }, wrong: [] });
    expect(await world.appliedCount()).toBe(ROWS);
    expect((await ok('verify')).ties).toBe(true);
  });
});
