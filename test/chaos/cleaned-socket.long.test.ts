import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { auditByContent } from '../support/program/auditor.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** A cleaner of old files removed the socket of a frozen worker. The worker’s silence proves nothing. */
const ROWS = 40;
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'idempotent',
      members: uniqueRows(ROWS).seeds,
      faults: ['latency:1:300'],
    }),
  );
});
afterAll(() => world.end());

test('a frozen worker without its socket file keeps its orders; once killed, they are recovered', async () => {
  const ref = await world.imported('pay.csv', uniqueRows(ROWS).csv);
  const { ledger } = ref;
  const counts = async () => (await readBatch(ref))?.counts ?? {};

  const frozen = world.start(['worker', '--concurrency', '4']);
  await until(
    `four requests under way: ${frozen.stderr()}`,
    async () => (await counts()).sending === 4,
    60_000,
  );
  frozen.child.kill('SIGSTOP');
  const [session] = await listSessions(ledger);
  const held = async () => {
    const records = await Promise.all(Array.from({ length: ROWS }, (_, i) => readRecord(ref, i + 1)));
    return records.filter(({ code, session: by }) => code === 's' && by === session?.id).length;
  };
  const sockets = join(world.folder, 'data', 'sessions');
  for (const name of await readdir(sockets)) await unlink(join(sockets, name));

  const other = world.start(['worker', '--concurrency', '4']);
  await until(
    `the rest to be paid: ${other.stderr()}`,
    async () => (await counts()).paid === ROWS - (await held()),
    60_000,
  );
  // The look for orphans comes every two seconds, and paying the rest takes longer; every lock is long over.
  expect(await held()).toBeGreaterThan(0);
  expect(await listSessions(ledger)).toHaveLength(2);

  frozen.child.kill('SIGKILL');
  await frozen.ended;
  await until(
    `the batch to be done: ${other.stderr()}`,
    async () => (await readBatch(ref))?.state === 'done',
    60_000,
  );
  await world.run('report', ref.id, '--json');
  const reports = join(world.folder, 'reports');
  const { states, wrong } = await auditByContent(await world.applied(), reports, ref.id);
  expect(wrong).toEqual([]);
  expect(states).toEqual({ paid: ROWS });
}, 120_000);
