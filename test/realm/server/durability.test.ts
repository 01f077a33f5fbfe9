import { describe, expect, it, onTestFinished } from 'vitest';
import { startRealm } from '../../support/program/realm-service.js';
import { startRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

describe('when Redis fails', () => {
  it('answers 503 and says that nothing was changed, and serves again once Redis is back with all data', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const realm = await startRealm(redis);
    onTestFinished(() => realm.close());
    await realm.admin.putMembers(realm.realmId, [{ member: '1', tokens: 10 }]);
    expect((await realm.change('1', 5, { 'idempotency-key': 'k' })).json).toEqual({ newBalance: 15 });
    await redis.kill();
    const down = await until('a 503 that knows', async () => {
      const reply = await realm.change('1', 5);
      return reply.status === 503 && JSON.stringify(reply.json).includes('"no"') && reply;
    });
    expect(down).toMatchObject({ json: { error: 'store_unavailable', details: { applied: 'no' } } });
    expect((await realm.call('/members/1')).status).toBe(503);
    await redis.restart();
    const again = await until('the service', async () => {
      const reply = await realm.change('1', 5, { 'idempotency-key': 'k' });
      return reply.status === 200 && reply;
    });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await realm.admin.balance(realm.realmId, '1')).toBe(15);
  });

  it('answers 503 with applied unknown when Redis dies under a change', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const realm = await startRealm(redis);
    onTestFinished(() => realm.close());
    await realm.admin.putMembers(realm.realmId, [{ member: '1', tokens: 0 }]);
    // Redis takes the change in and holds it back (reads, such as that of the key, still run), then dies.
    const client = redis.client();
    await client.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    const changing = realm.change('1', 1);
    await until('a change in Redis', async () => /blocked_clients:[1-9]/.test(await client.info('clients')));
    await redis.kill();
    const seen = await changing;
    expect(seen).toMatchObject({
      status: 503,
      json: { error: 'store_unavailable', details: { applied: 'unknown' } },
    });
  });
});
