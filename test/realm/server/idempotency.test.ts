import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openAccounts } from '../../../src/realm/server/accounts.js';
import { realmKeys } from '../../../src/realm/server/store.js';
import { startRealm, type TestRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

let redis: TestRedis;
let realm: TestRealm;

beforeAll(async () => {
  redis = await startRedis();
  realm = await startRealm(redis);
});
beforeEach(async () => {
  await realm.admin.putMembers(realm.realmId, [
    { member: '1', tokens: 100 },
    { member: '2', tokens: 0 },
  ]);
});
afterAll(async () => {
  await realm.close();
  await redis.stop();
});

let count = 0;
const newKey = () => `key-${++count}`;
const withKey = (key: string) => ({ 'idempotency-key': key });

describe('Idempotency-Key', () => {
  it('gives the same key and content the first answer, however the balance moved since', async () => {
    const key = newKey();
    const first = await realm.change('1', 5, withKey(`"${key}"`));
    await realm.change('1', 50);
    const again = await realm.change('1', 5, withKey(`"${key}"`));
    expect(again.status).toBe(first.status);
    expect(again.text).toBe(first.text);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await realm.admin.balance(realm.realmId, '1')).toBe(155);
  });

  it('does the same for transfers, with both balances', async () => {
    const key = newKey();
    const first = await realm.transfer('1', { recipientId: '2', tokens: 30 }, withKey(key));
    const again = await realm.transfer('1', { recipientId: 2, tokens: 30 }, withKey(key));
    expect(again.text).toBe(first.text);
    expect(first.json).toEqual({ message: 'Ok', newBalance: 70, recipientBalance: 30 });
    expect(await realm.admin.balance(realm.realmId, '2')).toBe(30);
  });

  it('takes the quoted and the bare spelling for one key', async () => {
    const key = newKey();
    await realm.change('1', 5, withKey(key));
    expect((await realm.change('1', 5, withKey(`"${key}"`))).headers['idempotency-replayed']).toBe('true');
    const odd = 'a\\"b\\\\c';
    expect((await realm.change('1', 5, withKey(`"${odd}"`))).status).toBe(200);
    expect((await realm.change('1', 5, withKey(`"${odd}"`))).headers['idempotency-replayed']).toBe('true');
  });

  it('answers 422 to the same key with other content: amount, member, recipient or call', async () => {
    const key = newKey();
    await realm.change('1', 5, withKey(key));
    // One after the other: two at once under one key are a 409, whatever they ask for.
    const others = [
      () => realm.change('1', 6, withKey(key)),
      () => realm.change('1', -5, withKey(key)),
      () => realm.change('2', 5, withKey(key)),
      () => realm.transfer('1', { recipientId: '2', tokens: 5 }, withKey(key)),
    ];
    for (const ask of others) {
      const reply = await ask();
      expect([reply.status, reply.json]).toMatchObject([422, { error: 'idempotency_key_reused' }]);
    }
    expect(await realm.admin.balance(realm.realmId, '1')).toBe(105);
  });

  it('keeps no answer of a refused change, so that it can be tried again under its key', async () => {
    const key = newKey();
    expect((await realm.change('2', -5, withKey(key))).status).toBe(422);
    expect((await realm.change('7777', 5, withKey(key))).status).toBe(404);
    await realm.change('2', 10);
    const later = await realm.change('2', -5, withKey(key));
    expect(later.json).toEqual({ newBalance: 5 });
    expect(later.headers['idempotency-replayed']).toBeUndefined();
  });

  it('applies once when many requests with one key arrive at once', async () => {
    const key = newKey();
    const replies = await Promise.all(Array.from({ length: 20 }, () => realm.change('1', 1, withKey(key))));
    // Whoever comes while the first is on its way to the store is told 409; nobody gets another answer.
    expect(new Set(replies.map((reply) => reply.status)).has(200)).toBe(true);
    for (const reply of replies) expect([200, 409]).toContain(reply.status);
    expect(await realm.admin.balance(realm.realmId, '1')).toBe(101);
  });

  it('answers 409 while the first request is held up, and its answer afterwards', async () => {
    const slow = await startRealm(redis, {
      faults: { rules: [{ name: 'latency', probability: 1, value: 400 }], seed: 1 },
    });
    await slow.admin.putMembers(slow.realmId, [{ member: '1', tokens: 0 }]);
    const first = slow.change('1', 5, withKey('held'));
    const second = await until('a 409', async () => {
      const reply = await slow.change('1', 5, withKey('held'));
      return reply.status === 409 && reply;
    });
    expect(second).toMatchObject({ json: { error: 'idempotency_key_running' } });
    expect(second.headers['retry-after']).toBe('1');
    await first;
    const third = await until('the answer', async () => {
      const reply = await slow.change('1', 5, withKey('held'));
      return reply.status === 200 && reply;
    });
    expect(third.headers['idempotency-replayed']).toBe('true');
    expect(await slow.admin.appliedChanges(slow.realmId)).toHaveLength(1);
    await slow.close();
  });

  it('refuses a key it cannot read', async () => {
    for (const key of ['""', '"a', 'a b', 'x'.repeat(256), '"a", "b"']) {
      const reply = await realm.change('1', 5, withKey(key));
      expect(reply).toMatchObject({ status: 400, json: { details: { field: 'Idempotency-Key' } } });
    }
    expect(await realm.admin.balance(realm.realmId, '1')).toBe(100);
  });
});

describe('kept answers', () => {
  it('are bounded: the generation before the last is forgotten, the last two are known', async () => {
    const client = redis.client();
    const ledger = openAccounts(client, { answersKeptMs: 60_000, answersMax: 3 });
    const change = (idempotencyKey: string) =>
      ledger.change(realm.realmId, {
        member: '1',
        recipient: null,
        tokens: 1,
        currency: null,
        idempotencyKey,
        requestId: 'r',
      });
    const own = newKey();
    for (let at = 0; at < 10; at += 1) await change(`${own}-${at}`);
    expect(await change(`${own}-9`)).toMatchObject({ kind: 'replayed' });
    expect(await change(`${own}-6`)).toMatchObject({ kind: 'replayed' });
    expect(await change(`${own}-0`)).toMatchObject({ kind: 'applied' });
    const keys = realmKeys(realm.realmId);
    expect(await client.pttl(keys.answers)).toBeGreaterThan(0);
    expect(await client.pttl(keys.answersBefore)).toBeGreaterThan(0);
    client.disconnect();
  });
});
