import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { almoner, spawned } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { isLong } from '../support/suites.js';

/** The data folder is rolled back, copied, or replaced by another one. */
const MEMBERS = Array.from({ length: 8 }, (_, i) => String(500_000_000_000_000_000n + BigInt(i)));

const fileOf = (name: string) =>
  `member,tokens,reference\n${MEMBERS.map((member) => `${member},5,${name}-${member}`).join('\n')}\n`;

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
  for (const name of ['a', 'b', 'c']) await world.file(`${name}.csv`, fileOf(name));
});

afterEach(() => world.end());

const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);
const at = (name: string) => join(world.folder, name);

type Start = typeof spawned;

/** Inside this process, or as a process of its own. */
function command(args: readonly string[], env: NodeJS.ProcessEnv = {}, start: Start = almoner) {
  return start(args, { cwd: world.folder, env: { ...world.env, ...env } });
}

async function pay(file: string, env: NodeJS.ProcessEnv = {}, more: string[] = [], start: Start = almoner) {
  const ran = await command(['run', file, '--yes', '--json', ...more], env, start);
  expect(ran.status, ran.stderr).toBe(0);
}

/** Everything of the folder as it was, except its own inode and that of the note which names it. */
async function putBackInPlace(backup: string, folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name !== 'place.json') await rm(join(folder, name), { recursive: true });
  for (const name of await readdir(backup)) if (name !== 'place.json') await copy(join(backup, name), folder);
}

const WAYS = [
  ['in place', almoner],
  ['as new files, each command a process', spawned],
] as const;

test.each(isLong ? WAYS.slice(1) : WAYS.slice(0, 1))(
  'a data folder put back with its journals pays nobody a second time: %s',
  async (how, start) => {
    await pay('a.csv', {}, [], start);
    await copy(at('data'), at('backup'));
    await pay('b.csv', {}, [], start);
    if (how === 'in place') await putBackInPlace(at('backup'), at('data'));
    else {
      await rm(at('data'), { recursive: true });
      await copy(at('backup'), at('data'));
    }
    for (const looks of [['status'], ['plan', 'b.csv'], ['doctor']]) {
      const { stdout, stderr } = await command(looks);
      expect(stdout + stderr).toContain('may be missing');
    }
    const again = await command(['run', 'b.csv', '--yes', '--json'], {}, start);
    expect(again.status, again.stderr).toBe(5);
    expect(again.stdout).toContain('ALM_LEDGER_FOLDER_BEHIND');
    expect(again.stderr).toMatch(/Payments since \d{4}-\S+ may be missing/);
    expect(await world.appliedCount()).toBe(2 * MEMBERS.length);
  },
);

if (isLong)
  test('after a person has accepted the loss, a file that may be among the lost is not paid without a word', async () => {
    // A process that lives would still be asked for the session that it had in the folder before.
    await pay('a.csv', {}, [], spawned);
    await copy(at('data'), at('backup'));
    await pay('b.csv', {}, [], spawned);
    await rm(at('data'), { recursive: true });
    await copy(at('backup'), at('data'));
    const moved = await command(['recover', '--accept-moved']);
    expect(moved.status, moved.stderr).toBe(5);
    const shown = await command(['recover']);
    expect(shown.stdout).toContain('almoner recover --accept-missing removed');
    const accepted = await command(['recover', '--accept-missing', 'removed']);
    expect(accepted.status, accepted.stdout + accepted.stderr).toBe(0);
    const again = await command(['run', 'b.csv', '--yes', '--json']);
    expect(again.status, again.stderr).toBe(3);
    expect(again.stdout).toContain('ALM_PLAN_MAYBE_FORGOTTEN');
    // As its Next says: the old report tells what was paid, and the label lets the file be read.
    const { batch } = JSON.parse(again.stdout);
    const added = await command(['references', 'add', `reports/${batch}/paid.csv`, '--yes']);
    expect(added.status, added.stdout + added.stderr).toBe(0);
    expect((await command(['run', 'b.csv', '--yes'])).status).toBe(3);
    await pay('b.csv', {}, ['--again', 'b']);
    expect(await world.appliedCount()).toBe(2 * MEMBERS.length);
    await pay('c.csv', {}, ['--again', 'c']);
    expect(await world.appliedCount()).toBe(3 * MEMBERS.length);
  });

