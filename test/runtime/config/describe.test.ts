import { describe, expect, test } from 'vitest';
import { describeConfig, secretsOf } from '../../../src/runtime/config/config.js';
import { maskUrl } from '../../../src/runtime/config/describe.js';
import { load } from './load-config.js';

const YAML = `redisUrl: redis://user:pa55@h:6379/0
realms:
  main:
    baseUrl: https://r.example
    realmId: r1
    keyEnv: MAIN_KEY
    rate: 10/s
    timezone: Europe/Berlin
    quietHours: ["22:00-07:00"]
    approval: { overTokens: 50000 }
    columns: { tokens: Punkte }
    notifications:
      webhook: { url: https://hook.example/services/canary-path, secretEnv: HOOK }
      discord: { urlEnv: DISCORD }
`;

describe('every setting is shown with its origin', () => {
  const settings = async (given: Parameters<typeof load>[0]) =>
    new Map(
      describeConfig(await load(given)).map(({ name, value, origin }) => [name, `${value} (${origin})`]),
    );

  test('default, file with line, environment and flag', async () => {
    const shown = await settings({
      yaml: YAML,
      env: { ALMONER_OPERATOR: 'ada' },
      flags: { logLevel: 'debug' },
    });
    expect(shown.get('retentionDays')).toBe('30 (default)');
    expect(shown.get('realms.main.rate')).toBe('10/s (almoner.config.yaml:7)');
    expect(shown.get('realms.main.certainty')).toBe('manual (default)');
    expect(shown.get('realms.main.key')).toBe('environment variable MAIN_KEY (almoner.config.yaml:6)');
    expect(shown.get('realms.main.timezone')).toBe('Europe/Berlin (almoner.config.yaml:8)');
    expect(shown.get('realms.main.quietHours')).toMatch(/^22:00-07:00 \(almoner\.config\.yaml:9\)$/);
    expect(shown.get('realms.main.approval.overTokens')).toBe('50000 (almoner.config.yaml:10)');
    expect(shown.get('realms.main.approval.overRows')).toBe('none (default)');
    expect(shown.get('realms.main.columns.tokens')).toBe('Punkte (almoner.config.yaml:11)');
    expect(shown.get('realms.main.afterRollback')).toBe('wait (default)');
    expect(shown.get('operator')).toBe('ada (environment ALMONER_OPERATOR)');
    expect(shown.get('logLevel')).toBe('debug (flag --log-level)');
    expect(shown.get('redisUrl')).toBe('redis://user:***@h:6379/0 (almoner.config.yaml:1)');
  });

  test('the environment realm names its variables', async () => {
    const env = { ALMONER_REALM_URL: 'https://r.example', ALMONER_REALM_ID: '42', ALMONER_API_KEY: 'canary' };
    const shown = await settings({ env: { ...env, ALMONER_RATE: '9/s' } });
    expect(shown.get('realms.42.baseUrl')).toBe('https://r.example (environment ALMONER_REALM_URL)');
    expect(shown.get('realms.42.key')).toBe(
      'environment variable ALMONER_API_KEY (environment ALMONER_API_KEY)',
    );
    expect(shown.get('realms.42.rate')).toBe('9/s (environment ALMONER_RATE)');
  });

  test('no secret is shown, nor kept in the configuration', async () => {
    const env = { MAIN_KEY: 'canary-key', HOOK: 'canary-hook', DISCORD: 'https://d.example/canary' };
    const config = await load({ yaml: YAML, env });
    expect(JSON.stringify(describeConfig(config))).not.toMatch(/canary|pa55/);
    expect(JSON.stringify(config)).not.toMatch(/canary-(key|hook)/);
    expect(secretsOf(config, env)).toEqual(['canary-key', 'https://d.example/canary', 'canary-hook', 'pa55']);
  });
});

test.each([
  ['redis://h:1/0', 'redis://h:1/0'],
  ['redis://:pw@h', 'redis://:***@h'],
  ['redis://u:p@w@h', 'redis://u:***@h'],
  ['redis+sentinel://u:pw@a:1,b:2/m', 'redis+sentinel://u:***@a:1,b:2/m'],
  ['https://token@h/x', 'https://***@h/x'],
  ['rediss://h?sentinelPassword=pw&ca=f', 'rediss://h?sentinelPassword=***&ca=f'],
  ['redis//:pw@h', 'redis//:***@h'],
])('%s is shown as %s', async (url, shown) => {
  expect(maskUrl(url)).toBe(shown);
});
