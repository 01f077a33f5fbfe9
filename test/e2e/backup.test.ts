import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeBackup } from '../../src/operations/backup/backup.js';
import { almoner, spawned } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { isLong } from '../support/suites.js';
import { until } from '../support/until.js';

const MEMBERS = Array.from({ length: 6 }, (_, i) => String(500_000_000_000_000_000n + BigInt(i)));
/** An amount of its own for each file: the realm's record tells every order apart without any key. */
const fileOf = (name: string) =>
  `member,tokens,reference\n${MEMBERS.map((member) => `${member},${name.charCodeAt(0)},${name}-${member}`).join('\n')}\n`;

let world: Program;

/** Behind the proxy the realm honours no key: a request that is sent twice is applied twice. */
const start = (store: 'embedded' | 'own') =>
  Program.start({
    store,
    network: true,
    certainty: 'manual',
    members: MEMBERS.map((member) => ({ member, tokens: 0 })),
    profile: {},
  });

afterEach(() => world.end());

const at = (name: string) => join(world.folder, name);

async function ok(...args: string[]) {
  const ran = await world.run(...args);
  expect(ran.status, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`).toBe(0);
  return ran;
}

async function pay(name: string) {
  await world.file(`${name}.csv`, fileOf(name));
  await ok('run', `${name}.csv`, '--yes', '--json');
}

const applied = () => world.appliedCount();

async function waitsAfterRollback(batch: string) {
  const { waiting } = JSON.parse((await world.run('status', batch, '--json')).stdout);
  return waiting.some(({ why }: { why: string }) => why === 'after-rollback');
}

async function expectTies(...args: string[]) {
  const { ties, realms } = JSON.parse((await ok('verify', ...args, '--json')).stdout);
  expect({ ties, unchecked: realms.flatMap((realm: { unchecked: string[] }) => realm.unchecked) }).toEqual({
    ties: true,
    unchecked: [],
  });
}

describe('the embedded store', () => {
  beforeEach(async () => {
    world = await start('embedded');
  });

  if (isLong) restoring();
  else keeping();
});

/** In the long suite: what was paid before and after, through a restore. */
function restoring() {
  test('restored beside its journals it pays no member twice, and first sends wait for a person', async () => {
    await pay('a');
    await world.file('b.csv', fileOf('b'));
    await ok('import', 'b.csv', '--yes');
    await ok('backup', 'kept');
    await expectTies('--backup', 'kept');

    await world.file('c.csv', fileOf('c'));
    await pay('d');
    expect(await applied()).toBe(12);
    const { stdout, stderr } = await ok('restore', 'kept', '--yes', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ journalsAdded: 0, merged: 6 });
    expect(stderr).toContain('redis.before-');
    const asides = (await readdir(at('data'))).filter((name) => name.startsWith('redis.'));
    expect(asides).toHaveLength(1);
    await expectTies();

    // The journals know all of d, whose batch the store had forgotten.
    await ok('run', 'd.csv', '--yes', '--json');
    expect(await applied()).toBe(12);
    const worker = await world.worker();
    await ok('import', 'c.csv', '--yes');
    await until('what is new to be paid', async () => (await applied()) === 18);
    const waits = JSON.parse((await world.run('status', '--json')).stdout);
    const [b] = waits.batches.filter(({ counts }: { counts: object }) => 'planned' in counts);
    expect(b.waiting.map(({ why }: { why: string }) => why)).toContain('after-rollback');
    await ok('resume', '--after-rollback');
    await until('what waited to be paid', async () => (await applied()) === 24);
    await worker.stop();
    await expectTies();
    const changes = await world.applied();
    expect(new Set(changes.map(({ tokens, member }) => `${member} ${tokens}`)).size).toBe(24);
  });

  test('once a person has accepted the loss on a new machine, a file that may be among the lost is not paid unasked', async () => {
    // As processes: one that lives would still be asked for the sessions that it had in the folder before.
    const on = (env: NodeJS.ProcessEnv, ...args: string[]) =>
      spawned([...args, '--json'], { cwd: world.folder, env });
    for (const name of ['a', 'b', 'c']) await world.file(`${name}.csv`, fileOf(name));
    expect((await on(world.env, 'run', 'a.csv', '--yes')).status).toBe(0);
    expect((await on(world.env, 'import', 'c.csv', '--yes')).status).toBe(0);
    expect((await on(world.env, 'backup', 'kept')).status).toBe(0);
    expect((await on(world.env, 'run', 'b.csv', '--yes')).status).toBe(0);
    await rename(at('data'), at('gone'));
    const other = world.envOf('other');
    expect((await on(other, 'restore', 'kept', '--yes')).status).toBe(5);
    const accepted = await on(other, 'recover', '--accept-missing', 'removed');
    expect(accepted.status, accepted.stdout).toBe(0);
    const again = await on(other, 'run', 'b.csv', '--yes');
    expect(again.status, again.stdout).toBe(3);
    expect(again.stdout).toContain('ALM_PLAN_MAYBE_FORGOTTEN');
    // What was open is in doubt: c may have been paid since.
    const { batches } = JSON.parse((await on(other, 'status')).stdout);
    expect(batches.map(({ counts }: { counts: object }) => counts)).toContainEqual({ doubt: 6 });
    expect(await applied()).toBe(12);
  });

  test('a backup older than its witness, put into an empty folder of the same machine, does not count as a move', async () => {
    const on = (...args: string[]) => spawned([...args, '--json'], { cwd: world.folder, env: world.env });
    for (const name of ['a', 'b']) await world.file(`${name}.csv`, fileOf(name));
    expect((await on('run', 'a.csv', '--yes')).status).toBe(0);
    expect((await on('backup', 'kept')).status).toBe(0);
    expect((await on('run', 'b.csv', '--yes')).status).toBe(0);
    await rename(at('data'), at('gone'));
    const restored = await on('restore', 'kept', '--yes');
    expect(restored.status, restored.stderr).toBe(5);
    expect(restored.stdout).toContain('ALM_LEDGER_FOLDER_BEHIND');
    const moved = await on('recover', '--accept-moved');
    expect(moved.status).toBe(5);
    expect(`${moved.stdout}${moved.stderr}`).toContain('--accept-moved does not apply');
    expect((await on('run', 'b.csv', '--yes')).status).toBe(5);
    // The loss can be accepted; the file that was forgotten is refused then.
    expect((await on('recover', '--accept-missing', 'removed')).status).toBe(0);
    expect((await on('run', 'b.csv', '--yes')).status).toBe(3);
    expect(await applied()).toBe(12);
  });

  test('a store that does not start any more is replaced and kept', async () => {
    await pay('a');
    await ok('backup', 'kept');
    await pay('b');
    const folder = at('data/redis/appendonlydir');
    for (const name of await readdir(folder))
      if (!name.endsWith('.manifest')) await writeFile(join(folder, name), 'no append-only file');
    const broken = await world.run('status', '--json');
    expect(JSON.parse(broken.stdout).error.code).toMatch(/^ALM_STORE_(DAMAGED|START_FAILED)$/);
    await ok('restore', 'kept', '--yes');
    await ok('run', 'b.csv', '--yes', '--json');
    expect(await applied()).toBe(12);
    await expectTies();
  });

  test('journals and archives of the backup that are missing are added, those that are there stay', async () => {
    await pay('a');
    await ok('backup', 'kept');
    await pay('b');
    const journals = async () =>
      (await readdir(at('data/journal'))).filter((name) => name.endsWith('.journal'));
    const [lost] = (await readdir(at('kept/journal'))).filter((name) => name.endsWith('.journal'));
    await rm(at(`data/journal/${lost}`));
    const before = await Promise.all(
      (await journals()).map(async (name) => [name, await readFile(at(`data/journal/${name}`), 'utf8')]),
    );
    const restored = JSON.parse((await ok('restore', 'kept', '--yes', '--json')).stdout);
    expect(restored.journalsAdded).toBe(1);
    for (const [name, text] of before) expect(await readFile(at(`data/journal/${name}`), 'utf8')).toBe(text);
    expect(await journals()).toContain(lost);
    await ok('run', 'b.csv', '--yes', '--json');
    expect(await applied()).toBe(12);
  });
}

function keeping() {
  test('a restored ledger in which nothing was ever sent waits for a person as well', async () => {
    await world.file('b.csv', fileOf('b'));
    const { batch } = JSON.parse((await ok('import', 'b.csv', '--yes', '--json')).stdout);
    await ok('backup', 'kept');
    // The restored store has forgotten this, and would pay.
    await ok('cancel', batch);
    await ok('restore', 'kept', '--yes');
    const worker = await world.worker();
    await until('the batch to wait', () => waitsAfterRollback(batch));
    expect(await applied()).toBe(0);
    await ok('resume', '--after-rollback');
    await until('it to be paid once a person has resumed', async () => (await applied()) === 6);
    await worker.stop();
  });

  test('a restore is refused while a process is at work on the data folder, which is named', async () => {
    await pay('a');
    await ok('backup', 'kept');
    const worker = await world.worker();
    const busy = await world.run('restore', 'kept', '--yes', '--json');
    expect(busy.status).toBe(5);
    expect(JSON.parse(busy.stdout).error).toMatchObject({
      code: 'ALM_BACKUP_IN_USE',
      details: [expect.stringContaining(`pid ${process.pid}`)],
    });
    await worker.stop();
    // One that sends nothing has no session, and uses the store all the same.
    const app = await world.app({ clientName: 'serve' });
    const looking = await world.run('restore', 'kept', '--yes', '--json');
    expect(JSON.parse(looking.stdout).error).toMatchObject({
      code: 'ALM_BACKUP_IN_USE',
      details: [`almoner serve, pid ${process.pid}`],
    });
    await app.close();
    expect((await readdir(at('data'))).filter((name) => name.startsWith('redis'))).toEqual(['redis']);
  });

  test('a restore brings no revoked desk token back, and names those that nobody could be asked about', async () => {
    for (const name of ['eve', 'ann', 'bob']) await ok('desk', 'token', 'add', name, '--role', 'admin');
    await ok('backup', 'kept');
    await ok('desk', 'token', 'revoke', 'eve');
    // The same name with a new token: the one of before stays revoked.
    await ok('desk', 'token', 'revoke', 'bob');
    await ok('desk', 'token', 'add', 'bob', '--role', 'viewer');
    const restored = await ok('restore', 'kept', '--yes', '--json');
    expect(JSON.parse(restored.stdout)).toMatchObject({
      tokensRevoked: ['bob', 'eve'],
      tokensBack: [],
      otherFolder: null,
    });
    expect(restored.stderr).toContain('stay revoked: bob, eve');
    const { stdout } = await ok('desk', 'token', 'list', '--json');
    expect(stdout).toContain('"ann"');
    expect(stdout).not.toMatch(/"(eve|bob)"/);

    const there = await almoner(['restore', 'kept', '--json'], {
      cwd: world.folder,
      env: world.envOf('other'),
    });
    expect(JSON.parse(there.stdout).error.message).toContain(
      `The backup is of another data folder: ${at('data')} on `,
    );
    const fresh = await almoner(['restore', 'kept', '--yes', '--json'], {
      cwd: world.folder,
      env: world.envOf('other'),
    });
    expect(JSON.parse(fresh.stdout)).toMatchObject({
      tokensRevoked: [],
      tokensBack: ['ann', 'bob', 'eve'],
      otherFolder: { backup: { folder: at('data') }, here: { folder: at('other') } },
    });
    expect(fresh.stderr).toContain('almoner desk token revoke NAME');
  });

  test('a restore that fails at its first step says so and leaves no file behind', async () => {
    await pay('a');
    await ok('backup', 'kept');
    // As on a full disk: the note that a restore is under way cannot be written.
    await mkdir(at('data/redis/restore-holds.json'));
    const { folder: cwd, env } = world;
    const failed = await spawned(['restore', 'kept', '--yes', '--json'], { cwd, env });
    expect(JSON.parse(failed.stdout).error).toMatchObject({
      code: 'ALM_BACKUP_FAILED',
      message: expect.stringContaining('The store is as it was.'),
    });
    await rm(at('data/redis/restore-holds.json'), { recursive: true });
    expect((await readdir(at('data/redis'))).filter((name) => name.startsWith('restore'))).toEqual([]);
    await ok('restore', 'kept', '--yes');
  });

  test('without --yes and without a terminal nothing is restored', async () => {
    await ok('backup', 'kept');
    const asked = await world.run('restore', 'kept', '--json');
    expect(asked.status).toBe(2);
    expect(JSON.parse(asked.stdout).error.code).toBe('ALM_CLI_NOT_CONFIRMED');
    expect((await readdir(at('data'))).filter((name) => name.startsWith('redis'))).toEqual(['redis']);
  });

  test('on a new machine a restored backup sends nothing until a person accepts that journals are lost', async () => {
    await pay('a');
    await ok('backup', 'kept');
    await pay('b');
    const env = world.envOf('other');
    const there = (...args: string[]) => almoner(args, { cwd: world.folder, env });
    const restored = await there('restore', 'kept', '--yes', '--json');
    expect(restored.status, restored.stderr).toBe(5);
    expect(JSON.parse(restored.stdout).realms[0].reason.code).toBe('ALM_LEDGER_FOLDER_COPIED');
    const again = await there('run', 'b.csv', '--yes', '--json');
    expect(again.status).toBe(5);
    expect(await applied()).toBe(12);
    // What the backup knows is known: its references are spent.
    const known = JSON.parse((await there('status', '--json')).stdout);
    expect(known.batches[0].counts).toEqual({ paid: 6 });
  });

  test('a damaged backup differs, is not restored, and says which file', async () => {
    await pay('a');
    await ok('backup', 'kept');
    const [journal] = (await readdir(at('kept/journal'))).filter((name) => name.endsWith('.journal'));
    const path = at(`kept/journal/${journal}`);
    await writeFile(
      path,
      (await readFile(path, 'utf8')).replace('"recover"', '"Recover"').replace('"run"', '"Run"'),
    );
    const checked = await world.run('verify', '--backup', 'kept', '--json');
    expect(checked.status).toBe(4);
    expect(JSON.parse(checked.stdout).differences).toEqual([
      `journal/${journal} has another content than was written`,
    ]);
    const told = await world.run('verify', '--backup', 'kept');
    expect(told.stdout + told.stderr).toContain('do not rely on this backup');
    const refused = await world.run('restore', 'kept', '--yes', '--json');
    expect(refused.status).toBe(3);
    expect(JSON.parse(refused.stdout).error.code).toBe('ALM_BACKUP_DAMAGED');
    const none = await world.run('restore', 'data', '--yes', '--json');
    expect(JSON.parse(none.stdout).error.code).toBe('ALM_BACKUP_INVALID');
  });

  test('a place that cannot hold a backup is refused by name, and nothing is left there', async () => {
    await ok('status');
    await writeFile(at('file'), 'x');
    const refused = async (folder: string) => {
      const { status, stdout } = await world.run('backup', folder, '--json');
      expect(status, stdout).toBe(2);
      return JSON.parse(stdout).error.code;
    };
    expect(await refused('file')).toBe('ALM_BACKUP_PLACE');
    expect(await refused('file/x')).toBe('ALM_BACKUP_PLACE');
    expect(await refused('x'.repeat(300))).toBe('ALM_BACKUP_PLACE');
    expect(await refused('data/sub/dir')).toBe('ALM_BACKUP_INSIDE');
    expect(await readdir(at('data'))).not.toContain('sub');
    await ok('backup', 'x'.repeat(250));
    await mkdir(at('empty'));
    await symlink(at('empty'), at('link'));
    await ok('backup', 'link');
    expect(await readdir(at('empty'))).toContain('manifest.json');
  });

  test('a backup holds neither the realm’s key nor the store’s password, and a stopped one leaves nothing', async () => {
    await pay('a');
    await ok('backup', 'kept');
    const password = (await readFile(at('data/redis/password'), 'utf8')).trim();
    const key = String(world.env.ALMONER_API_KEY);
    expect(key.length).toBeGreaterThan(10);
    for (const name of await readdir(at('kept'), { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue;
      const text = await readFile(join(name.parentPath, name.name), 'latin1');
      expect([key, password].filter((secret) => text.includes(secret))).toEqual([]);
    }
    const before = await readdir(world.folder);
    const stop = new AbortController();
    const stopped = makeBackup(await world.app(), at('late'), '0', {
      signal: stop.signal,
      onProgress: (what) => what === 'files' && stop.abort(),
    });
    await expect(stopped).rejects.toMatchObject({ code: 'ALM_BACKUP_INTERRUPTED' });
    expect(await readdir(world.folder)).toEqual(before);
  });
}

if (!isLong)
  describe('an outside Redis', () => {
    beforeEach(async () => {
      world = await start('own');
    });

    test('a cancel that a restored outside store has forgotten is found by the position that the command noted', async () => {
      await pay('a');
      await world.file('b.csv', fileOf('b'));
      const { batch } = JSON.parse((await ok('import', 'b.csv', '--yes', '--json')).stdout);
      const putBack = await world.photograph('before');
      await ok('cancel', batch);
      await putBack();
      const [story] = JSON.parse((await ok('recover', '--json')).stdout).stories;
      expect(story.state).toBe('waiting for a person');
      const worker = await world.worker();
      await until('the batch to wait', () => waitsAfterRollback(batch));
      await worker.stop();
      expect(await applied()).toBe(6);
    });

    test('recover --restored: first sends wait, also where no journal and no note knows what was forgotten', async () => {
      await world.file('b.csv', fileOf('b'));
      const { batch } = JSON.parse((await ok('import', 'b.csv', '--yes', '--json')).stdout);
      const putBack = await world.photograph('before');
      await ok('cancel', batch);
      await putBack();
      const told = JSON.parse((await ok('recover', '--restored', '--json')).stdout);
      expect(told.stories[0]).toMatchObject({
        state: 'waiting for a person',
        happened: 'The store went back to an earlier state. The journals here know of no payment since.',
      });
      const worker = await world.worker();
      await until('the batch to wait', () => waitsAfterRollback(batch));
      expect(await applied()).toBe(0);
      // Given again while the ledger is open, it makes everything wait again.
      await ok('resume', '--after-rollback');
      await until('it to be paid', async () => (await applied()) === 6);
      await worker.stop();
      await world.file('c.csv', fileOf('c'));
      await ok('import', 'c.csv', '--yes', '--json');
      const again = JSON.parse((await ok('recover', '--restored', '--json')).stdout);
      expect(again.stories[0].state).toBe('waiting for a person');
    });

    test('a backup that begins while another is copied holds what was paid before it began', async () => {
      await pay('a');
      const redis = world.store.client();
      await redis.config('SET', 'rdb-key-save-delay', '300000');
      const first = makeBackup(await world.app(), at('first'), '0', {
        signal: new AbortController().signal,
        onProgress: () => {},
      });
      await until('the first to be copied', async () =>
        (await redis.info('persistence')).includes('rdb_bgsave_in_progress:1'),
      );
      await redis.config('SET', 'rdb-key-save-delay', '0');
      await pay('b');
      expect(await redis.info('persistence')).toContain('rdb_bgsave_in_progress:1');
      await ok('backup', 'second');
      await first;
      await expectTies('--backup', 'second');
    });

    test('is copied where it allows that, refused where not, and never replaced', async () => {
      await pay('a');
      await ok('backup', 'kept');
      await expectTies('--backup', 'kept');
      const replaced = await world.run('restore', 'kept', '--yes', '--json');
      expect(replaced.status).toBe(5);
      expect(JSON.parse(replaced.stdout).error.code).toBe('ALM_BACKUP_OUTSIDE');

      await world.store
        .client()
        .acl('SETUSER', 'guest', 'on', '>pass', '~*', '&*', '+@all', '-sync', '-psync');
      const env = { ...world.env, REDIS_URL: `redis://guest:pass@127.0.0.1:${world.store.port}` };
      const denied = await almoner(['backup', 'denied', '--json'], { cwd: world.folder, env });
      expect(denied.status).toBe(5);
      expect(JSON.parse(denied.stdout).error.code).toBe('ALM_BACKUP_STORE_REFUSED');
      expect(await readdir(world.folder)).not.toContain('denied');
    });
  });
