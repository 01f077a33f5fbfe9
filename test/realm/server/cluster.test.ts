import { expect, it, onTestFinished } from 'vitest';
import { createRealmService } from '../../../src/realm/server/service.js';
import { parseStoreAddress } from '../../../src/runtime/redis/address.js';
import { createClient, loadTarget, untilReady } from '../../../src/runtime/redis/connections.js';
import { bareHttp } from '../../support/bare-http.js';
import { auditedAdmin } from '../../support/program/realm-records.js';
import { freePort, startRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

it('every move stays in one slot: the service works on a Redis Cluster', async () => {
  const bus = String(await freePort());
  const announced = ['--cluster-announce-ip', '127.0.0.1'];
  const redis = await startRedis(['--cluster-enabled', 'yes', '--cluster-port', bus, ...announced]);
  onTestFinished(() => redis.stop());
  const plain = redis.client();
  await plain.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
  await until('the cluster', async () =>
    String(await plain.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
  );

  const target = await loadTarget(parseStoreAddress(`redis+cluster://127.0.0.1:${redis.port}`));
  const cluster = createClient(target, 'ledger', 'realm-test');
  onTestFinished(() => cluster.disconnect());
  await untilReady(cluster, 10_000, 'the cluster');
  const admin = auditedAdmin(cluster);
  const rateLimit = { requests: 100, windowMs: 60_000 };
  const service = createRealmService({ redis: cluster, rateLimit });
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => service.close());

  const realmId = 'odd-{realm}';
  const key = await admin.rotateKey(realmId);
  await admin.putMembers(realmId, [
    { member: '1', tokens: 10, wallets: ['w'] },
    { member: '2', tokens: 0 },
  ]);
  const call = (path: string, method = 'GET', body?: unknown) =>
    bareHttp(`${url}/api/v4/realms/${encodeURIComponent(realmId)}${path}`, {
      method,
      body,
      headers: { authorization: key, 'idempotency-key': path },
    });
  expect((await call('/members/1')).status).toBe(200);
  expect((await call('/web3/members/1')).status).toBe(200);
  expect((await call('/members/includes', 'GET', { wallets: ['w'] })).json).toEqual({ wallets: { w: true } });
  expect((await call('/members/1/tokenBalance', 'PATCH', { tokens: 5 })).json).toEqual({ newBalance: 15 });
  expect((await call('/members/1/transfer', 'PATCH', { recipientId: 2, tokens: 4 })).json).toMatchObject({
    newBalance: 11,
    recipientBalance: 4,
  });
  expect(await admin.totalPoints(realmId)).toBe(15n);
  expect(await admin.appliedChanges(realmId)).toHaveLength(2);
  await admin.dropRealm(realmId);
  expect(await plain.dbsize()).toBe(0);
});
