import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { spawned } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/** A backup that was made before the first order was sent, and restored after orders were sent. */
const MEMBERS = Array.from({ length: 3 }, (_, i) => String(500_000_000_000_000_000n + BigInt(i)));

let world: Program;

beforeEach(async () => {
  const members = MEMBERS.map((member) => ({ member, tokens: 0 }));
  // Behind the proxy the realm honours no key: a request that is sent twice is applied twice.
  world = await Program.start({
    store: 'embedded',
    network: true,
    certainty: 'manual',
    members,
    profile: {},
  });
  await world.file(
    'a.csv',
    `member,tokens,reference\n${MEMBERS.map((one) => `${one},5,a-${one}`).join('\n')}\n`,
  );
  await ok({}, 'import', 'a.csv', '--yes');
  await ok({}, 'backup', 'kept');
  await ok({}, 'run', 'a.csv', '--yes');
  expect(await world.appliedCount()).toBe(MEMBERS.length);
});

afterEach(() => world.end());

const at = (name: string) => join(world.folder, name);

/** Each as a process: one that lives would be asked for the session that it had in the folder before. */
const command = (env: NodeJS.ProcessEnv, ...args: string[]) =>
  spawned([...args, '--json'], { cwd: world.folder, env: { ...world.env, ...env } });

async function ok(env: NodeJS.ProcessEnv, ...args: string[]) {
  const ran = await command(env, ...args);
  expect(ran.status, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`).toBe(0);
  return ran;
}

test.each(['data', 'other'])(
  'put into the empty folder %s of the machine that paid, it sends nothing',
  async (name) => {
    await rename(at('data'), at('gone'));
    const env = { ALMONER_DATA: at(name) };
    const restored = await command(env, 'restore', 'kept', '--yes');
    expect(restored.status, restored.stdout + restored.stderr).toBe(5);
    expect(JSON.parse(restored.stdout).realms[0].reason.code).toBe('ALM_LEDGER_FOLDER_BEHIND');
    expect((await command(env, 'run', 'a.csv', '--yes')).status).toBe(5);
    const accepted = await command(env, 'recover', '--accept-missing', 'removed');
    expect(accepted.status, accepted.stdout).toBe(0);
    expect((await command(env, 'run', 'a.csv', '--yes')).status).not.toBe(0);
    expect(await world.appliedCount()).toBe(MEMBERS.length);
  },
);

test('on another machine first sends wait for a person', async () => {
  const env = world.envOf('other');
  const { stdout } = await ok(env, 'restore', 'kept', '--yes');
  expect(JSON.parse(stdout).stories[0]).toMatchObject({ state: 'waiting for a person' });
  const ran = await command(env, 'run', 'a.csv', '--yes');
  expect(ran.status, ran.stdout).toBe(5);
  expect(await world.appliedCount()).toBe(MEMBERS.length);
});

test('a realm that the backup does not know is recovered from the journals, and refused where they are gone', async () => {
  await ok(world.envOf('empty'), 'backup', 'none');
  const { stdout } = await ok({}, 'restore', 'none', '--yes');
  expect(JSON.parse(stdout).stories[0]).toMatchObject({ state: 'waiting for a person' });
  await rename(at('data'), at('gone'));
  await ok({}, 'restore', 'none', '--yes');
  const ran = await command({}, 'run', 'a.csv', '--yes');
  expect(ran.status, ran.stdout).toBe(3);
  expect(ran.stdout).toContain('ALM_LEDGER_ELSEWHERE');
  expect(await world.appliedCount()).toBe(MEMBERS.length);
});

test('a restore keeps references that were added after the backup', async () => {
  await world.file('paid.csv', 'reference\nold-1\nold-2\n');
  await world.file('b.csv', `member,tokens,reference\n${MEMBERS[0]},7,old-1\n`);
  await ok({}, 'references', 'add', 'paid.csv', '--yes');
  const { stdout } = await ok({}, 'restore', 'kept', '--yes');
  expect(JSON.parse(stdout)).toMatchObject({ referencesPutBack: 2 });
  const ran = await command({}, 'plan', 'b.csv');
  expect(ran.status, ran.stdout).toBe(3);
  expect(ran.stdout).toContain('ALM_ROW_REFERENCE_SPENT');
  // A backup made now holds them, also for a folder that never saw them.
  await ok({}, 'backup', 'later');
  await rename(at('data/references'), at('references-away'));
  expect(JSON.parse((await ok({}, 'restore', 'later', '--yes')).stdout)).toMatchObject({
    referencesPutBack: 0,
  });
});
