import { describe, expect, test } from 'vitest';
import { faultsOf, load } from './load-config.js';

const realm = (line: string) =>
  `realms:\n  main:\n    baseUrl: https://r.example\n    realmId: r1\n    keyEnv: K\n    ${line}\n`;

describe('a bad value is named with what was expected, what was got, and where', () => {
  test.each([
    [
      'logLevel: loud',
      'logLevel: expected one of fatal, error, warn, info, debug, trace, silent, got "loud" (almoner.config.yaml line 1, column 11)',
    ],
    [
      'retentionDays: -1',
      'retentionDays: expected a whole number from 0 to 3650, got -1 (almoner.config.yaml line 1, column 16)',
    ],
    [
      'retentionDays: "7"',
      'retentionDays: expected a whole number from 0 to 3650, got "7" (almoner.config.yaml line 1, column 16)',
    ],
    [
      'retentionDays:',
      'retentionDays: expected a whole number from 0 to 3650, got an empty value (almoner.config.yaml line 1, column 15)',
    ],
    [
      'dataFolder: [a]',
      'dataFolder: expected the path of a folder, got a list (almoner.config.yaml line 1, column 13)',
    ],
    [
      'dataFolder: ~root/x',
      'dataFolder: expected the path of a folder, got "~root/x" (almoner.config.yaml line 1, column 13)',
    ],
    [
      'operator: "a\\nb"',
      'operator: expected a name of 1 to 64 printable characters, got "a\\nb" (almoner.config.yaml line 1, column 11)',
    ],
    [
      'risks: no-append-only',
      'risks: expected a list of risks by their names, got "no-append-only" (almoner.config.yaml line 1, column 8)',
    ],
    [
      'risks: [ok-risk, Bad Risk]',
      'risks.1: expected a risk by its name, such as no-append-only, got "Bad Risk" (almoner.config.yaml line 1, column 18)',
    ],
    [
      'realms: 5',
      'realms: expected a block of realms by their names, got 5 (almoner.config.yaml line 1, column 9)',
    ],
    [
      'realms:\n  main: 5',
      'realms.main: expected a block of settings, got 5 (almoner.config.yaml line 2, column 9)',
    ],
    [
      realm('rate: 24'),
      'realms.main.rate: expected a rate such as 24/min, 10/s, 500/h, 60/6s, or none, got 24 (almoner.config.yaml line 6, column 11)',
    ],
    [
      realm('rate: 24/m'),
      'realms.main.rate: expected a rate such as 24/min, 10/s, 500/h, 60/6s, or none, got "24/m" (almoner.config.yaml line 6, column 11)',
    ],
    [
      realm('certainty: sure'),
      'realms.main.certainty: expected one of idempotent, readback, manual, got "sure" (almoner.config.yaml line 6, column 16)',
    ],
    [
      realm('statusOverrides: { 99: paid }'),
      'realms.main.statusOverrides.99: expected an HTTP status such as 409, got "99" (almoner.config.yaml line 6, column 28)',
    ],
    [
      realm('statusOverrides: { 409: maybe }'),
      'realms.main.statusOverrides.409: expected one of paid, not-sent, refused, realm-halted, slow-down, unknown, got "maybe" (almoner.config.yaml line 6, column 29)',
    ],
    [
      realm('timeouts: { connectMs: 0 }'),
      'realms.main.timeouts.connectMs: expected a whole number from 1 to 600000, got 0 (almoner.config.yaml line 6, column 28)',
    ],
    [
      realm('maxTokensPerOrder: 1.5'),
      'realms.main.maxTokensPerOrder: expected a whole number from 1 to 9007199254740991, got 1.5 (almoner.config.yaml line 6, column 24)',
    ],
    [
      realm('keyFile: f'),
      'realms.main.keyFile: expected either keyEnv or keyFile, got both (almoner.config.yaml line 6, column 14)',
    ],
    [
      realm('rateReserve: 20'),
      'realms.main.rateReserve: expected less than the rate’s 20 requests, got 20 (almoner.config.yaml line 6, column 18)',
    ],
    [
      realm('balancePath: data.balance\n    currencies: [gold]'),
      'realms.main.balancePath: expected no balancePath together with currencies: it names one balance, and the others are in `balances` of the member record (almoner.config.yaml line 6, column 18)',
    ],
    [
      realm('attempts: { backoffMs: 70000 }'),
      'realms.main.attempts.backoffMaxMs: expected at least backoffMs, which is 70000, got 60000 (almoner.config.yaml line 6, column 5)',
    ],
    [
      realm('authScheme: "Bearer\\r\\nX: y"'),
      'realms.main.authScheme: expected an authorization scheme such as Bearer, or an empty text, got "Bearer\\r\\nX: y" (almoner.config.yaml line 6, column 17)',
    ],
  ])('%s', async (yaml, fault) => {
    expect(await faultsOf({ yaml })).toEqual([fault]);
  });

  test.each([
    [
      { ALMONER_LOG_LEVEL: 'loud' },
      'ALMONER_LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent, got "loud" (environment)',
    ],
    [
      { ALMONER_RATE: '24/m' },
      'ALMONER_RATE: expected a rate such as 24/min, 10/s, 500/h, 60/6s, or none, got "24/m" (environment)',
    ],
    [
      { ALMONER_CERTAINTY: 'sure' },
      'ALMONER_CERTAINTY: expected one of idempotent, readback, manual, got "sure" (environment)',
    ],
    [
      { ALMONER_RETENTION_DAYS: 'soon' },
      'ALMONER_RETENTION_DAYS: expected a whole number from 0 to 3650, got "soon" (environment)',
    ],
    [
      { ALMONER_REALM_URL: 'ftp://x', ALMONER_REALM_ID: 'r', ALMONER_API_KEY: 'k' },
      'ALMONER_REALM_URL: expected a URL that starts with https:// or http://, got "ftp://x" (environment)',
    ],
  ])('%j', async (env, fault) => {
    expect(await faultsOf({ env })).toEqual([fault]);
  });

  test('a flag is named as it is typed', async () => {
    expect(await faultsOf({ flags: { logLevel: 'loud' } })).toEqual([
      expect.stringMatching(/^--log-level: expected one of .*\(flag\)$/),
    ]);
  });
});

