import { access, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { textField } from '../support/document.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { startWorkerBeside } from '../support/program/worker-beside.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** A store is lost under a worker or a desk. Facts from the old store must not be used with the new one. */
let world: Program;
let books: TestRedis;
beforeAll(async () => {
  books = await startRedis();
  world = await Program.start({
    members: Array.from({ length: 9 }, (_, i) => ({ member: String(i + 1), tokens: 0 })),
    env: { REDIS_URL: books.url },
  });
  const town = { baseUrl: world.realm.url, realmId: 'town', keyEnv: 'ALMONER_API_KEY' };
  await world.file('lax.yaml', JSON.stringify({ realms: { town } }));
  const strict = { ...town, approval: { overTokens: 100 } };
  await world.file('strict.yaml', JSON.stringify({ realms: { town: strict } }));
}, 60_000);
afterAll(async () => {
  await world.end();
  await books.stop();
});

async function lose(): Promise<void> {
  await books.kill();
  for (const name of await readdir(books.folder)) await rm(join(books.folder, name), { recursive: true });
  await books.restart();
}

async function work(config: string): Promise<void> {
  const env = { ...world.env, ALMONER_CONFIG: join(world.folder, config) };
  const worker = await startWorkerBeside({ env, cwd: world.folder });
  onTestFinished(() => worker.stop());
}

const importLax = async (file: string) =>
  textField(await world.run('--config', 'lax.yaml', 'import', file, '--yes', '--json'), 'batch');
const isThere = (path: string) =>
  access(path)
    .then(() => true)
    .catch(() => false);
const reported = (batch: string) => until('the report', () => isThere(report(batch)), 30_000);
const report = (batch: string) => join(world.folder, 'reports', batch, 'paid.csv');

test('a batch imported into the new store meets the requirement of the worker’s own profile', async () => {
  await work('strict.yaml');
  const ada = textField(
    await world.run('--config', 'strict.yaml', 'desk', 'token', 'add', 'ada', '--role', 'operator', '--json'),
    'token',
  );
  await world.file('third.csv', 'member,tokens\n5,7\n');
  await world.file('fourth.csv', 'member,tokens\n6,900\n');
  const paidBefore = await world.appliedCount();
  const env = { ...world.env, ALMONER_TOKEN: ada };
  await almoner(['--config', 'strict.yaml', 'import', 'third.csv', '--yes'], { env, cwd: world.folder });
  await until('the payment', async () => (await world.appliedCount()) === paidBefore + 1, 30_000);
  await lose();
  // A batch taken before the worker has looked again waits for two people; after that it is not even taken.
  const began = performance.now();
  const nameless = await world.run('--config', 'lax.yaml', 'import', 'fourth.csv', '--yes');
  // The worker’s merge makes the import merge again, well before its patience of 15 s ends.
  expect(performance.now() - began).toBeLessThan(14_000);
  if (nameless.status === 0)
    await until(
      'it to wait',
      async () => (await world.run('--config', 'lax.yaml', 'status')).stdout.includes('(approval)'),
      30_000,
    );
  else expect(nameless.stderr).toContain('ALM_PEOPLE_NAMELESS');
  expect(await world.appliedCount()).toBe(paidBefore + 1);
}, 120_000);

test('its report names the members it paid, not those that had the same number before', async () => {
  await lose();
  await work('lax.yaml');
  await world.file('first.csv', 'member,tokens\n1,5\n2,5\n');
  await world.file('second.csv', 'member,tokens\n3,5\n4,5\n');
  const first = await importLax('first.csv');
  await reported(first);
  await lose();
  await until('the worker', async () => (await importLax('second.csv')) !== '', 30_000);
  const second = await importLax('second.csv');
  await reported(second);
  const lines = (await readFile(report(second), 'utf8')).trim().split('\n').slice(1);
  expect(lines.map((line) => line.split(',').slice(0, 2))).toEqual([
    ['3', '5'],
    ['4', '5'],
  ]);
}, 120_000);
