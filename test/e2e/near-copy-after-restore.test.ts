import { afterAll, beforeAll, expect, test } from 'vitest';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';

const SIX = 'member,tokens\n1,5\n2,5\n3,5\n4,5\n5,5\n6,5\n';

let world: Program;
beforeAll(async () => {
  const members = Array.from({ length: 30 }, (_, i) => ({ member: String(i + 1), tokens: 100 }));
  world = await Program.start({ store: 'own', certainty: 'manual', members });
});
afterAll(() => world.end());

/** What was paid comes from journals alone, which have to know of it what files are compared by. */
test('a store that is restored to before a run: files with the same debts are refused', async () => {
  await world.file('seed.csv', 'member,tokens,reference\n20,1,seed\n');
  await world.file('six.csv', SIX);
  await world.file('near.csv', `${SIX}7,5\n`);
  await world.file('handles.csv', 'handle,tokens\nann,5\nbob,5\ncid,5\n');
  await world.file('table.csv', 'handle,member\nann,1\nbob,2\ncid,3\n');
  await world.file('corrected.csv', 'handle,member\nann,11\nbob,12\ncid,13\n');
  const run = async (...args: string[]) => (await world.run('run', ...args, '--yes')).status;
  expect(await run('seed.csv')).toBe(0);
  const restore = await world.photograph('before');
  expect(await run('handles.csv', '--members', 'table.csv')).toBe(0);
  expect(await run('six.csv', '--again', 'nov')).toBe(0);
  expect(await world.appliedCount()).toBe(10);

  await restore();
  expect((await world.run('recover')).status).toBe(0);
  expect(await run('near.csv', '--again', 'nov')).toBe(3);
  expect(await run('handles.csv', '--members', 'corrected.csv')).toBe(3);
  expect(await world.appliedCount()).toBe(10);
}, 90_000);

test('a file that was cancelled after the backup, and paid in another one: the worker pays nobody twice', async () => {
  const rows = 'member,tokens\n21,5\n22,5\n23,5\n';
  await world.file('wrong.csv', rows);
  await world.file('right.csv', `${rows}24,5\n`);
  const { batch } = JSON.parse((await world.run('import', 'wrong.csv', '--yes', '--json')).stdout);
  const restore = await world.photograph('imported');
  expect((await world.run('cancel', batch)).status).toBe(0);
  const before = await world.appliedCount();
  expect((await world.run('run', 'right.csv', '--yes')).status).toBe(0);
  expect(await world.appliedCount()).toBe(before + 4);

  await restore();
  const worker = world.start(['worker']);
  // The cancel is forgotten as well: nothing goes on by itself, and neither --yes nor a worker resumes it.
  const status = async () => JSON.parse((await world.run('status', batch, '--json')).stdout);
  await until(
    'the batch to wait',
    async () => (await status()).reason?.code === 'ALM_LEDGER_AFTER_ROLLBACK',
    60_000,
  );
  expect((await world.run('import', 'wrong.csv', '--yes')).status).toBe(5);
  expect((await world.run('resume', batch)).status).toBe(5);
  const resumed = await world.run('resume', '--after-rollback', '--json');
  expect(JSON.parse(resumed.stdout).resumed).toMatchObject([{ batches: [batch] }]);
  const list = async () => JSON.parse((await world.run('dead', 'list', '--json')).stdout).orders;
  await until('the orders that wait for a person', async () => (await list()).length === 3, 60_000);
  expect(await world.appliedWhenQuiet()).toBe(before + 4);
  await worker.kill();
  for (const order of await list()) expect(order).toMatchObject({ batch, class: 'ALM_ORDER_MAYBE_PAID' });
}, 90_000);