describe('unknown names are refused with a hint', () => {
  test.each([
    [
      'retentionDay: 7',
      'retentionDay: not a setting that almoner knows – did you mean "retentionDays"? (almoner.config.yaml line 1, column 1)',
    ],
    [
      'redis: redis://x',
      'redis: not a setting that almoner knows – did you mean "redisUrl"? (almoner.config.yaml line 1, column 8)',
    ],
    ['zebra: 1', 'zebra: not a setting that almoner knows (almoner.config.yaml line 1, column 8)'],
    [
      realm('certanty: manual'),
      'realms.main.certanty: not a setting that almoner knows – did you mean "certainty"? (almoner.config.yaml line 6, column 15)',
    ],
    [
      realm('timeouts: { conectMs: 5 }'),
      'realms.main.timeouts.conectMs: not a setting that almoner knows – did you mean "connectMs"? (almoner.config.yaml line 6, column 27)',
    ],
    [
      realm('currency: gold'),
      'realms.main.currency: not a setting that almoner knows – did you mean "realmPointId"? (almoner.config.yaml line 6, column 15)',
    ],
    [
      'embedded: { rate: none }',
      'embedded: not a setting; the embedded realm is used when no realm is configured',
    ],
  ])('%s', async (yaml, fault) => {
    const [got, ...more] = await faultsOf({ yaml });
    expect(got?.replace(/column \d+/, '')).toBe(fault.replace(/column \d+/, ''));
    expect(more).toEqual([]);
  });

  test('a key in the file is refused without being repeated', async () => {
    const [fault] = await faultsOf({ yaml: realm('apiKey: sk-canary-123') });
    expect(fault).toContain('the key itself must not be in the file: name its source with keyEnv or keyFile');
    expect(fault).not.toContain('canary');
  });

  test('a mistyped variable is refused without showing what it holds', async () => {
    const faults = await faultsOf({
      env: { ALMONER_API_KEI: 'sk-canary-123', ALMONER_TEST_ANYTHING: 'x', OTHER: 'y' },
    });
    expect(faults).toEqual([
      'ALMONER_API_KEI: not a variable that almoner knows – did you mean "ALMONER_API_KEY"? (environment)',
    ]);
  });

  test('a variable that the file names as the place of a key is known', async () => {
    const yaml = realm('').replace('keyEnv: K', 'keyEnv: ALMONER_MAIN_KEY');
    expect((await load({ yaml, env: { ALMONER_MAIN_KEY: 'k' } })).profiles[0]?.key).toEqual({
      from: 'env',
      name: 'ALMONER_MAIN_KEY',
    });
  });

  test.each(['__proto__', 'constructor', 'prototype'])('%s is not a name', async (name) => {
    expect(await faultsOf({ yaml: `${name}: { logLevel: info }\n` })).toEqual([
      expect.stringContaining(`${name}: not a name for a setting`),
    ]);
    expect(await faultsOf({ yaml: `realms:\n  ${name}: { rate: none }\n` })).toEqual([
      expect.stringContaining('not a name for a setting'),
    ]);
  });
});

test('all faults of all layers come at once, with exit code 2', async () => {
  const yaml = `logLevel: loud
zebra: 1
realms:
  main: { baseUrl: "https://u:p@r.example", realmId: "a b", rate: fast }
  bad name: { baseUrl: https://x.example, realmId: x, keyEnv: K }
  embedded: { baseUrl: https://y.example, realmId: y, keyEnv: K }
  twin: { baseUrl: https://x.example/api/v4/, realmId: x, keyEnv: K }
`;
  const env = { ALMONER_REALM_URL: 'https://r.example', ALMONER_DATTA: 'x', REDIS_URL: 'http://:pa55@h' };
  const faults = await faultsOf({ yaml, env });
  for (const start of [
    'logLevel:',
    'zebra:',
    'realms.main.baseUrl: expected a URL without user name and password',
    'realms.main.realmId:',
    'realms.main.rate:',
    'realms.main: expected keyEnv or keyFile, got neither',
    'realms.bad name: expected a realm name without blanks',
    'realms.embedded: expected another name',
    'realms.twin: expected another realm',
    'ALMONER_REALM_ID: missing',
    'ALMONER_API_KEY: missing',
    'ALMONER_DATTA: not a variable',
    'REDIS_URL: expected',
  ])
    expect(faults.filter((fault) => fault.startsWith(start))).toHaveLength(1);
  expect(faults.join('\n')).not.toMatch(/pa55|u:p@/);
  await expect(load({ yaml, env })).rejects.toThrow(expect.objectContaining({ exit: 2 }));
});
