import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { listBatches, readBatch } from '../../src/ledger/read/batches.js';
import { openRule } from '../../src/operations/rules/files.js';
import { planRule } from '../../src/operations/rules/plan.js';
import { makeBatch } from '../../src/operations/rules/run.js';
import { parseFaults } from '../../src/realm/server/faults.js';
import type { MemberSeed } from '../../src/realm/server/members.js';
import { dying } from '../support/machines/dying.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { until } from '../support/until.js';

/** A process that dies in the middle; the next command goes on. */
let world: Program;
afterEach(() => world.end());

const seeds = (count: number): MemberSeed[] =>
  Array.from({ length: count }, (_, index) => ({
    member: String(1001 + index),
    tokens: 0,
    web3: { held: 2 },
  }));

async function rule(members: readonly MemberSeed[], award: string): Promise<void> {
  await world.file('jobs/audience.csv', `member\n${members.map(({ member }) => member).join('\n')}\n`);
  const lines = [
    'name: killed',
    `realm: ${REALM_ID}`,
    'period: day',
    'audience: { file: audience.csv }',
    award,
    'reason: x',
  ];
  await world.file('jobs/killed.yaml', lines.join('\n'));
}

const planned = z.object({ resumed: z.boolean(), awards: z.number(), factRequests: z.number() });

test('killed while reading facts: what was read is kept and not asked for again', async () => {
  const members = seeds(200);
  world = await Program.start({ store: 'own', members, faults: parseFaults(['latency:1:100'], 1) });
  await rule(members, 'award: { tokens: web3.held, rounding: floor }');
  const process = world.start(['rules', 'plan', 'killed']);
  await until('some of the facts', () => world.requests.length >= 40, 60_000);
  await process.kill();
  const before = world.requests.length;
  expect(before).toBeLessThan(members.length);
  const ran = await world.run('rules', 'plan', 'killed', '--json');
  expect(planned.parse(JSON.parse(ran.stdout))).toMatchObject({
    resumed: true,
    awards: 200,
    factRequests: 200,
  });
  // A person sees how far the reading is.
  expect(ran.stderr).toMatch(/reading facts: 200 of 200 requests/);
  // Only what was on its way when the process died, at most 32 requests, is asked for once more.
  const twice = world.requests.length - new Set(world.requests).size;
  expect(new Set(world.requests).size).toBe(members.length);
  expect(twice).toBeLessThanOrEqual(32);
}, 120_000);

test('dies while enqueuing: the next command takes the run up, and everybody is in one batch, once', async () => {
  const members = seeds(600);
  world = await Program.start({ store: 'own' });
  await rule(members, 'award: { tokens: 2 }');
  const first = await world.app();
  const [profile] = first.config.profiles;
  if (profile === undefined) throw new Error('no profile');
  const realm = await first.realm(profile);
  const loaded = await openRule(first.config, world.folder, 'killed');
  const { signal: stop } = new AbortController();
  const request = { at: Date.now(), scheduled: false, stop, onProgress: () => {} };
  const { meta } = await planRule(first, realm, loaded, request);
  const death = dying(first, 'storing');
  await Promise.all([makeBatch(first, realm, meta, { now: Date.now() }).catch(() => {}), death]);
  const ledger = (await world.app()).ledger(profile);
  const [half] = await listBatches(ledger);
  expect(half).toBeDefined();
  expect(half === undefined ? undefined : await readBatch(half)).toBeUndefined();

  const ran = await world.run('rules', 'run', 'killed', '--yes', '--import', '--json');
  expect(ran.stderr).toMatch(/Resuming run/);
  expect(JSON.parse(ran.stdout)).toMatchObject({ batch: half?.id, rows: 600, counts: { planned: 600 } });
  expect(await listBatches(ledger)).toHaveLength(1);
  const again = await world.run('rules', 'run', 'killed', '--yes', '--import', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ batch: null, state: 'nothing' });
});
