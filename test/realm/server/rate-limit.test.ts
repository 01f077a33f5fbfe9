import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { realmKeys } from '../../../src/realm/server/store.js';
import { startRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

describe('the sliding window', () => {
  it('admits exactly the limit, reads and writes alike, and says so in headers', async () => {
    const realm = await startRealm(redis, { rateLimit: { requests: 4, windowMs: 600_000 } });
    await realm.admin.putMembers(realm.realmId, [{ member: '1', tokens: 10 }]);
    const calls = [
      () => realm.call('/members/1'),
      () => realm.change('1', 1),
      () => realm.call('/members/includes', { body: { wallets: [] } }),
      () => realm.call('/web3/members/1'),
    ];
    const seen = [];
    for (const call of calls) seen.push(await call());
    expect(seen.map((reply) => reply.status)).toEqual([200, 200, 200, 200]);
    expect(seen.map((reply) => reply.headers['x-ratelimit-remaining'])).toEqual(['3', '2', '1', '0']);
    expect(seen[0]?.headers).toMatchObject({ 'x-ratelimit-limit': '4', 'x-ratelimit-window': '600' });
    for (const call of calls) {
      const refused = await call();
      expect(refused).toMatchObject({ status: 429, json: { error: 'rate_limited' } });
      const wait = Number(refused.headers['retry-after']);
      expect(wait).toBeGreaterThan(500);
      expect(wait).toBeLessThanOrEqual(600);
      expect(refused.headers['x-ratelimit-reset']).toBe(String(wait));
      expect(refused.headers['x-ratelimit-remaining']).toBe('0');
    }
    expect(await realm.admin.balance(realm.realmId, '1')).toBe(11);
    await realm.close();
  });

  it('never holds more than the limit in any stretch of its length, whatever the clients do', async () => {
    const limit = 10;
    const windowMs = 300;
    const realm = await startRealm(redis, { rateLimit: { requests: limit, windowMs } });
    await realm.admin.putMembers(realm.realmId, [{ member: '1', tokens: 0 }]);
    const client = redis.client();
    const arrivals = new Set<string>();
    await until('four windows of work', async () => {
      await Promise.all(Array.from({ length: 4 }, () => realm.change('1', 1)));
      // The window's own log; a line that was trimmed before it was seen makes the check weaker, not wrong.
      for (const arrival of await client.zrange(realmKeys(realm.realmId).requests, 0, '-1'))
        arrivals.add(arrival);
      return arrivals.size > 4 * limit;
    });
    const inOrder = [...arrivals].map(Number).sort((one, other) => one - other);
    for (const [at, arrival] of inOrder.entries()) {
      const after = inOrder[at + limit];
      if (after !== undefined) expect(after - arrival).toBeGreaterThanOrEqual(windowMs * 1000);
    }
    client.disconnect();
    await realm.close();
  });

  it('opens again one request at a time, as each leaves the window', async () => {
    const realm = await startRealm(redis, { rateLimit: { requests: 2, windowMs: 60_000 } });
    const client = redis.client();
    const log = realmKeys(realm.realmId).requests;
    // Two requests of the past: one just about to leave the window, one from half a window ago.
    const nowUs = Date.now() * 1000;
    const old = [nowUs - 59_700_000, nowUs - 30_000_000];
    for (const us of old) await client.zadd(log, us, String(us));
    expect((await realm.call('/members/1')).status).toBe(429);
    const reply = await until('a free slot', async () => {
      const asked = await realm.call('/members/1');
      return asked.status !== 429 && asked;
    });
    expect(reply.headers['x-ratelimit-remaining']).toBe('0');
    const refused = await realm.call('/members/1');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(20);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(30);
    client.disconnect();
    await realm.close();
  });

  it('is per realm, spends nothing on callers without a key, and survives a clock that was set back', async () => {
    const realm = await startRealm(redis, { rateLimit: { requests: 1, windowMs: 600_000 } });
    for (let at = 0; at < 3; at += 1) {
      expect((await realm.call('/members/1', { headers: { authorization: 'wrong' } })).status).toBe(401);
    }
    expect((await realm.call('/members/1')).status).toBe(404);
    expect((await realm.call('/members/1')).status).toBe(429);
    const neighbour = await realm.admin.issueKey('neighbour');
    const other = await startRealm(redis, {
      realmId: 'neighbour',
      rateLimit: { requests: 1, windowMs: 600_000 },
    });
    expect((await other.call('/members/1', { headers: { authorization: neighbour } })).status).toBe(404);

    const client = redis.client();
    const future = (Date.now() + 3_600_000) * 1000;
    await client.zadd(realmKeys(realm.realmId).requests, future, String(future));
    expect((await realm.call('/members/1')).status).toBe(404);
    client.disconnect();
    await other.close();
    await realm.close();
  });
});
