import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listJournals } from '../../src/ledger/journal/folder.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { auditByContent } from '../support/program/auditor.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** A desk that also works keeps the promise as a worker does: with journal, fence and an orderly end. */
const ROWS = 90;
const CONCURRENCY = 4;
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: uniqueRows(ROWS).seeds,
      faults: ['latency:1:120'],
    }),
  );
});
afterAll(() => world.end());

const serve = () =>
  world.start(['serve', '--with-worker', '--port', '0', '--concurrency', String(CONCURRENCY), '--json']);

const morePaid = async (count: number, by: ReturnType<typeof serve>) => {
  const before = await world.appliedCount();
  await until(
    `${count} more payments: ${by.stderr()}`,
    async () => (await world.appliedCount()) >= before + count,
    60_000,
  );
};

test('killed while it sends, it recovers at the next start; asked to stop, it finishes what is being sent', async () => {
  const ref = await world.imported('desk.csv', uniqueRows(ROWS).csv);
  const { ledger } = ref;
  const counts = async () => (await readBatch(ref))?.counts ?? {};

  const killed = serve();
  await morePaid(8, killed);
  const [session] = await listSessions(ledger);
  const journals = await listJournals(join(world.folder, 'data', 'journal'));
  expect(journals.map((one) => one.session)).toContain(session?.id);
  killed.child.kill('SIGKILL');
  await killed.ended;

  // The store restarts as well: without its journal the next one could not arm.
  await world.store.kill();
  await world.store.restart();
  const polite = serve();
  await morePaid(8, polite);
  const { doubt: lost = 0 } = await counts();
  expect(lost).toBeLessThanOrEqual(CONCURRENCY);
  expect((await listSessions(ledger)).map(({ id }) => id)).not.toContain(session?.id);
  // On a machine that has more to do than it can.
  const burners = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  onTestFinished(() => {
    for (const burner of burners) burner.kill('SIGKILL');
  });
  polite.child.kill('SIGTERM');
  expect(await polite.ended, polite.stderr()).toBe(0);
  for (const burner of burners) burner.kill('SIGKILL');
  const { sending = 0, doubt = 0, planned = 0 } = await counts();
  expect({ sending, doubt }).toEqual({ sending: 0, doubt: lost });
  expect(planned).toBeGreaterThan(0);
  expect(await listSessions(ledger)).toEqual([]);

  const last = serve();
  await until(
    `the batch to be done: ${last.stderr()}`,
    async () => (await readBatch(ref))?.state === 'done',
    60_000,
  );
  last.child.kill('SIGTERM');
  expect(await last.ended, last.stderr()).toBe(0);
  await world.run('report', ref.id, '--json');
  const reports = join(world.folder, 'reports');
  const { states, wrong } = await auditByContent(await world.applied(), reports, ref.id);
  expect(wrong).toEqual([]);
  expect(states).toEqual({ paid: ROWS - lost, ...(lost > 0 ? { doubt: lost } : {}) });
}, 120_000);

test('a store that never answers does not keep it for ever: it leaves when its deadline is over', async () => {
  const usual = await readFile(join(world.folder, 'almoner.config.yaml'), 'utf8');
  await world.file('hasty.yaml', usual.replace('limits: {', 'limits: {"stopMs":1500,'));
  const stuck = world.start(['serve', '--with-worker', '--port', '0', '--json', '--config', 'hasty.yaml']);
  await until(`the desk to be ready: ${stuck.stderr()}`, () => stuck.stdout().includes('"url"'), 60_000);
  await until(
    'its worker to be there',
    async () => (await listSessions(world.ledger())).length === 1,
    60_000,
  );
  process.kill(world.store.pid, 'SIGSTOP');
  stuck.child.kill('SIGTERM');
  expect(await stuck.ended, stuck.stderr()).toBe(130);
  process.kill(world.store.pid, 'SIGCONT');
}, 60_000);
