import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RedisKey } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AuditTrail } from '../../src/operations/people/audit.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import { Program, REALM_ID } from '../support/program/program.js';

let world: Program;
beforeAll(async () => {
  world = await Program.start({ store: 'own' });
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

const listed = async () => JSON.parse((await world.run('rules', 'list', '--json')).stdout).rules;

test('sync makes the store equal to the files, shows the difference, and an approval counts for one text only', async () => {
  await world.file('jobs/a.yaml', 'name: alpha\n');
  const faulty = await world.run('rules', 'sync');
  expect([faulty.status, faulty.stdout]).toEqual([
    3,
    expect.stringMatching(/^No rule that can be read has a schedule\.$/m),
  ]);
  await world.file('jobs/a.yaml', RULE('alpha'));
  await world.file('jobs/b.yaml', RULE('beta'));
  expect(await listed()).toMatchObject([
    { rule: 'alpha', state: 'unsynced', next: null },
    { state: 'unsynced' },
  ]);

  const first = await world.run('rules', 'sync');
  expect(first.stdout).toMatch(/^\+ alpha .*: new, WAITS for approval$/m);
  expect(first.stdout).toMatch(/Next: .*rules sync --approve alpha/);
  expect(await listed()).toMatchObject([{ state: 'waits' }, { state: 'waits' }]);

  const approved = await world.run('rules', 'sync', '--approve', 'alpha');
  expect(approved.stdout).toMatch(/^= alpha .*: unchanged, approved now$/m);
  expect(await listed()).toMatchObject([
    { state: 'approved', next: expect.stringMatching(/T0[78]:00:00/) },
    { state: 'waits' },
  ]);

  await world.file('jobs/a.yaml', RULE('alpha', 6));
  expect(await listed()).toMatchObject([{ state: 'changed', next: null }, {}]);
  expect((await world.run('rules', 'sync')).stdout).toMatch(/^~ alpha .*: changed, WAITS for approval$/m);

  await rm(join(world.folder, 'jobs/b.yaml'));
  expect((await world.run('rules', 'sync')).stdout).toMatch(/^- beta .*is gone; it does not run$/m);
  expect(await listed()).toMatchObject([{ rule: 'alpha' }, { rule: 'beta', state: 'gone' }]);
  expect((await world.run('rules', 'sync', '--prune')).stdout).toMatch(/^- beta .*: removed$/m);
  expect(await new AuditTrail((await world.app()).scripts).page(undefined, 1, {})).toMatchObject({
    entries: [{ who: 'ada', what: 'removed the schedule of rule beta, whose file or schedule is gone' }],
  });
  expect(await listed()).toMatchObject([{ rule: 'alpha' }]);
});

test('simultaneous approvals and syncs do not undo each other', async () => {
  const names = ['one', 'two', 'three', 'four'];
  for (const name of names) await world.file(`jobs/${name}.yaml`, RULE(name));
  const ran = await Promise.all([
    ...names.map((name) => world.run('rules', 'sync', '--approve', name)),
    world.run('rules', 'sync'),
    world.run('rules', 'sync', '--prune'),
  ]);
  expect(ran.map(({ status }) => status)).toEqual(ran.map(() => 0));
  const states = (await listed()).filter(({ rule }: { rule: string }) => names.includes(rule));
  expect(states).toMatchObject(names.map(() => ({ state: 'approved' })));
  for (const name of names) await rm(join(world.folder, `jobs/${name}.yaml`));
  await world.run('rules', 'sync', '--prune');
});

test('an approval of a text that another process has replaced is refused, and undoes nothing', async () => {
  await world.file('jobs/late.yaml', RULE('late'));
  const [slow, quick] = [await world.app(), await world.app()];
  const request = { cwd: world.folder, prune: false };
  const hget = slow.scripts.redis.hget.bind(slow.scripts.redis);
  let held = false;
  slow.scripts.redis.hget = async (key: RedisKey, field: string | Buffer) => {
    if (field === 'late' && !held) {
      held = true;
      await world.file('jobs/late.yaml', RULE('late', 9));
      await syncRules(quick, { ...request, approve: ['late'] });
    }
    return hget(key, field);
  };
  await expect(syncRules(slow, { ...request, approve: ['late'] })).rejects.toThrow(/was not approved/);
  expect(held).toBe(true);
  expect(await listed()).toMatchObject([{ rule: 'alpha' }, { rule: 'late', state: 'approved' }]);
  await rm(join(world.folder, 'jobs/late.yaml'));
  await world.run('rules', 'sync', '--prune');
});

test('a faulty rule is reported and not synced; an unknown name is not approved', async () => {
  await world.file('jobs/c.yaml', 'name: gamma\n');
  const ran = await world.run('rules', 'sync', '--json');
  expect(ran.status).toBe(3);
  expect(JSON.parse(ran.stdout).faults.length).toBeGreaterThan(0);
  expect(await listed()).toMatchObject([{ rule: 'alpha' }, { rule: 'gamma', state: 'faulty' }]);
  expect((await world.run('rules', 'sync', '--approve', 'gamma')).status).toBe(2);
  await rm(join(world.folder, 'jobs/c.yaml'));
});

test('two files of one name refuse each other', async () => {
  await world.file('jobs/d.yaml', RULE('alpha', 7));
  const ran = await world.run('rules', 'check', '--json');
  expect(ran.status).toBe(3);
  expect(JSON.parse(ran.stdout).faults).toMatchObject([{ file: 'jobs/d.yaml', code: 'ALM_RULE_NAME_TAKEN' }]);
});
