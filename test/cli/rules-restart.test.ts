import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { listBatches, readBatch } from '../../src/ledger/read/batches.js';
import { parseFaults } from '../../src/realm/server/faults.js';
import type { MemberSeed } from '../../src/realm/server/members.js';
import { REALM_ID, type RulesWorld, startRulesWorld } from '../support/rules-world.js';
import { until } from '../support/until.js';

/** Real processes, killed in the middle; the next command goes on. */
let world: RulesWorld;
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
  const members = seeds(300);
  world = await startRulesWorld({ members, faults: parseFaults(['latency:1:100'], 1) });
  await rule(members, 'award: { tokens: web3.held, rounding: floor }');
  const process = world.start('rules', 'plan', 'killed');
  await until('some of the facts', () => world.requests.length >= 60, 60_000);
  await process.kill();
  const before = world.requests.length;
  expect(before).toBeLessThan(members.length);
  const ran = await world.run('plan', 'killed', '--json');
  expect(planned.parse(JSON.parse(ran.stdout))).toMatchObject({
    resumed: true,
    awards: 300,
    factRequests: 300,
  });
  // Only what was on its way when the process died, at most 32 requests, is asked for once more.
  const twice = world.requests.length - new Set(world.requests).size;
  expect(new Set(world.requests).size).toBe(members.length);
  expect(twice).toBeLessThanOrEqual(32);
}, 120_000);

test('killed while enqueuing: the run is gone on with, and everybody is in one batch, once', async () => {
  // Enough blocks that no machine is through with them between two looks; nobody is paid here.
  const members = seeds(30_000);
  world = await startRulesWorld();
  await rule(members, 'award: { tokens: 2 }');
  const process = world.start('rules', 'run', 'killed', '--yes', '--import');
  const store = world.store.client();
  const block = await until(
    'a batch that is half enqueued',
    async () => (await store.keys('almoner:*:b:1:p:2')).length > 0,
    60_000,
  );
  await process.kill();
  expect(block).toBe(true);
  const app = await world.app();
  const [profile] = app.config.profiles;
  if (profile === undefined) throw new Error('no profile');
  const ledger = app.ledger(profile);
  const [half] = await listBatches(ledger);
  expect(half === undefined ? undefined : await readBatch(half)).toBeUndefined();

  const ran = await world.run('run', 'killed', '--yes', '--import', '--json');
  expect(ran.stderr).toMatch(/Going on with run/);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    batch: half?.id,
    rows: 30_000,
    counts: { planned: 30_000 },
  });
  expect(await listBatches(ledger)).toHaveLength(1);
  const again = await world.run('run', 'killed', '--yes', '--import', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ batch: null, state: 'nothing' });
}, 120_000);
