import { afterEach, expect, test } from 'vitest';
import { listBatches, readBatch } from '../../src/ledger/read/batches.js';
import type { MemberSeed } from '../../src/realm/server/members.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { until } from '../support/until.js';

/** A real process, killed in the middle of 118 blocks; the next command goes on. */
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

test('killed while enqueuing: the next command resumes the run, and each member is in one batch, once', async () => {
  // Enough blocks that no machine is through with them between two looks; nobody is paid here.
  const members = seeds(30_000);
  world = await Program.start({ store: 'own' });
  await rule(members, 'award: { tokens: 2 }');
  const process = world.start(['rules', 'run', 'killed', '--yes', '--import']);
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

  const ran = await world.run('rules', 'run', 'killed', '--yes', '--import', '--json');
  expect(ran.stderr).toMatch(/Resuming run/);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    batch: half?.id,
    rows: 30_000,
    counts: { planned: 30_000 },
  });
  expect(await listBatches(ledger)).toHaveLength(1);
  const again = await world.run('rules', 'run', 'killed', '--yes', '--import', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ batch: null, state: 'nothing' });
}, 120_000);
