import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { tempFolder } from '../support/temp-folder.js';

describe('init', () => {
  let world: Program;
  beforeAll(async () => {
    world = await Program.start({ members: [{ member: '119837460192837465', tokens: 0 }] });
  });
  afterAll(() => world.end());

  test('without a realm writes files that can be rehearsed and planned as they are', async () => {
    const cwd = await tempFolder();
    const env = { ALMONER_DATA: join(world.folder, 'init-data'), ALMONER_REPORTS: join(cwd, 'reports') };
    const first = await almoner(['init', '--json'], { cwd, env });
    expect(first.status, first.stderr).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({ realm: null, check: null });
    expect(existsSync(join(cwd, 'almoner.config.yaml'))).toBe(true);
    const rehearsed = await almoner(['rehearse', 'jobs/first-airdrop.csv', '--json'], { cwd, env });
    expect(rehearsed.status, rehearsed.stderr).toBe(0);
    const planned = await almoner(['rules', 'plan', 'jobs/first-reward.yaml', '--json'], { cwd, env });
    expect(planned.status, `${planned.stdout}${planned.stderr}`).toBe(0);
    const again = await almoner(['init'], { cwd, env });
    expect(again).toMatchObject({ status: 2, stderr: expect.stringContaining('ALM_CLI_FILES_EXIST') });
  });

  test('with a realm checks address, realm and key at once, and the file never holds the key', async () => {
    const cwd = await tempFolder();
    const key = world.env.ALMONER_API_KEY ?? '';
    const env = { TOWN_KEY: key, ALMONER_DATA: join(world.folder, 'init-data') };
    const args = [
      'init',
      '--url',
      world.realm.url,
      '--realm-id',
      'town',
      '--key-env',
      'TOWN_KEY',
      '--rate',
      '10/s',
      '--json',
    ];
    const good = await almoner(args, { cwd, env });
    expect(good.status, good.stderr).toBe(0);
    expect(JSON.parse(good.stdout)).toMatchObject({ realm: 'town', check: { state: 'ok' } });
    const config = readFileSync(join(cwd, 'almoner.config.yaml'), 'utf8');
    expect(config).toContain('keyEnv: TOWN_KEY');
    expect(config).not.toContain(key);
    const wrong = await almoner(args, {
      cwd: await tempFolder(),
      env: { ...env, TOWN_KEY: 'wrong-key-of-nobody-01234' },
    });
    expect(JSON.parse(wrong.stdout)).toMatchObject({ check: { state: 'failed' } });
    const half = await almoner(['init', '--url', world.realm.url], { cwd: await tempFolder(), env });
    expect(half).toMatchObject({ status: 2, stderr: expect.stringContaining('belong together') });
  });
});

describe('completion', () => {
  test('a shell completes commands, their second words and their options', async () => {
    const { stdout: completion } = await almoner(['completion', 'bash']);
    const complete = (line: string) => {
      const script = `${completion}\nCOMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _almoner; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim().split('\n');
    };
    expect(complete('almoner reh')).toEqual(['rehearse']);
    expect(complete('almoner dead re')).toEqual(['retry']);
    expect(complete('almoner desk token a')).toEqual(['add']);
    expect(complete('almoner run a.csv --exp')).toEqual(['--expect-rows', '--expect-tokens']);
  });

  test('an unknown shell is refused with the known ones', async () => {
    expect(await almoner(['completion', 'csh'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('bash, zsh, fish'),
    });
  });
});
