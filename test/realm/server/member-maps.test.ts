import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { realmKeys } from '../../../src/realm/server/store.js';
import { startRealm, type TestRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

let redis: TestRedis;
let client: Redis;

beforeAll(async () => {
  redis = await startRedis();
  client = redis.client();
});
afterAll(() => redis.stop());

async function openRealm(): Promise<TestRealm> {
  const realm = await startRealm(redis);
  onTestFinished(() => realm.close());
  return realm;
}

describe('many members', () => {
  it('stand in small packed hashes, also where the last bits of their ids are the same', async () => {
    const realm = await openRealm();
    const seeds = Array.from({ length: 5_000 }, (_, at) => ({
      member: String(1_190_000_000_000_000_000n + (BigInt(at) << 22n)),
      tokens: at,
    }));
    await realm.admin.putMembers(realm.realmId, seeds);
    const { balances, profiles } = realmKeys(realm.realmId);
    const hashes = [...(await client.keys(`${balances}*`)), ...(await client.keys(`${profiles}*`))];
    const looks = client.pipeline();
    for (const hash of hashes) looks.hlen(hash).object('ENCODING', hash);
    const seen = (await looks.exec())?.map(([, value]) => value) ?? [];
    const sizes = seen.filter((value) => typeof value === 'number');
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(2 * seeds.length);
    expect(Math.max(...sizes)).toBeLessThan(15);
    expect(seen).not.toContain('hashtable');
    await realm.admin.dropRealm(realm.realmId);
    expect(await client.keys(`${balances}*`)).toEqual([]);
  });
});

/** A realm as version 0.2 left it: each map one hash, every profile in full. */
async function openOldRealm(members: number): Promise<TestRealm> {
  const realm = await openRealm();
  const { balances, profiles, wallets } = realmKeys(realm.realmId);
  const old = client.pipeline();
  for (let member = 1; member <= members; member += 1) {
    old.hset(balances, String(member), '100');
    const profile = { wallets: [`w${member}`], web3: {}, attributes: { level: member } };
    old.hset(profiles, String(member), `1700000000000:${JSON.stringify(profile)}`);
    old.hset(wallets, `w${member}`, String(member));
  }
  await old.exec();
  return realm;
}

const left = async ({ realmId }: TestRealm) => {
  const { balances, profiles } = realmKeys(realmId);
  return { balances: await client.hlen(balances), profiles: await client.hlen(profiles) };
};

describe('members of a store that an older version made', () => {
  const createdAt = new Date(1_700_000_000_000).toISOString();

  it('are read, changed and put where they stand or stood', async () => {
    const realm = await openOldRealm(1_000);
    const before = { tokenBalance: 100, wallets: ['w1'], attributes: { level: 1 }, createdAt };
    expect((await realm.call('/members/1')).json).toMatchObject(before);
    expect(await left(realm)).toEqual({ balances: 1_000, profiles: 1_000 });
    expect((await realm.change('1', 5)).json).toEqual({ newBalance: 105 });
    expect((await realm.call('/members/1')).json).toMatchObject({ ...before, tokenBalance: 105 });
    const moved = await realm.transfer('1', { recipientId: 2, tokens: 105 });
    expect(moved.json).toMatchObject({ newBalance: 0, recipientBalance: 205 });
    expect((await realm.change('3', -101)).status).toBe(422);
    expect((await realm.change('2000', 1)).status).toBe(404);
    const seeds = [
      { member: '3', tokens: 7, wallets: ['other'] },
      { member: '2000', tokens: 7 },
    ];
    expect(await realm.admin.putMembers(realm.realmId, seeds, 'keep')).toBe(1);
    const put = { tokenBalance: 100, wallets: ['other'], attributes: {}, createdAt };
    expect((await realm.call('/members/3')).json).toMatchObject(put);
    expect(await client.hget(realmKeys(realm.realmId).wallets, 'w3')).toBeNull();
    expect(await realm.admin.totalPoints(realm.realmId)).toBe(100_005n + 7n);
    await realm.admin.dropRealm(realm.realmId);
    expect(await client.keys(`almoner:realm:{${realm.realmId}}:*`)).toEqual([]);
  });

  it('keep what was paid to them since, where an older version puts them once more', async () => {
    const realm = await openOldRealm(1);
    await realm.change('1', 5);
    await client.hset(realmKeys(realm.realmId).balances, '1', '100');
    expect((await realm.call('/members/1')).json).toMatchObject({ tokenBalance: 105 });
    expect((await realm.change('1', 5)).json).toEqual({ newBalance: 110 });
    expect(await realm.admin.balance(realm.realmId, '1')).toBe(110);
  });

  it('all come home in time, and none is lost or doubled when Redis is killed on their way', async () => {
    const members = 1_000;
    const realm = await openOldRealm(members);
    const expected = new Map(Array.from({ length: members }, (_, at) => [String(at + 1), 100]));
    const pay = (at: number) => {
      const member = String(((at * 7) % 50) + 1);
      return until(`an answer to change ${at}`, async () => {
        const reply = await realm.change(member, 1, { 'idempotency-key': `change-${at}` });
        return reply.status === 200 && expected.set(member, (expected.get(member) ?? 0) + 1);
      });
    };
    const killHalfWay = async () => {
      const { balances } = await left(realm);
      await redis.kill();
      await redis.restart();
      expect(balances).toBeGreaterThan(0);
      expect(balances).toBeLessThan(members - 100);
    };
    const paying = async (worker: number) => {
      for (let at = worker; at < 80; at += 8) {
        if (at === 16) await killHalfWay();
        await pay(at);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, worker) => paying(worker)));
    expect(await realm.admin.balances(realm.realmId)).toEqual(expected);
    expect(await left(realm)).toEqual({ balances: 0, profiles: 0 });
    expect((await realm.call('/members/1000')).json).toMatchObject({ wallets: ['w1000'], createdAt });
  });
});
