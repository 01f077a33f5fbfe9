import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { almoner } from '../support/program/almoner.js';
import { startRealm, type TestRealm } from '../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/** `almoner member` and `almoner wallets` against the real realm service. */

const ID = '1190000000000000001';
let redis: TestRedis;
let realm: TestRealm;
let cwd: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  redis = await startRedis();
  cwd = await mkdtemp(join(tmpdir(), 'almoner-test-'));
  realm = await startRealm(redis, { realmId: 'club' });
  await realm.admin.putMembers('club', [{ member: ID, tokens: 50, wallets: ['wa', 'wb'] }]);
  env = {
    REDIS_URL: redis.url,
    ALMONER_REALM_URL: realm.url,
    ALMONER_REALM_ID: 'club',
    ALMONER_API_KEY: realm.key,
    ALMONER_RATE: 'none',
    ALMONER_DATA: join(cwd, 'data'),
  };
});
afterAll(async () => {
  await realm.close();
  await redis.stop();
  await rm(cwd, { recursive: true, force: true });
});

const ask = (args: readonly string[], changes: NodeJS.ProcessEnv = {}, input = '') =>
  almoner(args, { cwd, env: { ...env, ...changes }, input });

describe('almoner member', () => {
  it('prints balance and record, for a person and for a program', async () => {
    const person = await ask(['member', ID]);
    expect([person.status, person.stderr]).toEqual([0, '']);
    expect(person.stdout).toContain('Balance: 50');
    const program = await ask(['member', ID, '--json']);
    expect(JSON.parse(program.stdout)).toMatchObject({
      member: ID,
      rehearsal: false,
      balance: '50',
      record: { id: ID, tokenBalance: 50 },
    });
  });

  it('prints the web3 data', async () => {
    const ran = await ask(['member', ID, '--web3', '--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({ member: ID, web3: { wallets: ['wa', 'wb'] } });
  });

  it('tells an unknown member, a wrong key and a wrong realm apart, each with a way out', async () => {
    const unknown = await ask(['member', '404']);
    expect([unknown.status, unknown.stderr]).toEqual([
      4,
      expect.stringContaining('ALM_REALM_MEMBER_NOT_FOUND'),
    ]);
    const wrongKey = await ask(['member', ID], { ALMONER_API_KEY: 'not-the-key-at-all' });
    expect([wrongKey.status, wrongKey.stderr]).toEqual([5, expect.stringContaining('ALM_REALM_KEY_REFUSED')]);
    expect(wrongKey.stdout + wrongKey.stderr).not.toContain('not-the-key-at-all');
    const otherRealm = await ask(['member', ID], { ALMONER_REALM_ID: 'elsewhere' });
    expect([otherRealm.status, otherRealm.stderr]).toEqual([
      5,
      expect.stringContaining('ALM_REALM_KEY_OTHER_REALM'),
    ]);
    const notAnId = await ask(['member', '1.19E+18']);
    expect([notAnId.status, notAnId.stderr]).toEqual([2, expect.stringContaining('ALM_CLI_USAGE')]);
  });
});

describe('almoner wallets', () => {
  it('says of each wallet whether it belongs to a member, from arguments, a file and stdin', async () => {
    await writeFile(join(cwd, 'wallets.txt'), 'wallet\nwb\nwx\n');
    const ran = await ask(['wallets', 'wa', '--file', 'wallets.txt', '--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      counts: { member: 2, 'not-member': 1, undetermined: 0 },
      wallets: [
        { wallet: 'wa', verdict: 'member' },
        { wallet: 'wb', verdict: 'member' },
        { wallet: 'wx', verdict: 'not-member' },
      ],
    });
    const piped = await ask(['wallets', '--file', '-'], {}, 'wa\n');
    expect([piped.status, piped.stdout]).toEqual([0, expect.stringContaining('1 belong to members')]);
  });

  it('asks nothing when no wallet was named or the file is not there', async () => {
    expect((await ask(['wallets'])).status).toBe(2);
    expect((await ask(['wallets', '--file', 'nowhere.txt'])).status).toBe(2);
  });
});
