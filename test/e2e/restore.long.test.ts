import { cp, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isStopped } from '../support/is-stopped.js';
import { MAIN } from '../support/program/almoner.js';
import { Program, type ProgramOptions } from '../support/program/program.js';
import { until } from '../support/until.js';

const PRELOAD = fileURLToPath(new URL('../support/fail-point-preload.mjs', import.meta.url));
const POINTS = resolve(dirname(MAIN), '../core/fail-point.js');
const MEMBERS = Array.from({ length: 3 }, (_, i) => String(500_000_000_000_000_000n + BigInt(i)));

let world: Program;
const start = (config: NonNullable<ProgramOptions['config']> = {}) =>
  Program.start({
    config,
    store: 'embedded',
    network: true,
    certainty: 'manual',
    members: MEMBERS.map((member) => ({ member, tokens: 0 })),
    profile: {},
  });
beforeEach(async () => {
  world = await start();
});
afterEach(() => world.end());

const at = (name: string) => join(world.folder, name);

async function ok(...args: string[]) {
  const ran = await world.run(...args, '--json');
  expect(ran.status, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`).toBe(0);
  return JSON.parse(ran.stdout);
}

async function pay(name: string) {
  const rows = MEMBERS.map((member) => `${member},${name.charCodeAt(0)},${name}-${member}`);
  await world.file(`${name}.csv`, `member,tokens,reference\n${rows.join('\n')}\n`);
  return ok('run', `${name}.csv`, '--yes');
}

const stores = async () => (await readdir(at('data'))).filter((name) => name.startsWith('redis'));

/** A restore as a process, that gets the signal at a fail point. */
const restoring = (point: string, signal: 'SIGKILL' | 'SIGSTOP') =>
  world.start(
    ['restore', 'kept', '--yes', '--json'],
    { FAIL_AT: `${point}:${signal}:1`, FAIL_POINTS: POINTS },
    ['--import', PRELOAD],
  );

test('a restore under way is named, and its guard is not taken away with the file of the port', async () => {
  await pay('a');
  await ok('backup', 'kept');
  await pay('b');
  const restore = restoring('restore-staged', 'SIGSTOP');
  await until('the restore to stand still', () => isStopped(restore.child.pid));
  const named = {
    code: 'ALM_BACKUP_RESTORE_UNFINISHED',
    message: expect.stringContaining(`is running (pid ${restore.child.pid}`),
    next: expect.not.stringContaining('redis/port'),
  };
  for (const args of [['status'], ['restore', 'kept', '--yes']]) {
    const { status, stdout } = await world.run(...args, '--json');
    expect(status).toBe(5);
    expect(JSON.parse(stdout).error).toMatchObject(named);
  }
  await rm(at('data/redis/port'));
  const run = await world.run('run', 'b.csv', '--yes', '--json');
  expect(JSON.parse(run.stdout).error).toMatchObject(named);

  restore.child.kill('SIGCONT');
  expect(await restore.ended, restore.stderr()).toBe(5);
  expect(JSON.parse(restore.stdout()).error).toMatchObject({
    code: 'ALM_BACKUP_IN_USE',
    details: [expect.stringContaining('redis/port was changed')],
  });
  expect(await stores()).toEqual(['redis']);
  expect((await ok('status')).batches).toHaveLength(2);
});

test('a store on a disk of its own is refused before anything is changed', async ({ skip }) => {
  await pay('a');
  await ok('backup', 'kept');
  const here = (await stat(world.folder)).dev;
  const places = ['/var/tmp', '/dev/shm', process.cwd()];
  const devices = await Promise.all(
    places.map((place) =>
      stat(place).then(
        ({ dev }) => dev,
        () => here,
      ),
    ),
  );
  const other = places.find((_, i) => devices[i] !== here);
  if (other === undefined) return skip('this machine has one disk');
  const disk = await mkdtemp(join(other, '.almoner-disk-'));
  try {
    await cp(at('data/redis'), disk, { recursive: true });
    await rm(at('data/redis'), { recursive: true });
    await symlink(disk, at('data/redis'));
    const { status, stdout } = await world.run('restore', 'kept', '--yes', '--json');
    expect(status).toBe(5);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'ALM_BACKUP_OTHER_DISK',
      message: expect.stringContaining('is on another disk'),
    });
    expect((await ok('status')).batches).toHaveLength(1);
  } finally {
    await rm(disk, { recursive: true, force: true });
  }
});

test.each(['the former store moved back', 'a copy of it'])(
  'a restore that is given again keeps %s that a person put in its place',
  async (what) => {
    await pay('a');
    await ok('backup', 'kept');
    await pay('b');
    expect(await restoring('restore-in', 'SIGKILL').ended).toBe(null);
    const [aside] = (await stores()).filter((name) => name.startsWith('redis.before-'));
    const [former, place] = [at(`data/${aside}/appendonlydir`), at('data/redis/appendonlydir')];
    await rm(place, { recursive: true });
    if (what === 'a copy of it') await cp(former, place, { recursive: true, preserveTimestamps: true });
    else await rename(former, place);
    const files = await readdir(place);
    const { alsoKept } = await ok('restore', 'kept', '--yes');
    expect(await readdir(former)).toEqual(files);
    if (what === 'a copy of it') expect(await readdir(join(alsoKept, 'appendonlydir'))).toEqual(files);
    else expect(alsoKept).toBe(null);
  },
);

test('a journal that an older backup has left is extended by the newer backup', async () => {
  await pay('a');
  await ok('backup', 'kept');
  const names = (await readdir(at('kept/journal'))).filter((name) => name.endsWith('.journal'));
  const whole = await Promise.all(names.map((name) => readFile(at(`kept/journal/${name}`))));
  const longest = whole.reduce((most, text, i) => (text.length > (whole[most]?.length ?? 0) ? i : most), 0);
  const [name, text] = [String(names[longest]), whole[longest] ?? Buffer.alloc(0)];
  const here = at(`data/journal/${name}`);
  await writeFile(here, text.subarray(0, text.length / 2));
  expect(await ok('restore', 'kept', '--yes')).toMatchObject({ journalsAdded: 0, journalsExtended: 1 });
  expect((await readFile(here)).subarray(0, text.length)).toEqual(text);
  // One that goes on in another way is left as it is.
  const other = Buffer.concat([Buffer.from('#'), text.subarray(1, text.length / 2)]);
  await writeFile(here, other);
  const again = world.start(['restore', 'kept', '--yes', '--json']);
  await again.ended;
  expect((await readFile(here)).subarray(0, other.length)).toEqual(other);
});

test('an archive that was written anew after an older backup is replaced by the one that the newer store names', async () => {
  await world.end();
  world = await start({ retentionDays: 0 });
  await pay('a');
  await ok('backup', 'old');
  const { batch } = await pay('b');
  await ok('status');
  await ok('backup', 'kept');
  await ok('restore', 'old', '--yes');
  await ok('resume', '--after-rollback');
  await ok('status');
  expect((await ok('verify')).ties).toBe(true);
  expect(await ok('restore', 'kept', '--yes')).toMatchObject({ archivesReplaced: 1 });
  expect((await ok('verify')).ties).toBe(true);
  await ok('report', batch);
  const names = await readdir(at('data/archive'), { recursive: true });
  // The one from before the first restore, which archiving again left beside, and that later one.
  expect(names.filter((name) => name.includes(`${batch}.alm.before-`))).toHaveLength(2);
});
