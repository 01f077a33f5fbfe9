import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBatch } from '../../src/ledger/read/batches.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { auditByContent } from '../support/program/auditor.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** A container is killed and created anew over the same volume: the host has another name each time. */
const PRELOAD = fileURLToPath(new URL('../support/host-name-preload.mjs', import.meta.url));
const ROWS = 24;
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'idempotent',
      members: uniqueRows(ROWS).seeds,
      faults: ['latency:1:250'],
    }),
  );
});
afterAll(() => world.end());

function container(name: string) {
  return world.start(['worker', '--concurrency', '4'], { HOST_NAME: name }, ['--import', PRELOAD]);
}

test('orders that a killed container was sending are taken over by its replacement', async () => {
  const ref = await world.imported('pay.csv', uniqueRows(ROWS).csv);
  const { ledger } = ref;

  const first = container('3f2a91c07d11');
  await until(
    `four requests under way: ${first.stderr()}`,
    async () => (await readBatch(ref))?.counts.sending === 4,
    60_000,
  );
  first.child.kill('SIGKILL');
  await first.ended;
  expect(await listSessions(ledger)).toMatchObject([{ machine: '3f2a91c07d11' }]);

  const second = container('b81e44d0a6f2');
  await until(
    `the batch to be done: ${second.stderr()}`,
    async () => (await readBatch(ref))?.state === 'done',
    60_000,
  );
  second.child.kill('SIGTERM');
  expect(await second.ended, second.stderr()).toBe(0);
  expect(await listSessions(ledger)).toEqual([]);
  await world.run('report', ref.id, '--json');
  const { states, wrong } = await auditByContent(
    await world.applied(),
    join(world.folder, 'reports'),
    ref.id,
  );
  expect(wrong).toEqual([]);
  expect(states).toEqual({ paid: ROWS });
}, 180_000);
