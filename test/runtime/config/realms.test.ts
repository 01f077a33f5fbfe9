import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pickProfile } from '../../../src/runtime/config/config.js';
import { faultsOf, folderWith, load } from './load-config.js';

const REALM = {
  ALMONER_REALM_URL: 'https://r.example/api/v4/',
  ALMONER_REALM_ID: '42',
  ALMONER_API_KEY: 'k',
};
const TWO = `realms:
  main: { baseUrl: https://r.example, realmId: "42", keyEnv: MAIN_KEY, rate: 500/h, maxTokensPerDay: 1000 }
  side: { baseUrl: https://s.example, realmId: 119000000000000000001, keyFile: side.key, certainty: readback }
`;

describe('the realm of the environment', () => {
  test('no realm anywhere is the embedded rehearsal', async () => {
    expect((await load()).profiles).toEqual([
      expect.objectContaining({
        name: 'embedded',
        realmId: 'embedded',
        baseUrl: 'embedded:',
        rehearsal: true,
        certainty: 'idempotent',
        rate: null,
        key: { from: 'embedded' },
      }),
    ]);
  });

  test('rate and certainty may be set for the embedded realm too', async () => {
    const [profile] = (await load({ env: { ALMONER_RATE: '10/s', ALMONER_CERTAINTY: 'manual' } })).profiles;
    expect(profile).toMatchObject({
      rehearsal: true,
      rate: { requests: 10, windowMs: 1000 },
      certainty: 'manual',
    });
  });

  test('a whole one is a profile named after its id, careful by default', async () => {
    expect((await load({ env: REALM })).profiles).toEqual([
      {
        name: '42',
        baseUrl: 'https://r.example',
        realmId: '42',
        rehearsal: false,
        key: { from: 'env', name: 'ALMONER_API_KEY' },
        authScheme: 'Bearer',
        currency: null,
        currencies: [],
        balancePath: null,
        recipientAs: 'number',
        certainty: 'manual',
        rate: { requests: 20, windowMs: 60_000 },
        rateReserve: 0,
        timeouts: { connectMs: 10_000, tlsMs: 10_000, responseMs: 30_000, totalMs: 60_000 },
        attempts: { max: 5, backoffMs: 1_000, backoffMaxMs: 60_000 },
        statusOverrides: {},
        caps: { maxTokensPerOrder: null, maxTokensPerBatch: null, maxTokensPerDay: null },
        approval: { overTokens: null, overRows: null },
        columns: {},
        timezone: 'UTC',
        quietHours: null,
        wallets: { method: 'GET', chunk: 100 },
        afterRollback: 'wait',
        settleMs: 1_200_000,
        keyLifetimeMs: 86_400_000,
      },
    ]);
  });

  test('the key may be in a file, relative to the caller', async () => {
    const { ALMONER_API_KEY: _, ...rest } = REALM;
    const cwd = folderWith();
    const [profile] = (await load({ cwd, env: { ...rest, ALMONER_API_KEY_FILE: 'secret/key' } })).profiles;
    expect(profile?.key).toEqual({ from: 'file', path: join(cwd, 'secret/key') });
  });

  test.each([
    [['ALMONER_REALM_URL'], ['ALMONER_REALM_ID', 'ALMONER_API_KEY']],
    [['ALMONER_REALM_ID'], ['ALMONER_REALM_URL', 'ALMONER_API_KEY']],
    [['ALMONER_API_KEY'], ['ALMONER_REALM_URL', 'ALMONER_REALM_ID']],
    [['ALMONER_REALM_URL', 'ALMONER_API_KEY'], ['ALMONER_REALM_ID']],
  ])('only %s set is refused, naming what is missing', async (present, missing) => {
    const env = Object.fromEntries(Object.entries(REALM).filter(([name]) => present.includes(name)));
    expect((await faultsOf({ env })).map((fault) => fault.split(':')[0])).toEqual(missing);
  });

  test('a key twice is refused', async () => {
    expect(await faultsOf({ env: { ...REALM, ALMONER_API_KEY_FILE: 'f' } })).toEqual([
      expect.stringContaining('expected either ALMONER_API_KEY or ALMONER_API_KEY_FILE, got both'),
    ]);
  });

  test('the realm service may ignore it', async () => {
    const config = await load({ env: { ALMONER_API_KEY: 'first-key' }, environmentRealm: 'ignored' });
    expect(config.profiles.map((profile) => profile.name)).toEqual(['embedded']);
  });
});

