import { expect, it } from 'vitest';
import { startRealm } from '../../support/program/realm-service.js';
import { startRedis } from '../../support/redis-server.js';

it('members are put by the hundred thousand in seconds', async () => {
  const redis = await startRedis();
  const realm = await startRealm(redis);
  const seeds = (function* () {
    for (let at = 0; at < 100_000; at += 1)
      yield { member: String(10_000 + at), tokens: at, wallets: [`w${at}`] };
  })();
  const start = performance.now();
  expect(await realm.admin.putMembers(realm.realmId, seeds)).toBe(100_000);
  expect(performance.now() - start).toBeLessThan(30_000);
  expect(await realm.admin.totalPoints(realm.realmId)).toBe(4_999_950_000n);
  const balances = [...(await realm.admin.balances(realm.realmId))];
  expect(balances.filter(([member, tokens]) => Number(member) - 10_000 === tokens)).toHaveLength(100_000);
  await realm.close();
  await redis.stop();
});
