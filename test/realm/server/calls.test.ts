import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bareHttp } from '../../support/bare-http.js';
import { startRealm, type TestRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';

/** Every call of the interface with a bare HTTP client; ids are beyond 2^53 on purpose. */
const ADA = '1190000000000000001';
const BOB = '1190000000000000003';
const WALLET = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01';

let redis: TestRedis;
let realm: TestRealm;

beforeAll(async () => {
  redis = await startRedis();
  realm = await startRealm(redis);
});
afterAll(async () => {
  await realm.close();
  await redis.stop();
});

async function fresh(): Promise<void> {
  await realm.admin.putMembers(realm.realmId, [
    {
      member: ADA,
      tokens: 100,
      wallets: [WALLET, 'So1Base58Case'],
      web3: { nfts: [{ id: '7' }], level: 3, id: 'forged' },
      attributes: { team: 'red' },
    },
    { member: BOB, tokens: 5 },
  ]);
}

describe('call 1: get a member', () => {
  it('answers balance, wallets, attributes and creation time of the member', async () => {
    await fresh();
    const reply = await realm.call(`/members/${ADA}`);
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(reply.json).toEqual({
      id: ADA,
      realmId: realm.realmId,
      tokenBalance: 100,
      balances: { default: 100 },
      wallets: [WALLET.toLowerCase(), 'So1Base58Case'],
      attributes: { team: 'red' },
      createdAt: expect.stringMatching(/^20\d\d-.*Z$/),
    });
  });

  it('tells ids apart that are one double', async () => {
    expect(Number(ADA)).toBe(Number('1190000000000000002'));
    expect((await realm.call('/members/1190000000000000002')).status).toBe(404);
  });

  it('answers 404 for an unknown member and 400 for what is no id', async () => {
    expect(await realm.call('/members/42')).toMatchObject({
      status: 404,
      json: { error: 'member_not_found', details: { member: '42' } },
    });
    for (const bad of ['abc', '-5', '1.5', '1'.repeat(21), '%20']) {
      expect(await realm.call(`/members/${bad}`)).toMatchObject({
        status: 400,
        json: { error: 'invalid_request' },
      });
    }
  });

  it('ignores a body and answers HEAD like GET without one', async () => {
    expect((await realm.call(`/members/${ADA}`, { body: 'not json' })).status).toBe(200);
    const head = await realm.call(`/members/${ADA}`, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
  });
});

describe('call 2: get web3 data', () => {
  it('answers the stored facts; they can forge neither id nor wallets', async () => {
    await fresh();
    expect(await realm.call(`/web3/members/${ADA}`)).toMatchObject({
      status: 200,
      json: {
        id: ADA,
        realmId: realm.realmId,
        wallets: [WALLET.toLowerCase(), 'So1Base58Case'],
        nfts: [{ id: '7' }],
        chains: [],
        level: 3,
      },
    });
    expect(await realm.call(`/web3/members/${BOB}`)).toMatchObject({
      json: { wallets: [], nfts: [], chains: [] },
    });
  });

  it('answers 404 for an unknown member', async () => {
    expect((await realm.call('/web3/members/42')).status).toBe(404);
  });
});

describe('call 3: check wallets', () => {
  const check = (body: unknown) => realm.call('/members/includes', { body });

  it('reads the body of a GET and answers each wallet as it was spelled', async () => {
    await fresh();
    const upper = WALLET.toUpperCase().replace('0X', '0x');
    const wallets = [upper, WALLET, 'So1Base58Case', 'so1base58case', '__proto__'];
    const reply = await check({ wallets });
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(
      JSON.stringify({
        wallets: Object.fromEntries([
          [upper, true],
          [WALLET, true],
          ['So1Base58Case', true],
          ['so1base58case', false],
          ['__proto__', false],
        ]),
      }),
    );
    expect((await check({ wallets: [] })).json).toEqual({ wallets: {} });
  });

  it('never takes the literal includes for a member id', async () => {
    for (const path of ['/members/includes/tokenBalance', '/members/includes/transfer']) {
      const reply = await realm.call(path, { method: 'PATCH', body: { tokens: 1, recipientId: 1 } });
      expect(reply).toMatchObject({ status: 400, json: { details: { field: 'memberID' } } });
    }
    expect((await realm.call('/web3/members/includes')).status).toBe(400);
  });

  it('refuses a missing, wrong or oversized list with a message that names it', async () => {
    const bad: [unknown, RegExp][] = [
      [undefined, /it was empty/],
      [{}, /wallets is missing/],
      [{ wallets: 'a' }, /must be a list, got a string/],
      [{ wallets: [1] }, /wallets\[0\].*the number "1"/],
      [{ wallets: ['a b'] }, /wallets\[0\]/],
      [{ wallets: Array.from({ length: 1001 }, (_, at) => `w${at}`) }, /at most 1000 entries, got 1001/],
    ];
    for (const [body, message] of bad) {
      expect(await check(body)).toMatchObject({
        status: 400,
        json: { message: expect.stringMatching(message) },
      });
    }
    expect((await check({ wallets: Array.from({ length: 1000 }, (_, at) => `w${at}`) })).status).toBe(200);
  });

  it('forgets the wallets that a member no longer has', async () => {
    await realm.admin.putMembers(realm.realmId, [{ member: '77', tokens: 0, wallets: ['old', 'kept'] }]);
    await realm.admin.putMembers(realm.realmId, [{ member: '77', tokens: 0, wallets: ['kept'] }]);
    expect((await check({ wallets: ['old', 'kept'] })).json).toEqual({ wallets: { old: false, kept: true } });
  });
});

describe('call 4: add or subtract points', () => {
  it('adds positive and subtracts negative tokens', async () => {
    await fresh();
    expect(await realm.change(ADA, 20)).toMatchObject({ status: 200, json: { newBalance: 120 } });
    expect(await realm.change(ADA, -120)).toMatchObject({ status: 200, json: { newBalance: 0 } });
  });

  it('answers 422 with the current balance when it is too small, and changes nothing', async () => {
    await fresh();
    expect(await realm.change(BOB, -6)).toMatchObject({
      status: 422,
      json: { error: 'balance_too_small', details: { member: BOB, balance: 5, needed: 6 } },
    });
    expect(await realm.admin.balance(realm.realmId, BOB)).toBe(5);
  });

  it('keeps balances exact up to 2^53-1 and refuses to leave that range', async () => {
    const max = Number.MAX_SAFE_INTEGER;
    await realm.admin.putMembers(realm.realmId, [{ member: '9', tokens: max - 1 }]);
    expect((await realm.change('9', 1)).text).toBe(`{"newBalance":${max}}`);
    expect(await realm.change('9', 1)).toMatchObject({
      status: 422,
      json: { error: 'balance_out_of_range' },
    });
    expect(await realm.admin.balance(realm.realmId, '9')).toBe(max);
  });

  it('answers 404 for an unknown member', async () => {
    expect(await realm.change('42', 1)).toMatchObject({ status: 404, json: { error: 'member_not_found' } });
  });
});

describe('call 5: transfer points', () => {
  it('moves points, with the recipient as an exact JSON integer or as text', async () => {
    await fresh();
    expect(await realm.transfer(ADA, `{"recipientId": ${BOB}, "tokens": 40}`)).toMatchObject({
      status: 200,
      json: { message: 'Ok', newBalance: 60, recipientBalance: 45 },
    });
    expect(await realm.transfer(ADA, { recipientId: BOB, tokens: 60 })).toMatchObject({
      status: 200,
      json: { newBalance: 0, recipientBalance: 105 },
    });
  });

  it('moves nothing when the balance is too small', async () => {
    await fresh();
    expect(await realm.transfer(BOB, { recipientId: ADA, tokens: 6 })).toMatchObject({
      status: 422,
      json: { error: 'balance_too_small', details: { balance: 5, needed: 6 } },
    });
    expect(await realm.admin.balance(realm.realmId, ADA)).toBe(100);
    expect(await realm.admin.balance(realm.realmId, BOB)).toBe(5);
  });

  it('takes nothing from the giver when the recipient is unknown or full', async () => {
    await realm.admin.putMembers(realm.realmId, [
      { member: ADA, tokens: 100 },
      { member: '9', tokens: Number.MAX_SAFE_INTEGER },
    ]);
    expect(await realm.transfer(ADA, { recipientId: '42', tokens: 1 })).toMatchObject({
      status: 404,
      json: { error: 'recipient_not_found' },
    });
    expect(await realm.transfer('42', { recipientId: ADA, tokens: 1 })).toMatchObject({
      status: 404,
      json: { error: 'member_not_found' },
    });
    expect(await realm.transfer(ADA, { recipientId: '9', tokens: 1 })).toMatchObject({
      status: 422,
      json: { error: 'balance_out_of_range', details: { member: '9' } },
    });
    expect(await realm.admin.balance(realm.realmId, ADA)).toBe(100);
  });

  it('refuses a transfer to oneself and a negative amount', async () => {
    await fresh();
    expect(await realm.transfer(ADA, { recipientId: ADA, tokens: 1 })).toMatchObject({
      status: 400,
      json: { message: expect.stringMatching(/to itself/) },
    });
    expect(await realm.transfer(ADA, { recipientId: BOB, tokens: -1 })).toMatchObject({
      status: 400,
      json: { message: expect.stringMatching(/must be positive/) },
    });
  });
});

describe('the applied log', () => {
  it('holds exactly the changes that were applied, in order', async () => {
    const own = await startRealm(redis);
    await own.admin.putMembers(own.realmId, [
      { member: ADA, tokens: 10 },
      { member: BOB, tokens: 0 },
    ]);
    const first = await own.change(ADA, 5, { 'idempotency-key': '"k1"' });
    await own.change(ADA, -7);
    await own.change(ADA, -100);
    await own.transfer(ADA, { recipientId: BOB, tokens: 8 });
    const log = [];
    for (const line of await own.admin.appliedChanges(own.realmId)) log.push(line);
    expect(log).toMatchObject([
      { op: 'credit', member: ADA, recipient: null, tokens: 5, idempotencyKey: 'k1', balance: 15 },
      { op: 'debit', member: ADA, recipient: null, tokens: 7, idempotencyKey: null, balance: 8 },
      { op: 'transfer', member: ADA, recipient: BOB, tokens: 8, balance: 0 },
    ]);
    expect(log[0]?.requestId).toBe(first.headers['x-request-id']);
    await own.close();
  });
});

describe('outside the five calls', () => {
  it('answers JSON errors with a request id for unknown paths, methods and broken URLs', async () => {
    const unknown = await bareHttp(`${realm.url}/api/v3/realms/x/members/1`);
    expect(unknown).toMatchObject({ status: 404, json: { error: 'not_found' } });
    expect(unknown.json).toMatchObject({ requestId: unknown.headers['x-request-id'] });
    for (const [method, path, allow] of [
      ['POST', '/members/includes', 'GET, HEAD, OPTIONS'],
      ['DELETE', `/members/${ADA}`, 'GET, HEAD, OPTIONS'],
      ['GET', `/members/${ADA}/tokenBalance`, 'PATCH, OPTIONS'],
      ['POST', `/members/${ADA}/transfer`, 'PATCH, OPTIONS'],
    ] as const) {
      const reply = await realm.call(path, { method });
      expect(reply).toMatchObject({ status: 405, json: { error: 'method_not_allowed' } });
      expect(reply.headers.allow).toBe(allow);
    }
    const options = await realm.call(`/members/${ADA}`, { method: 'OPTIONS' });
    expect(options.status).toBe(204);
    expect(options.headers.allow).toBe('GET, HEAD, OPTIONS');
    expect(await realm.call('/members/%zz')).toMatchObject({
      status: 400,
      json: { error: 'invalid_request' },
    });
  });
});
