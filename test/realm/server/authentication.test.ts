import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEYS_PER_REALM_MAX } from '../../../src/realm/server/api-keys.js';
import { bareHttp } from '../../support/bare-http.js';
import { startRealm, type TestRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';

let redis: TestRedis;
let realm: TestRealm;
let other: TestRealm;

beforeAll(async () => {
  redis = await startRedis();
  realm = await startRealm(redis);
  other = await startRealm(redis);
  for (const each of [realm, other]) await each.admin.putMembers(each.realmId, [{ member: '1', tokens: 10 }]);
});
afterAll(async () => {
  await realm.close();
  await other.close();
  await redis.stop();
});

/** Every endpoint requires the header, so each rule is tried on each of the five calls. */
const CALLS = [
  { method: 'GET', path: '/members/1' },
  { method: 'GET', path: '/web3/members/1' },
  { method: 'GET', path: '/members/includes', body: { wallets: [] } },
  { method: 'PATCH', path: '/members/1/tokenBalance', body: { tokens: 1 } },
  { method: 'PATCH', path: '/members/1/transfer', body: { recipientId: 2, tokens: 1 } },
];

const ask = (realmId: string, call: (typeof CALLS)[number], authorization: string | undefined) =>
  bareHttp(`${realm.url}/api/v4/realms/${realmId}${call.path}`, {
    method: call.method,
    body: call.body,
    headers: authorization === undefined ? {} : { authorization },
  });

describe.each(CALLS)('authentication of $method $path', (call) => {
  it('answers 401 without a key and to a key that does not exist', async () => {
    for (const header of [undefined, 'Bearer', `Bearer ${'x'.repeat(43)}`, 'x'.repeat(43)]) {
      const reply = await ask(realm.realmId, call, header);
      expect(reply).toMatchObject({ status: 401, json: { error: 'unauthorized' } });
      expect(reply.headers['www-authenticate']).toMatch(/^Bearer/);
    }
  });

  it('answers 401 to a header it cannot read, even with the right key inside', async () => {
    for (const header of [`Basic ${realm.key}`, `Bearer ${realm.key} x`, `Bearer,${realm.key}`, '  ']) {
      expect((await ask(realm.realmId, call, header)).status).toBe(401);
    }
  });

  it('answers 403 to the key of another realm, the same whether the addressed realm exists or not', async () => {
    const existing = await ask(realm.realmId, call, `Bearer ${other.key}`);
    const missing = await ask('no-such-realm', call, `Bearer ${other.key}`);
    for (const reply of [existing, missing]) {
      expect(reply).toMatchObject({
        status: 403,
        json: {
          error: 'forbidden',
          message: 'The API key belongs to a different realm than the one addressed.',
        },
      });
    }
  });
});

describe('API keys', () => {
  it('are accepted behind Bearer in any case and bare', async () => {
    for (const header of [`Bearer ${realm.key}`, `bearer  ${realm.key}`, realm.key]) {
      expect((await realm.call('/members/1', { headers: { authorization: header } })).status).toBe(200);
    }
  });

  it('never stand in Redis as they are', async () => {
    const client = redis.client();
    const index = await client.hgetall('almoner:realm-keys');
    expect(Object.keys(index).length).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(index)).not.toContain(realm.key);
    client.disconnect();
  });

  it('end when the realm rotates its key, and only those of that realm', async () => {
    const own = await startRealm(redis);
    const second = await own.admin.issueKey(own.realmId);
    const rotated = await own.admin.rotateKey(own.realmId);
    const status = async (key: string) =>
      (await own.call('/members/1', { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status(own.key)).toBe(401);
    expect(await status(second)).toBe(401);
    expect(await status(rotated)).toBe(404);
    expect((await realm.call('/members/1')).status).toBe(200);
    await own.close();
  });

  it('can be brought along, but not from another realm', async () => {
    const own = await startRealm(redis);
    await own.admin.adoptKey(own.realmId, 'brought-along');
    await own.admin.adoptKey(own.realmId, 'brought-along');
    expect((await own.call('/members/1', { headers: { authorization: 'brought-along' } })).status).toBe(404);
    await expect(own.admin.adoptKey('another', 'brought-along')).rejects.toMatchObject({
      code: 'ALM_SERVICE_KEY_OTHER_REALM',
    });
    await expect(own.admin.adoptKey(own.realmId, 'two words')).rejects.toMatchObject({
      code: 'ALM_SERVICE_KEY_INVALID',
    });
    await own.close();
  });

  it('are bounded per realm: the oldest issued one ends, one that was brought along stays', async () => {
    const own = await startRealm(redis);
    await own.admin.adoptKey(own.realmId, 'brought-along-to-stay');
    for (let at = 0; at < KEYS_PER_REALM_MAX; at += 100) {
      await Promise.all(Array.from({ length: 100 }, () => own.admin.issueKey(own.realmId)));
    }
    expect(await own.admin.keyCount(own.realmId)).toBe(KEYS_PER_REALM_MAX);
    expect((await own.call('/members/1')).status).toBe(401);
    expect(
      (await own.call('/members/1', { headers: { authorization: 'brought-along-to-stay' } })).status,
    ).toBe(404);
    await own.close();
  });

  it('end with their realm, and nothing of the realm stays behind', async () => {
    const own = await startRealm(redis);
    await own.admin.putMembers(own.realmId, [{ member: '1', tokens: 1, wallets: ['w'] }]);
    await own.change('1', 1, { 'idempotency-key': 'k' });
    await own.admin.dropRealm(own.realmId);
    expect((await own.call('/members/1')).status).toBe(401);
    const client = redis.client();
    expect(await client.keys(`almoner:realm:{${own.realmId}}:*`)).toEqual([]);
    client.disconnect();
    await own.close();
  });
});
