import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedRealm, startEmbeddedRealm } from '../../src/realm/embedded.js';
import { brokenHttp } from '../support/broken-http.js';
import { anyText } from '../support/hostile.js';
import { type RealmRecords, realmRecords } from '../support/program/realm-records.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { generated } from '../support/suites.js';

let redis: TestRedis;
let realm: EmbeddedRealm;
let books: RealmRecords;
beforeAll(async () => {
  redis = await startRedis();
  realm = await startEmbeddedRealm({ redis: redis.client(), realmId: 'fuzz' });
  books = realmRecords(redis.client());
  await realm.admin.putMembers('fuzz', [
    { member: '1', tokens: 1_000 },
    { member: '2', tokens: 1_000 },
  ]);
});
afterAll(async () => {
  await realm.close();
  await redis.stop();
});

async function patch(path: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${realm.baseUrl}/api/v4/realms/fuzz/members/${path}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${realm.key}`, 'content-type': 'application/json', ...headers },
    body,
  });
  await response.text();
  return response.status;
}

test('any body is answered with a client error or applied, and the sum of points changes by what was accepted', async () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.integer(),
    fc.double(),
    fc.constant('1e3'),
    fc.bigInt().map(String),
  );
  const body = fc.oneof(
    anyText(200),
    fc
      .record({ tokens: value, recipientId: value }, { requiredKeys: [] })
      .map((tree) => JSON.stringify(tree)),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('1/tokenBalance', '1/transfer'), body, async (path, text) => {
      const before = await books.totalPoints('fuzz');
      const status = await patch(path, text);
      expect([200, 400, 404, 413, 415, 422]).toContain(status);
      if (status !== 200 || path === '1/transfer') expect(await books.totalPoints('fuzz')).toBe(before);
    }),
    generated(40, 150),
  );
});

test('any path and header value is answered, and never with a 500', async () => {
  const id = fc.oneof(
    fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
    fc.constantFrom('..', '%2e%2e', 'includes', '0', '1e3', '-1', '9'.repeat(40)),
  );
  await fc.assert(
    fc.asyncProperty(id, fc.stringMatching(/^[\x20-\x7e]{0,80}$/), async (member, key) => {
      const status = await patch(`${encodeURIComponent(member)}/tokenBalance`, '{"tokens":1}', {
        'idempotency-key': key,
      });
      expect(status).toBeLessThan(500);
    }),
    generated(40, 150),
  );
});

test('broken HTTP never ends the service', async () => {
  await brokenHttp(Number(new URL(realm.baseUrl).port), generated(10, 60));
  expect(await patch('1/tokenBalance', '{"tokens":1}')).toBe(200);
});
