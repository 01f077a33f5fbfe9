import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { createRealmClient, type RealmClient } from '../../src/realm/client/client.js';
import { type PacedReads, readsAt } from '../../src/runtime/paced-reads.js';
import { testProfile, UNPACED } from '../support/ledger/realm-profile.js';
import { startRealm, type TestRealm } from '../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/** Every row of the interface's tables, spoken by the client to the real service. */

const ADA = memberId('1190000000000000001');
const BOB = memberId('1190000000000000003');
const NOBODY = memberId('1190000000000000002');
const WALLET = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01';

let redis: TestRedis;
let realm: TestRealm;
let other: TestRealm;
let client: Talker;
let keys = 0;
const nextKey = () => `order-${++keys}.0`;

type Talker = RealmClient & PacedReads;

function clientWith(key: string, realmId = realm.realmId): Talker {
  const profile = testProfile({ realmId, attempts: { max: 1, backoffMs: 1, backoffMaxMs: 1 } });
  const client = createRealmClient({ profile, baseUrl: realm.url, readKey: () => key });
  return { ...client, ...readsAt(UNPACED, profile, client) };
}

beforeAll(async () => {
  redis = await startRedis();
  realm = await startRealm(redis);
  other = await startRealm(redis);
  client = clientWith(realm.key);
});
afterAll(async () => {
  await client.close();
  await realm.close();
  await other.close();
  await redis.stop();
});
beforeEach(() =>
  realm.admin.putMembers(realm.realmId, [
    { member: ADA, tokens: 100, wallets: [WALLET, 'So1Base58Case'], web3: { level: 3 } },
    { member: BOB, tokens: 5 },
  ]),
);

describe('the five calls', () => {
  it('1: a member, whose id no double can hold', async () => {
    expect(await client.member(ADA)).toMatchObject({ id: ADA, balance: '100', raw: { id: ADA } });
    await expect(client.member(NOBODY)).rejects.toMatchObject({ code: 'ALM_REALM_MEMBER_NOT_FOUND' });
  });

  it("2: a member's web3 data", async () => {
    expect((await client.web3(ADA)).raw).toMatchObject({
      id: ADA,
      wallets: [WALLET.toLowerCase(), 'So1Base58Case'],
    });
    await expect(client.web3(NOBODY)).rejects.toMatchObject({ code: 'ALM_REALM_MEMBER_NOT_FOUND' });
  });

  it('3: a GET with a list of wallets in its body', async () => {
    const asked = [WALLET, WALLET.toLowerCase(), 'So1Base58Case', 'so1base58case'];
    expect([...(await client.wallets(asked)).values()]).toEqual(['member', 'member', 'member', 'not-member']);
  });

  it('4: points added and subtracted, and a subtraction that is too large', async () => {
    const change = (tokens: number) =>
      client.changeBalance({
        member: ADA,
        tokens,
        currency: null,
        idempotencyKey: nextKey(),
        mayLeave: () => true,
      });
    expect(await change(7)).toMatchObject({ kind: 'paid', status: 200, balance: '107' });
    expect(await change(-50)).toMatchObject({ kind: 'paid', balance: '57' });
    const refused = await change(-58);
    expect(refused).toMatchObject({ kind: 'refused', code: 'ALM_REFUSED_BALANCE', status: 422 });
    expect(refused.requestId).not.toBeNull();
    expect((await client.member(ADA)).balance).toBe('57');
    expect(
      await client.changeBalance({
        member: NOBODY,
        tokens: 1,
        currency: null,
        idempotencyKey: nextKey(),
        mayLeave: () => true,
      }),
    ).toMatchObject({
      kind: 'refused',
      code: 'ALM_REFUSED_NOT_FOUND',
    });
  });

  it('5: points moved from one member to another, exactly to that one', async () => {
    const transfer = {
      member: ADA,
      recipient: BOB,
      tokens: 30,
      currency: null,
      idempotencyKey: nextKey(),
      mayLeave: () => true,
    };
    expect(await client.transfer(transfer)).toMatchObject({ kind: 'paid', balance: '70' });
    expect((await client.member(BOB)).balance).toBe('35');
    const tooMuch = await client.transfer({
      ...transfer,
      tokens: 71,
      idempotencyKey: nextKey(),
      mayLeave: () => true,
    });
    expect(tooMuch).toMatchObject({ kind: 'refused', code: 'ALM_REFUSED_BALANCE' });
    const nobody = await client.transfer({ ...transfer, recipient: NOBODY, idempotencyKey: nextKey() });
    expect(nobody).toMatchObject({ kind: 'refused', code: 'ALM_REFUSED_NOT_FOUND' });
    expect([(await client.member(ADA)).balance, (await client.member(BOB)).balance]).toEqual(['70', '35']);
  });

  it('a write sent again with its key is applied once and answered alike', async () => {
    const change = {
      member: ADA,
      tokens: 7,
      currency: null,
      idempotencyKey: nextKey(),
      mayLeave: () => true,
    };
    const first = await client.changeBalance(change);
    const again = await client.changeBalance(change);
    expect([first.balance, again.balance]).toEqual(['107', '107']);
    expect((await client.member(ADA)).balance).toBe('107');
  });
});

describe('authentication', () => {
  const write = (by: RealmClient) =>
    by.changeBalance({
      member: ADA,
      tokens: 1,
      currency: null,
      idempotencyKey: nextKey(),
      mayLeave: () => true,
    });
  const move = (by: RealmClient) =>
    by.transfer({
      member: ADA,
      recipient: BOB,
      tokens: 1,
      currency: null,
      idempotencyKey: nextKey(),
      mayLeave: () => true,
    });

  it('401: a key that does not exist, on every call', async () => {
    const stranger = clientWith('no-such-key');
    for (const read of [
      () => stranger.member(ADA),
      () => stranger.web3(ADA),
      () => stranger.wallets([WALLET]),
    ])
      await expect(read()).rejects.toMatchObject({ code: 'ALM_REALM_KEY_REFUSED' });
    expect(await write(stranger)).toMatchObject({
      kind: 'realm-halted',
      code: 'ALM_KEY_REFUSED',
      status: 401,
    });
    expect(await move(stranger)).toMatchObject({
      kind: 'realm-halted',
      code: 'ALM_KEY_REFUSED',
      status: 401,
    });
    await stranger.close();
    expect((await client.member(ADA)).balance).toBe('100');
  });

  it("403: another realm's key, on every call", async () => {
    const neighbour = clientWith(other.key);
    for (const read of [() => neighbour.member(ADA), () => neighbour.web3(ADA)])
      await expect(read()).rejects.toMatchObject({ code: 'ALM_REALM_KEY_OTHER_REALM' });
    await expect(neighbour.wallets([WALLET])).rejects.toMatchObject({ code: 'ALM_REALM_WALLETS_FORBIDDEN' });
    expect(await write(neighbour)).toMatchObject({
      kind: 'realm-halted',
      code: 'ALM_KEY_OTHER_REALM',
      status: 403,
    });
    expect(await move(neighbour)).toMatchObject({
      kind: 'realm-halted',
      code: 'ALM_KEY_OTHER_REALM',
      status: 403,
    });
    await neighbour.close();
    expect((await client.member(ADA)).balance).toBe('100');
  });
});
