import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { realmKeys } from '../../../src/realm/server/store.js';
import { startRealm, type TestRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';

let redis: TestRedis;
let realm: TestRealm;

beforeAll(async () => {
  redis = await startRedis();
});
beforeEach(async () => {
  realm = await startRealm(redis);
  await realm.admin.putMembers(realm.realmId, [
    { member: '1', tokens: 100 },
    { member: '2', tokens: 0 },
  ]);
  await realm.admin.addCurrencies(realm.realmId, ['gold', 'gems']);
});
afterAll(() => redis.stop());

const pay = (member: string, tokens: number, realmPointId?: string, key?: string) =>
  realm.call(`/members/${member}/tokenBalance`, {
    method: 'PATCH',
    body: { tokens, realmPointId },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });
const balancesOf = async (member: string) => (await realm.call(`/members/${member}`)).json;

describe('a realm with several currencies', () => {
  it('keeps a balance for each: a change moves the one that it names, and its own where it names none', async () => {
    expect((await pay('1', 5, 'gold')).json).toEqual({ newBalance: 5 });
    expect((await pay('1', 7, 'gold')).json).toEqual({ newBalance: 12 });
    expect((await pay('1', 1)).json).toEqual({ newBalance: 101 });
    expect((await pay('1', 1, 'default')).json).toEqual({ newBalance: 102 });
    expect(await balancesOf('1')).toMatchObject({
      tokenBalance: 102,
      balances: { default: 102, gold: 12, gems: 0 },
    });
    expect(await balancesOf('2')).toMatchObject({ balances: { default: 0, gold: 0, gems: 0 } });
    await realm.close();
  });

  it('takes of a currency only what is held of that one', async () => {
    expect(await pay('1', -5, 'gold')).toMatchObject({ status: 422, json: { details: { balance: 0 } } });
    await pay('1', 8, 'gold');
    const moved = { recipientId: '2', tokens: 6, realmPointId: 'gold' };
    expect((await realm.transfer('1', moved)).json).toEqual({
      message: 'Ok',
      newBalance: 2,
      recipientBalance: 6,
    });
    expect((await realm.transfer('1', moved)).status).toBe(422);
    expect((await pay('9', 5, 'gold')).status).toBe(404);
    expect(await balancesOf('1')).toMatchObject({ balances: { default: 100, gold: 2 } });
    await realm.close();
  });

  it('refuses the key of a change for the same change in another currency', async () => {
    expect((await pay('1', 5, 'gold', 'k')).status).toBe(200);
    expect((await pay('1', 5, 'gold', 'k')).headers['idempotency-replayed']).toBe('true');
    expect(await pay('1', 5, 'gems', 'k')).toMatchObject({ json: { error: 'idempotency_key_reused' } });
    expect(await pay('1', 5, undefined, 'k')).toMatchObject({ json: { error: 'idempotency_key_reused' } });
    expect(await balancesOf('1')).toMatchObject({ balances: { default: 100, gold: 5, gems: 0 } });
    await realm.close();
  });

  it('refuses any other, names those that exist, and writes each applied change with its currency', async () => {
    expect(await pay('1', 5, 'silver')).toMatchObject({
      status: 400,
      json: { message: expect.stringMatching(/"default", "gems", "gold" exist, got "silver"/) },
    });
    await pay('1', 5, 'gold');
    await pay('1', 6);
    const applied = await realm.admin.appliedChanges(realm.realmId);
    expect(applied.map(({ tokens, currency }) => [tokens, currency])).toEqual([
      [5, 'gold'],
      [6, null],
    ]);
    await realm.close();
  });

  it('takes members with points of one of them, and leaves what they have otherwise', async () => {
    await pay('1', 3, 'gold');
    const seeds = [
      { member: '1', tokens: 50 },
      { member: '3', tokens: 60 },
    ];
    expect(await realm.admin.putMembers(realm.realmId, seeds, 'keep', 'gold')).toBe(1);
    expect(await balancesOf('1')).toMatchObject({ balances: { default: 100, gold: 3 } });
    expect(await balancesOf('3')).toMatchObject({ balances: { default: 0, gold: 60 } });
    await realm.admin.putMembers(realm.realmId, seeds, 'replace', 'gold');
    expect(await balancesOf('1')).toMatchObject({ balances: { default: 100, gold: 50 } });
    await realm.close();
  });

  it('leaves nothing of them behind when it is dropped', async () => {
    await pay('1', 5, 'gold');
    await realm.admin.dropRealm(realm.realmId);
    const client = redis.client();
    const { balances } = realmKeys(realm.realmId);
    expect(await client.keys(`${balances}*`)).toEqual([]);
    client.disconnect();
    await realm.close();
  });
});
