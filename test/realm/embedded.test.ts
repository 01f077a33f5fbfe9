import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedRealm } from '../../src/realm/embedded.js';
import { bareHttp } from '../support/bare-http.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

describe('the embedded realm', () => {
  it('makes realm and key; two instances share the members and each key works until its own instance ends', async () => {
    const client = redis.client();
    const one = await startEmbeddedRealm({ redis: client, realmId: 'rehearsal' });
    const two = await startEmbeddedRealm({ redis: client, realmId: 'rehearsal' });
    await one.admin.putMembers('rehearsal', [{ member: '1', tokens: 7, attributes: { level: 3 } }], 'leave');
    await two.admin.putMembers('rehearsal', [{ member: '1', tokens: 9 }], 'leave');
    const ask = (baseUrl: string, key: string) =>
      bareHttp(`${baseUrl}/api/v4/realms/rehearsal/members/1`, { headers: { authorization: key } });
    for (const key of [one.key, two.key]) {
      expect((await ask(two.baseUrl, key)).json).toMatchObject({ tokenBalance: 7, attributes: { level: 3 } });
    }
    await one.close();
    expect((await ask(two.baseUrl, one.key)).status).toBe(401);
    expect((await ask(two.baseUrl, two.key)).status).toBe(200);
    await two.close();
    expect(await two.admin.keyCount('rehearsal')).toBe(0);
    client.disconnect();
  });
});
