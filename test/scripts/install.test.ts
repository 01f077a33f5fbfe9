import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = (name: string) => fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));

/** A machine of one folder: only the programs put there exist, and the installers among them are fakes. */
let bin: string;
beforeEach(async () => {
  bin = await mkdtemp(join(tmpdir(), 'almoner-bin-'));
  await symlink('/usr/bin/env', join(bin, 'env'));
});
afterEach(() => rm(bin, { recursive: true, force: true }));

async function program(name: string, body: string): Promise<void> {
  await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`);
  await chmod(join(bin, name), 0o755);
}

/** Every installer there is, so that the test is the same as root, as a user and on macOS. */
async function installers(installed: string, works = true): Promise<void> {
  const log = join(bin, 'calls');
  const install = works
    ? `echo '#!/bin/sh' > ${bin}/${installed}; /bin/chmod 755 ${bin}/${installed}`
    : 'exit 100';
  await program(
    'apt-get',
    `echo "RUNLEVEL=$RUNLEVEL apt-get $*" >> ${log}\ncase "$*" in *install*) ${install};; esac`,
  );
  await program('brew', `echo "brew $*" >> ${log}\n${install}`);
  await program('sudo', `shift; [ "$1" = true ] && exit 0; exec "$@"`);
}

function run(name: string, env: Record<string, string> = {}) {
  const result = spawnSync(process.execPath, [script(name)], {
    encoding: 'utf8',
    env: { PATH: bin, ...env },
  });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

describe.each([
  ['install-redis.mjs', 'redis-server', /apt-get install.*brew install.*docker compose.*REDIS_URL/s],
  ['install-chromium.mjs', 'chromium', /apt-get install.*brew install.*CHROMIUM_PATH.*docker compose/s],
])('%s', (name, wanted, ways) => {
  it('installs nothing when the program is there', async () => {
    await program(wanted, '');
    await installers(wanted);
    expect(run(name)).toMatchObject({ code: 0, out: expect.stringContaining(join(bin, wanted)) });
    await expect(readFile(join(bin, 'calls'))).rejects.toThrow('ENOENT');
  });

  it('installs it from the system packages, asking that no service is started', async () => {
    await installers(wanted);
    expect(run(name)).toMatchObject({ code: 0, out: expect.stringContaining(join(bin, wanted)) });
    expect(await readFile(join(bin, 'calls'), 'utf8')).toMatch(
      process.platform === 'darwin'
        ? /brew install/
        : new RegExp(`RUNLEVEL=1 apt-get install -y .*${wanted}`),
    );
  });

  it('names every way when the installation fails', async () => {
    await installers(wanted, false);
    expect(run(name)).toMatchObject({ code: 2, err: expect.stringMatching(ways) });
  });

  it('names every way when nothing may be installed', () => {
    expect(run(name)).toMatchObject({ code: 2, err: expect.stringMatching(ways) });
  });
});

it.each(['simulate.mjs', 'chaos.mjs', 'sabotage.mjs', '../bench/run.mjs'])(
  '%s begins nothing without Redis, and names every way',
  (name) => {
    expect(run(name)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^Redis is missing/) });
  },
);

describe('install-redis.mjs', () => {
  it('takes valkey-server as well', async () => {
    await program('valkey-server', '');
    expect(run('install-redis.mjs')).toMatchObject({
      code: 0,
      out: expect.stringContaining('valkey-server'),
    });
  });
});

describe('install-chromium.mjs', () => {
  it('takes Google Chrome, and CHROMIUM_PATH before all', async () => {
    await program('google-chrome', '');
    expect(run('install-chromium.mjs').out).toContain(join(bin, 'google-chrome'));
    await program('mine', '');
    const CHROMIUM_PATH = join(bin, 'mine');
    expect(run('install-chromium.mjs', { CHROMIUM_PATH }).out).toContain(CHROMIUM_PATH);
    expect(run('install-chromium.mjs', { CHROMIUM_PATH: '/no/such' })).toMatchObject({
      code: 2,
      err: expect.stringContaining('CHROMIUM_PATH names no program: /no/such'),
    });
  });
});