describe('realms of the file', () => {
  test('an id of 21 digits without quotes keeps every digit', async () => {
    expect((await load({ yaml: TWO })).profiles.map((profile) => profile.realmId)).toEqual([
      '42',
      '119000000000000000001',
    ]);
    const zeros =
      'realms:\n  a: { baseUrl: https://r.example, realmId: 007, keyEnv: K, realmPointId: 0010, currencies: [0020, gems] }\n';
    expect((await load({ yaml: zeros })).profiles[0]).toMatchObject({
      realmId: '007',
      currency: '0010',
      currencies: ['0020', 'gems'],
    });
  });

  test('an environment realm of another identity stands beside them', async () => {
    const env = { ...REALM, ALMONER_REALM_ID: '43', ALMONER_RATE: '10/s' };
    const profiles = (await load({ yaml: TWO, env })).profiles;
    expect(profiles.map((profile) => profile.name).sort()).toEqual(['43', 'main', 'side']);
    expect(profiles.find((profile) => profile.name === 'main')?.rate).toEqual({
      requests: 500,
      windowMs: 3_600_000,
    });
    expect(profiles.find((profile) => profile.name === '43')?.rate).toEqual({
      requests: 10,
      windowMs: 1_000,
    });
  });

  test('of the same identity the environment wins, and the caps of the file stay in force', async () => {
    const config = await load({ yaml: TWO, env: { ...REALM, ALMONER_RATE: 'none' } });
    expect(config.profiles).toHaveLength(2);
    expect(pickProfile(config, 'main')).toMatchObject({
      key: { from: 'env', name: 'ALMONER_API_KEY' },
      rate: null,
      caps: { maxTokensPerDay: 1000 },
    });
  });

  test('rate and certainty of the environment overrule the file where it names no realm', async () => {
    const config = await load({ yaml: TWO, env: { ALMONER_RATE: '7/s', ALMONER_CERTAINTY: 'idempotent' } });
    for (const profile of config.profiles)
      expect(profile).toMatchObject({ rate: { requests: 7, windowMs: 1_000 }, certainty: 'idempotent' });
  });

  test('the key file belongs to the folder of the configuration file', async () => {
    const cwd = folderWith({ 'etc/c.yaml': TWO });
    const config = await load({ cwd, flags: { config: 'etc/c.yaml' } });
    expect(pickProfile(config, 'side').key).toEqual({ from: 'file', path: join(cwd, 'etc/side.key') });
  });

  test('every setting of a profile is read', async () => {
    const yaml = `realms:
  full:
    baseUrl: http://127.0.0.1:8080/api/v4
    realmId: guild
    keyEnv: GUILD_KEY
    authScheme: ""
    realmPointId: gold
    balancePath: data.balance
    recipientAs: string
    certainty: readback
    rate: 60/6s
    rateReserve: 10
    timeouts: { connectMs: 1, tlsMs: 2, responseMs: 3, totalMs: 4 }
    attempts: { max: 9, backoffMs: 10, backoffMaxMs: 20 }
    statusOverrides: { 409: refused, "503": not-sent }
    maxTokensPerOrder: 1
    maxTokensPerBatch: 2
    maxTokensPerDay: 3
    approval: { overRows: 7 }
    columns: {tokens: Punkte}
    timezone: Europe/Berlin
    quietHours: ['22:00-07:00', 'fri 18:00-mon 08:00']
    wallets: { method: POST, chunk: 50 }
    afterRollback: continue
    settleMs: 5
    keyLifetimeMs: 6
    notifications:
      webhook: { url: https://hook.example/x, secretEnv: HOOK_SECRET }
      discord: { urlFile: discord.url }
      events: [batch.doubt]
      holdMinutes: 10
`;
    const cwd = folderWith({ 'almoner.config.yaml': yaml });
    const config = await load({ cwd });
    expect(config.profiles).toEqual([
      {
        name: 'full',
        baseUrl: 'http://127.0.0.1:8080',
        realmId: 'guild',
        rehearsal: false,
        key: { from: 'env', name: 'GUILD_KEY' },
        authScheme: '',
        currency: 'gold',
        currencies: [],
        balancePath: 'data.balance',
        recipientAs: 'string',
        certainty: 'readback',
        rate: { requests: 60, windowMs: 6_000 },
        rateReserve: 10,
        timeouts: { connectMs: 1, tlsMs: 2, responseMs: 3, totalMs: 4 },
        attempts: { max: 9, backoffMs: 10, backoffMaxMs: 20 },
        statusOverrides: { '409': 'refused', '503': 'not-sent' },
        caps: { maxTokensPerOrder: 1, maxTokensPerBatch: 2, maxTokensPerDay: 3 },
        approval: { overTokens: null, overRows: 7 },
        columns: { tokens: 'Punkte' },
        timezone: 'Europe/Berlin',
        quietHours: {
          zone: 'Europe/Berlin',
          texts: ['22:00-07:00', 'fri 18:00-mon 08:00'],
          spans: expect.arrayContaining([
            { from: 1_320, to: 1_860 },
            { from: 4 * 1_440 + 1_080, to: 480 },
          ]),
        },
        wallets: { method: 'POST', chunk: 50 },
        afterRollback: 'continue',
        settleMs: 5,
        keyLifetimeMs: 6,
      },
    ]);
    expect(config.notifications).toEqual([
      {
        profile: 'full',
        webhook: { url: 'https://hook.example/x', secret: { from: 'env', name: 'HOOK_SECRET' } },
        discord: { from: 'file', path: join(cwd, 'discord.url') },
        events: ['batch.doubt'],
        holdMs: 600_000,
      },
    ]);
  });
});

describe('picking a realm', () => {
  test('the only one needs no name', async () => {
    expect(pickProfile(await load()).name).toBe('embedded');
  });

  test('by name or by id', async () => {
    const config = await load({ yaml: TWO });
    expect(pickProfile(config, 'side').name).toBe('side');
    expect(pickProfile(config, '42').name).toBe('main');
  });

  test('of several one must be chosen, and an unknown one is refused; both list what there is', async () => {
    const config = await load({ yaml: TWO });
    const details = ['main: realm 42 at https://r.example', expect.stringContaining('side: realm 119')];
    expect(() => pickProfile(config)).toThrow(
      expect.objectContaining({ code: 'ALM_CONFIG_REALM_AMBIGUOUS', details }),
    );
    expect(() => pickProfile(config, 'mian')).toThrow(
      expect.objectContaining({ code: 'ALM_CONFIG_REALM_UNKNOWN', exit: 2, details }),
    );
  });

  test('one id at two base URLs is ambiguous by id and clear by name', async () => {
    const config = await load({ yaml: TWO.replace('119000000000000000001', '"42"') });
    expect(() => pickProfile(config, '42')).toThrow(
      expect.objectContaining({ code: 'ALM_CONFIG_REALM_AMBIGUOUS' }),
    );
    expect(pickProfile(config, 'side').baseUrl).toBe('https://s.example');
  });
});