if (!isLong) {
  test('a store restored alone, beside its journals, needs no person and pays no member twice', async () => {
    await pay('a.csv');
    await copy(at('data/redis'), at('backup'));
    await pay('b.csv');
    await rm(at('data/redis'), { recursive: true });
    await copy(at('backup'), at('data/redis'));
    const again = await command(['run', 'b.csv', '--yes', '--json']);
    expect(again.status, again.stderr).toBe(0);
    expect(await world.appliedCount()).toBe(2 * MEMBERS.length);
  });

  test('a copied data folder sends nothing until a person says that the whole folder was moved', async () => {
    await pay('a.csv');
    await copy(at('data'), at('copy'));
    const env = world.envOf('copy');
    const closed = await command(['run', 'c.csv', '--yes', '--json'], env);
    expect(closed.status, closed.stderr).toBe(5);
    expect(closed.stdout).toContain('ALM_LEDGER_FOLDER_COPIED');
    const doctor = await command(['doctor'], env);
    expect(doctor.stdout).toContain('almoner recover --accept-moved');
    const moved = await command(['recover', '--accept-moved'], env);
    expect(moved.status, moved.stdout + moved.stderr).toBe(0);
    await pay('c.csv', env);
    await pay('a.csv', env);
    expect(await world.appliedCount()).toBe(2 * MEMBERS.length);
  });

  test('a cancel while the ledger is closed says that journals may know of payments', async () => {
    await pay('a.csv');
    const imported = await command(['import', 'b.csv', '--yes']);
    expect(imported.status, imported.stderr).toBe(0);
    await copy(at('data'), at('copy'));
    const { stdout } = await command(['cancel', 'last'], world.envOf('copy'));
    expect(stdout).toContain('almoner recover');
    expect(stdout).toMatch(/As far as the store knows now, \d+ orders stay unsent/);
  });

  test('an empty data folder does not pay a realm that this machine has paid from another one', async () => {
    await pay('a.csv');
    const env = { ALMONER_DATA: at('other') };
    const again = await command(['run', 'a.csv', '--yes', '--json'], env);
    expect(again.status, again.stderr).toBe(3);
    expect(again.stdout).toContain('ALM_LEDGER_ELSEWHERE');
    expect(again.stdout).toContain(at('data'));
    expect(await world.appliedCount()).toBe(MEMBERS.length);

    const before = await reports();
    await pay('a.csv', env, ['--new-ledger']);
    await pay('b.csv', env);
    expect(await world.appliedCount()).toBe(3 * MEMBERS.length);
    // The new ledger made the same batch id; the report of the first run is still there.
    const after = await reports();
    expect(after.length).toBe(before.length + 2);
  });

  async function reports(): Promise<string[]> {
    return (await readdir(at('reports'))).filter((name) => !name.startsWith('.'));
  }

  test('a state folder that cannot be written stops no payment, and doctor says what is lost', async () => {
    await mkdir(at('full'));
    await writeFile(at('full/state'), 'not a folder');
    const env = { ALMONER_STATE: at('full/state') };
    await pay('a.csv', env);
    const doctor = await command(['doctor'], env);
    expect(doctor.stdout).toMatch(/warning\s+witness: /);
    expect(await readFile(at('full/state'), 'utf8')).toBe('not a folder');
  });
}

if (isLong)
  test('an outside store remembers which journals a data folder has lost, also without a state folder', async () => {
    await world.end();
    const members = MEMBERS.map((member) => ({ member, tokens: 0 }));
    const env = { ALMONER_STATE: '/dev/null/state' };
    world = await Program.start({
      store: 'own',
      network: true,
      certainty: 'manual',
      members,
      profile: {},
      env,
    });
    for (const name of ['a', 'b', 'c']) await world.file(`${name}.csv`, fileOf(name));
    await pay('a.csv', {}, [], spawned);
    await copy(at('data'), at('backup'));
    const putStoreBack = await world.photograph('before-b');
    await pay('b.csv', {}, [], spawned);
    await rm(at('data'), { recursive: true });
    await copy(at('backup'), at('data'));
    // The store knows what the folder lost, so that nothing is missing yet.
    await pay('c.csv', {}, [], spawned);
    await putStoreBack();
    const again = await command(['run', 'b.csv', '--yes', '--json']);
    expect(again.status, again.stderr).toBe(5);
    expect(again.stdout).toContain('ALM_LEDGER_ROLLED_BACK');
    expect(await world.appliedCount()).toBe(3 * MEMBERS.length);
  });
