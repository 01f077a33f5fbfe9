import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { membersOfCsv } from '../../../src/realm/server/members.js';
import { startRealm, type TestRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';

let redis: TestRedis;
let realm: TestRealm;
let folder: string;

beforeAll(async () => {
  redis = await startRedis();
  realm = await startRealm(redis);
  folder = await mkdtemp(join(tmpdir(), 'almoner-members-'));
});
afterAll(async () => {
  await realm.close();
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});

async function load(text: string): Promise<number> {
  const path = join(folder, 'members.csv');
  await writeFile(path, text);
  return realm.admin.putMembers(realm.realmId, await membersOfCsv(path), 'keep');
}

describe('members from a CSV', () => {
  it('get balance, wallets, web3 facts and attributes', async () => {
    const web3 = '"{""nfts"": [{""tokenId"": 12345678901234567890}]}"';
    expect(
      await load(
        `\uFEFFmember,tokens,wallets,web3,level,team,chat\r\n1190000000000000001,50,wa|wb wc,${web3},7,red,1190000000000000009\r\n2,-5,,,,,\r\n`,
      ),
    ).toBe(2);
    expect((await realm.call('/members/1190000000000000001')).json).toMatchObject({
      tokenBalance: 50,
      wallets: ['wa', 'wb', 'wc'],
      attributes: { level: 7, team: 'red', chat: '1190000000000000009' },
    });
    expect((await realm.call('/web3/members/1190000000000000001')).text).toContain('12345678901234567890');
    expect((await realm.call('/members/2')).json).toMatchObject({ tokenBalance: -5, attributes: {} });
  });

  it('keep the balance they have when the file is loaded again', async () => {
    await load('member;tokens;wallets\n31;10;x\n');
    await realm.change('31', 5);
    expect(await load('member;tokens;wallets\n31;10;y\n32;1;\n')).toBe(1);
    expect((await realm.call('/members/31')).json).toMatchObject({ tokenBalance: 15, wallets: ['y'] });
  });

  it('are refused as a whole, with line and column of every fault', async () => {
    const text =
      'member,tokens,web3\n41,1,\nabc,1,\n42,1.5,\n43,1,{bad\n44,1\n41,2,\n45,99999999999999999,\n';
    await expect(load(text)).rejects.toMatchObject({
      code: 'ALM_SERVICE_MEMBERS_INVALID',
      details: [
        expect.stringMatching(
          /^line 3, column member: expected 1 to 20 decimal digits without a leading zero, got "abc"/,
        ),
        expect.stringMatching(/^line 4, column tokens: expected a whole number/),
        expect.stringMatching(/^line 5, column web3: expected a JSON object/),
        expect.stringMatching(/^line 6: The row has 2 cells, the header 3/),
        expect.stringMatching(/^line 7, column member: this member already stands in line 2/),
        expect.stringMatching(/^line 8, column tokens/),
      ],
    });
    expect(await realm.admin.balance(realm.realmId, '41')).toBeNull();
  });

  it('need a header, a readable file and whole quotes', async () => {
    await expect(load('')).rejects.toMatchObject({
      details: [expect.stringMatching(/^line 1: The file is empty/)],
    });
    await expect(load('id,points\n1,2\n')).rejects.toMatchObject({
      details: [expect.stringMatching(/line 1: .*missing: member, tokens/)],
    });
    await expect(load('member,tokens\n1,"2\n')).rejects.toMatchObject({
      details: [expect.stringMatching(/line/)],
    });
    await expect(membersOfCsv(join(folder, 'none.csv'))).rejects.toMatchObject({
      code: 'ALM_SERVICE_MEMBERS_INVALID',
    });
  });

  it('may come through a pipe, which can be read only once', async () => {
    const pipe = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    const written = writeFile(pipe, 'member,tokens\n301,5\n302,6\n');
    expect(await realm.admin.putMembers(realm.realmId, await membersOfCsv(pipe), 'keep')).toBe(2);
    await written;
    await expect(membersOfCsv(folder)).rejects.toThrow(/cannot be read: .*[^.]\. No member was loaded\.$/);
  });
});
