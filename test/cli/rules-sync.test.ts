import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { REALM_ID, type RulesWorld, startRulesWorld } from '../support/rules-world.js';

let world: RulesWorld;
beforeAll(async () => {
  world = await startRulesWorld();
});
afterAll(() => world.end());

const RULE = (name: string, tokens = 5) =>
  [
    `name: ${name}`,
    `realm: ${REALM_ID}`,
    'schedule: { cron: "0 9 * * 1", timezone: Europe/Berlin, missed: once }',
    'period: week',
    'audience: { members: [101] }',
    `award: { tokens: ${tokens} }`,
    'limits: { perRun: 100 }',
    'reason: x',
  ].join('\n');

const listed = async () => JSON.parse((await world.run('list', '--json')).stdout).rules;

test('sync makes the store equal to the files, shows the difference, and a go counts for one text only', async () => {
  await world.file('jobs/a.yaml', RULE('alpha'));
  await world.file('jobs/b.yaml', RULE('beta'));
  expect(await listed()).toMatchObject([
    { rule: 'alpha', state: 'unsynced', next: null },
    { state: 'unsynced' },
  ]);

  const first = await world.run('sync');
  expect(first.stdout).toMatch(/^\+ alpha .*: new, WAITS for a go$/m);
  expect(first.stdout).toMatch(/Next: .*rules sync --approve alpha/);
  expect(await listed()).toMatchObject([{ state: 'waits' }, { state: 'waits' }]);

  const approved = await world.run('sync', '--approve', 'alpha');
  expect(approved.stdout).toMatch(/^= alpha .*: unchanged, approved now$/m);
  expect(await listed()).toMatchObject([
    { state: 'approved', next: expect.stringMatching(/T0[78]:00:00/) },
    { state: 'waits' },
  ]);

  await world.file('jobs/a.yaml', RULE('alpha', 6));
  expect(await listed()).toMatchObject([{ state: 'changed', next: null }, {}]);
  expect((await world.run('sync')).stdout).toMatch(/^~ alpha .*: changed, WAITS for a go$/m);

  await rm(join(world.folder, 'jobs/b.yaml'));
  expect((await world.run('sync')).stdout).toMatch(/^- beta .*is gone; it does not run$/m);
  expect(await listed()).toMatchObject([{ rule: 'alpha' }, { rule: 'beta', state: 'gone' }]);
  expect((await world.run('sync', '--prune')).stdout).toMatch(/^- beta .*: removed$/m);
  expect(await listed()).toMatchObject([{ rule: 'alpha' }]);
});

test('a faulty rule is told and not synced; an unknown name is not approved', async () => {
  await world.file('jobs/c.yaml', 'name: gamma\n');
  const ran = await world.run('sync', '--json');
  expect(ran.status).toBe(3);
  expect(JSON.parse(ran.stdout).faults.length).toBeGreaterThan(0);
  expect(await listed()).toMatchObject([{ rule: 'alpha' }, { rule: 'gamma', state: 'faulty' }]);
  expect((await world.run('sync', '--approve', 'gamma')).status).toBe(2);
  await rm(join(world.folder, 'jobs/c.yaml'));
});

test('two files of one name refuse each other', async () => {
  await world.file('jobs/d.yaml', RULE('alpha', 7));
  const ran = await world.run('check', '--json');
  expect(ran.status).toBe(3);
  expect(JSON.parse(ran.stdout).faults).toMatchObject([{ file: 'jobs/d.yaml', code: 'ALM_RULE_NAME_TAKEN' }]);
});
