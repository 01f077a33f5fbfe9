import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultDataFolder } from '../../../src/runtime/config/config.js';
import { folderWith, load } from './load-config.js';

describe('defaults < file < environment < flags', () => {
  test('each layer wins over the one before, setting by setting', async () => {
    const yaml = 'logLevel: info\nretentionDays: 7\noperator: from-file\n';
    expect(await load()).toMatchObject({
      logLevel: 'warn',
      retentionDays: 30,
      operator: userInfo().username,
    });
    expect(await load({ yaml })).toMatchObject({ logLevel: 'info', retentionDays: 7, operator: 'from-file' });
    const env = { ALMONER_LOG_LEVEL: 'error', ALMONER_OPERATOR: 'ada' };
    expect(await load({ yaml, env })).toMatchObject({ logLevel: 'error', retentionDays: 7, operator: 'ada' });
    expect(await load({ yaml, env, flags: { logLevel: 'trace' } })).toMatchObject({
      logLevel: 'trace',
      operator: 'ada',
    });
  });

  test('--config names the file, and so does ALMONER_CONFIG', async () => {
    const cwd = folderWith({
      'sub/other.yaml': 'logLevel: debug\n',
      'almoner.config.yaml': 'logLevel: info\n',
    });
    expect(await load({ cwd })).toMatchObject({
      logLevel: 'info',
      configFile: join(cwd, 'almoner.config.yaml'),
    });
    expect((await load({ cwd, flags: { config: 'sub/other.yaml' } })).logLevel).toBe('debug');
    expect((await load({ cwd, env: { ALMONER_CONFIG: 'sub/other.yaml' } })).logLevel).toBe('debug');
  });

  test('an empty environment variable is an unset one', async () => {
    const config = await load({
      env: { ALMONER_LOG_LEVEL: '', REDIS_URL: ' ', ALMONER_REALM_URL: '', ALMONER_API_KEY: '' },
    });
    expect(config).toMatchObject({ logLevel: 'warn', redisUrl: null });
    expect(config.profiles[0]?.rehearsal).toBe(true);
  });

  test('an empty file is a file with no settings', async () => {
    expect((await load({ yaml: '' })).logLevel).toBe('warn');
    expect((await load({ yaml: '# nothing yet\n' })).logLevel).toBe('warn');
  });

  test('lists and numbers come from the environment as such', async () => {
    const env = { ALMONER_RETENTION_DAYS: '3', ALMONER_ACCEPT_RISKS: 'no-append-only, fsync-everysec' };
    expect(await load({ env })).toMatchObject({
      retentionDays: 3,
      risks: ['no-append-only', 'fsync-everysec'],
    });
  });
});

describe('folders', () => {
  test('relative paths belong to the place they were written in', async () => {
    const yaml = 'dataFolder: data\nreportsFolder: ~/out\n';
    const cwd = folderWith({ 'etc/c.yaml': yaml });
    const env = { HOME: '/home/ada', ALMONER_JOBS: 'my-jobs' };
    expect(await load({ cwd, env, flags: { config: 'etc/c.yaml' } })).toMatchObject({
      dataFolder: join(cwd, 'etc/data'),
      reportsFolder: '/home/ada/out',
      jobsFolder: join(cwd, 'my-jobs'),
    });
  });

  test('reports and jobs stand beside the caller, data in one folder per user', async () => {
    const cwd = folderWith();
    expect(await load({ cwd })).toMatchObject({
      reportsFolder: join(cwd, 'reports'),
      jobsFolder: join(cwd, 'jobs'),
    });
    const home = { HOME: '/home/ada' };
    expect(defaultDataFolder(home, 'linux')).toBe('/home/ada/.local/share/almoner');
    expect(defaultDataFolder({ ...home, XDG_DATA_HOME: '/x' }, 'linux')).toBe('/x/almoner');
    expect(defaultDataFolder({ ...home, XDG_DATA_HOME: 'x' }, 'linux')).toBe(
      '/home/ada/.local/share/almoner',
    );
    expect(defaultDataFolder(home, 'darwin')).toBe('/home/ada/Library/Application Support/almoner');
  });
});

test('the configuration is frozen to its last leaf', async () => {
  const config = await load({
    yaml: 'realms:\n  main: { baseUrl: https://r.example, realmId: r1, keyEnv: K }\n',
  });
  const thaw = (value: unknown, path: string): string[] => {
    if (typeof value !== 'object' || value === null) return [];
    const inner = Object.entries(value).flatMap(([key, each]) => thaw(each, `${path}.${key}`));
    return Object.isFrozen(value) ? inner : [path, ...inner];
  };
  expect(thaw(config, 'config')).toEqual([]);
});
