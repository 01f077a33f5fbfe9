import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealmAdmin } from '../../src/realm/server/admin.js';
import { auditByContent } from '../support/program/auditor.js';
import { onBadNetwork, Program, REALM_ID } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/** Certainty `readback` on a realm that honours no key: reads are the only evidence. */
const ROWS = 90;
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'readback',
      members: uniqueRows(ROWS * 2).seeds,
      faults: ['error-after:0.08', 'reset-after:0.05', 'error-before:0.05'],
    }),
  );
});
afterAll(() => world.end());

test('lost answers are resolved by reading: every member is paid once and no order is in doubt', async () => {
  await world.file('pay.csv', uniqueRows(ROWS).csv);
  const ran = await world.run('run', 'pay.csv', '--yes', '--json');
  expect(ran.status, ran.stderr + (await world.run('doubt', 'list')).stdout).toBe(0);
  const { batch, counts } = JSON.parse(ran.stdout);
  expect(counts).toEqual({ paid: ROWS });
  const verdicts = await auditByContent(await world.applied(), join(world.folder, 'reports'), String(batch));
  expect(verdicts.wrong).toEqual([]);
  expect(ran.stdout).not.toContain('something else moves');
}, 90_000);

test('somebody else moves members: read-back ends for this run, says so, and what is unknown later is a doubt', async () => {
  const { csv, seeds } = uniqueRows(ROWS, ROWS);
  await world.file('moved.csv', csv);
  const admin = createRealmAdmin(world.realmStore.client());
  const run = world.start(['run', 'moved.csv', '--yes', '--json']);
  // Another tool pays the same members, all the time and whoever holds them.
  const meddling = until(
    'the run to end',
    async () => {
      await admin.putMembers(
        REALM_ID,
        seeds.map((seed) => ({ ...seed, tokens: 10_000 + Math.ceil(Math.random() * 500) })),
      );
      return run.child.exitCode !== null;
    },
    60_000,
  );
  const status = await run.ended;
  await meddling;
  expect(status, run.stderr()).toBe(4);
  const { batch, counts } = JSON.parse(run.stdout());
  expect((counts.paid ?? 0) + (counts.doubt ?? 0)).toBe(ROWS);
  expect(counts.doubt).toBeGreaterThan(0);
  const shown = await world.run('status', String(batch));
  expect(shown.stdout).toContain('something else moves members');
  const { wrong } = await auditByContent(await world.applied(), join(world.folder, 'reports'), String(batch));
  expect(wrong).toEqual([]);
}, 90_000);
