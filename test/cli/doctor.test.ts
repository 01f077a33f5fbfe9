import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { folderWritable, nodeVersion } from '../../src/cli/doctor/machine.js';
import { keyPlace, transport } from '../../src/cli/doctor/realm.js';
import { loadConfig, pickProfile } from '../../src/runtime/config/config.js';
import { almoner } from '../support/program/almoner.js';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'almoner-doctor-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const REALM = { ALMONER_REALM_URL: 'http://127.0.0.1:9', ALMONER_REALM_ID: 'r' };

describe('folders', () => {
  test('an existing one and one that can be made are fine, and nothing is left behind', async () => {
    expect(await folderWritable('data', cwd, 'X').run()).toMatchObject({ state: 'ok' });
    expect(await folderWritable('data', join(cwd, 'a/b/c'), 'X').run()).toEqual({
      state: 'ok',
      message: `${join(cwd, 'a/b/c')} will be made when needed`,
    });
    expect(await almoner(['doctor'], { cwd })).toMatchObject({ status: 0 });
  });

  test('a file in the way fails, with the setting that moves the folder', async () => {
    writeFileSync(join(cwd, 'file'), '');
    for (const folder of [join(cwd, 'file'), join(cwd, 'file/inside')])
      expect(await folderWritable('data', folder, 'ALMONER_DATA').run()).toMatchObject({
        state: 'failed',
        remedy: expect.stringContaining('ALMONER_DATA'),
      });
  });

  test('a failed check makes the doctor exit with 2', async () => {
    writeFileSync(join(cwd, 'file'), '');
    const { status, stdout } = await almoner(['doctor'], { cwd, env: { ALMONER_REPORTS: 'file/reports' } });
    expect(status).toBe(2);
    expect(stdout).toMatch(/failed +reports folder: .*\n +remedy: Make .*ALMONER_REPORTS/);
    expect(stdout).toMatch(/\nNext: .+\n$/);
  });
});

test.each([
  ['v20.19.0', 'ok'],
  ['v22.1.0', 'ok'],
  ['v20.18.3', 'failed'],
  ['v18.20.0', 'failed'],
])('Node %s is %s', async (version, state) => {
  expect(await nodeVersion(version).run()).toMatchObject({ state });
});

describe('realms', () => {
  const profileAt = async (url: string, env: NodeJS.ProcessEnv = {}) =>
    pickProfile(
      await loadConfig({
        env: { ...REALM, ALMONER_API_KEY: 'key-of-the-doctor', ...env, ALMONER_REALM_URL: url },
        cwd,
        flags: {},
      }),
    );

  test.each([
    ['https://r.example', 'ok'],
    ['http://127.0.0.1:80', 'ok'],
    ['http://r.example', 'warning'],
  ])('%s: %s', async (url, state) => {
    expect(await transport(await profileAt(url)).run()).toMatchObject({ state });
  });

  test('a key file that is missing, open to others, or fine', async () => {
    const profile = await profileAt('https://r.example', {
      ALMONER_API_KEY: '',
      ALMONER_API_KEY_FILE: 'key',
    });
    expect(await keyPlace(profile, {}).run()).toMatchObject({ state: 'failed' });
    writeFileSync(join(cwd, 'key'), 'key-of-the-doctor', { mode: 0o600 });
    expect(await keyPlace(profile, {}).run()).toMatchObject({ state: 'ok' });
    chmodSync(join(cwd, 'key'), 0o644);
    expect(await keyPlace(profile, {}).run()).toMatchObject({ state: 'warning' });
  });
});

test('the configuration is printed with origins and without secrets', async () => {
  writeFileSync(join(cwd, 'almoner.config.yaml'), 'limits: { storeAnswerMs: 500 }\n');
  const env = { ...REALM, ALMONER_API_KEY: 'canary-key-1234', REDIS_URL: 'redis://:canary-pw@127.0.0.1:9/0' };
  for (const args of [['doctor'], ['doctor', '--json', '--log-level', 'trace']]) {
    const { stdout, stderr } = await almoner(args, { cwd, env });
    expect(stdout).toContain('environment ALMONER_REALM_URL');
    expect(stdout).toContain('redis://:***@127.0.0.1:9/0');
    expect(stdout + stderr).not.toContain('canary');
  }
});

test('the configuration file and the line of a setting are named', async () => {
  writeFileSync(join(cwd, 'almoner.config.yaml'), 'logLevel: info\nretentionDays: 9\n');
  const { stdout } = await almoner(['doctor', '--json'], { cwd });
  const parsed: unknown = JSON.parse(stdout);
  expect(parsed).toMatchObject({
    ok: true,
    configuration: expect.arrayContaining([
      { name: 'retentionDays', value: '9', origin: 'almoner.config.yaml:2' },
    ]),
  });
});
