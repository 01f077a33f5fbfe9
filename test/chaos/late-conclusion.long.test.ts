import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { isStopped } from '../support/is-stopped.js';
import { MAIN } from '../support/program/almoner.js';
import { auditByContent } from '../support/program/auditor.js';
import { HoldingRealm, type WriteFate } from '../support/program/holding-realm.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** Real processes that draw a conclusion, or hand one in, when the order has another attempt by then. */
const PRELOAD = fileURLToPath(new URL('../support/fail-point-preload.mjs', import.meta.url));
const TIMEOUT_MS = 600;
const SETTLE_MS = 2_000;

let world: Program | undefined;
let realm: HoldingRealm | undefined;
afterEach(async () => {
  await world?.end();
  await realm?.close();
});

async function start(certainty: 'manual' | 'readback', fateOf: (nth: number) => WriteFate) {
  const { csv, seeds } = uniqueRows(1);
  realm = await HoldingRealm.open(() => program.url, fateOf);
  const program = await Program.start(
    onBadNetwork({
      certainty,
      members: seeds,
      totalMs: TIMEOUT_MS,
      limits: { lockMs: 1_000, stalledMs: 1_000 },
      profile: {
        baseUrl: realm.url,
        settleMs: SETTLE_MS,
        timeouts: { connectMs: 500, tlsMs: 500, responseMs: TIMEOUT_MS, totalMs: TIMEOUT_MS },
        attempts: { max: 100, backoffMs: 50, backoffMaxMs: 500 },
      },
    }),
  );
  world = program;
  await program.file('pay.csv', csv);
  return { program, realm };
}

test('read-back: a worker frozen before it concludes does not conclude another worker’s attempt', async () => {
  // The first request is lost. The second arrives after its time-out and within the settle time.
  const { program, realm } = await start('readback', (nth) =>
    nth === 1 ? 'is lost' : nth === 2 ? TIMEOUT_MS + 900 : 'passes',
  );
  const imported = await program.run('import', 'pay.csv', '--yes', '--json');
  expect(imported.status, imported.stderr).toBe(0);
  const ref = await findBatch(program.ledger().scripts, String(JSON.parse(imported.stdout).batch));
  // The third reading is the second one after the settle time, and concludes.
  const frozen = program.start(
    ['worker', '--concurrency', '1'],
    { FAIL_AT: 'check-noted:SIGSTOP:3', FAIL_POINTS: resolve(dirname(MAIN), '../core/fail-point.js') },
    ['--import', PRELOAD],
  );
  await until(`the first worker to freeze: ${frozen.stderr()}`, () => isStopped(frozen.child.pid), 60_000);
  expect(realm.writes).toBe(1);
  const other = program.start(['worker', '--concurrency', '1']);
  await until(
    `the second attempt to be unknown: ${other.stderr()}`,
    async () => realm.writes === 2 && ((await readBatch(ref))?.counts.unknown ?? 0) === 1,
    60_000,
  );
  frozen.child.kill('SIGCONT');
  await until(
    `the batch to be done: ${other.stderr()}`,
    async () => (await readBatch(ref))?.state === 'done',
    60_000,
  );
  expect(realm.writes).toBe(2);
  await program.run('report', ref.id, '--json');
  const reports = join(program.folder, 'reports');
  const { states, wrong } = await auditByContent(await program.applied(), reports, ref.id);
  expect({ states, wrong }).toEqual({ states: { paid: 1 }, wrong: [] });
}, 120_000);

test('manual: an old list of doubts does not decide the doubt of a later attempt', async () => {
  // The first request is lost. The second is applied, and nobody is answered.
  const { program, realm } = await start('manual', (nth) => (nth === 1 ? 'is lost' : 0));
  const command = async (...args: string[]) => {
    const { ended, stdout, stderr } = program.start(args);
    return { status: await ended, stdout, stderr };
  };
  const ran = await command('run', 'pay.csv', '--yes', '--json');
  expect(ran.status, ran.stderr()).toBe(4);
  const batch = String(JSON.parse(ran.stdout()).batch);
  const doubts = await readFile(join(program.folder, 'reports', batch, 'doubt.csv'), 'utf8');
  await program.file('monday.csv', doubts.replace(/\n$/, 'unpaid\n'));
  await sleep(SETTLE_MS);
  const said = await command('doubt', 'resolve', '--file', 'monday.csv', '--reason', 'not in the log');
  expect(said.status, said.stderr()).toBe(0);
  const retried = await command('dead', 'retry', `${batch}-1`, '--reason', 'again', '--run');
  expect(retried.status, retried.stderr()).toBe(4);
  expect(realm.writes).toBe(2);
  await sleep(SETTLE_MS);
  const late = await command('doubt', 'resolve', '--file', 'monday.csv', '--reason', 'not in the log');
  expect(late.status, late.stdout()).not.toBe(0);
  const status = await command('status', batch, '--json');
  expect(JSON.parse(status.stdout()).counts).toEqual({ doubt: 1 });
  expect(await program.appliedCount()).toBe(1);
}, 120_000);
