import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isMemberId, isRecordedMemberId, type MemberId, memberId } from '../../../src/core/ids.js';
import {
  balanceBody,
  createEndpoints,
  createRealmClient,
  structuredString,
  transferBody,
} from '../../../src/realm/client/client.js';
import { testProfile } from '../../support/ledger/realm-profile.js';
import { respond, type SocketServer, startSocketServer } from '../../support/socket-server.js';

const ids = fc.bigInt({ min: 0n, max: 10n ** 20n - 1n }).map((id) => memberId(String(id)));
const amounts = fc.maxSafeInteger().filter((amount) => amount !== 0);

describe('bodies', () => {
  it('carry every id and every amount exactly, as integer literals', () => {
    fc.assert(
      fc.property(ids, amounts, (recipient, tokens) => {
        const body = transferBody(recipient, tokens, testProfile());
        expect(body).toBe(`{"recipientId":${recipient},"tokens":${tokens}}`);
        JSON.parse(body);
        expect(balanceBody(tokens, testProfile())).toBe(`{"tokens":${tokens}}`);
      }),
    );
  });

  it('carry the recipient as a string where the profile says so, and the currency where it names one', () => {
    fc.assert(
      fc.property(ids, amounts, fc.string(), (recipient, tokens, currency) => {
        const profile = testProfile({ recipientAs: 'string', currency });
        expect(JSON.parse(transferBody(recipient, tokens, profile))).toEqual({
          recipientId: recipient,
          tokens,
          realmPointId: currency,
        });
      }),
    );
  });

  it('never write another id: what was stored with leading zeros stays as it is', () => {
    const stored = '007';
    if (!isRecordedMemberId(stored)) throw new Error('expected an id that a ledger may hold');
    expect(transferBody(stored, 1, testProfile())).toBe('{"recipientId":"007","tokens":1}');
    expect(() => memberId('007')).toThrow('without a leading zero');
  });

  it('refuse amounts that are no safe integer', () => {
    for (const amount of [0, -0, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => balanceBody(amount, testProfile())).toThrow(RangeError);
  });
});

describe('the idempotency key', () => {
  it('is a structured-field string that reads back as it was', () => {
    const printable = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((c) => String.fromCharCode(c)),
    });
    fc.assert(
      fc.property(printable, (text) => {
        const quoted = structuredString(text);
        expect(quoted).toMatch(/^"([^"\\]|\\["\\])*"$/);
        expect(quoted.slice(1, -1).replace(/\\(.)/g, '$1')).toBe(text);
      }),
    );
  });

  it('refuses what no header can carry', () => {
    expect(() => structuredString('a\r\nb')).toThrow(RangeError);
    expect(() => structuredString('ä')).toThrow(RangeError);
  });
});

describe('addresses', () => {
  it('take a base URL with or without /api/v4, a prefix and a trailing slash', () => {
    const id = memberId('1');
    for (const base of ['http://h:1', 'http://h:1/', 'http://h:1/api/v4', 'http://h:1/api/v4/'])
      expect(createEndpoints(base, 'g').member(id)).toBe('http://h:1/api/v4/realms/g/members/1');
    expect(createEndpoints('https://h/p', 'a/b ?#').web3(id)).toBe(
      'https://h/p/api/v4/realms/a%2Fb%20%3F%23/web3/members/1',
    );
  });

  it('refuse what would change the path or the Authorization header', () => {
    for (const realm of ['', '.', '..']) expect(() => createEndpoints('http://h', realm)).toThrow('realm id');
    for (const base of ['http://u:p@h', 'ftp://h', 'h:1', ''])
      expect(() => createEndpoints(base, 'g')).toThrow();
  });
});

describe('on the wire', () => {
  let server: SocketServer;
  beforeAll(async () => {
    server = await startSocketServer((socket) => respond(socket, 200, '{"message":"Ok"}'));
  });
  afterAll(() => server.stop());

  it('a write is one PATCH with exact ids, the key in its scheme and a quoted idempotency key', async () => {
    let authScheme = 'Bearer';
    const clientOf = () =>
      createRealmClient({
        profile: testProfile({ authScheme, realmId: 'my realm' }),
        baseUrl: `http://127.0.0.1:${server.port}`,
        readKey: () => 'k-secret',
      });
    const client = clientOf();
    await fc.assert(
      fc.asyncProperty(ids, ids, amounts, async (member: MemberId, recipient: MemberId, tokens) => {
        const outcome = await client.transfer({
          member,
          recipient,
          tokens,
          currency: null,
          idempotencyKey: 'b-1.0',
          mayLeave: () => true,
        });
        expect(outcome.kind).toBe('paid');
        const seen = server.requests.at(-1);
        expect(seen?.method).toBe('PATCH');
        expect(seen?.path).toBe(`/api/v4/realms/my%20realm/members/${member}/transfer`);
        expect(seen?.body).toBe(`{"recipientId":${recipient},"tokens":${tokens}}`);
        expect(isMemberId(member)).toBe(true);
      }),
      { numRuns: 50 },
    );
    await client.changeBalance({
      member: memberId('9'),
      tokens: -3,
      currency: null,
      idempotencyKey: 'b-1.0',
      mayLeave: () => true,
    });
    expect(server.requests.at(-1)).toMatchObject({
      path: '/api/v4/realms/my%20realm/members/9/tokenBalance',
      body: '{"tokens":-3}',
      headers: {
        authorization: 'Bearer k-secret',
        'idempotency-key': '"b-1.0"',
        'content-type': 'application/json',
        'user-agent': 'almoner',
        'content-length': '13',
      },
    });
    await client.close();

    authScheme = '';
    const bare = clientOf();
    await bare.changeBalance({
      member: memberId('9'),
      tokens: 1,
      currency: null,
      idempotencyKey: 'x',
      mayLeave: () => true,
    });
    expect(server.requests.at(-1)?.headers.authorization).toBe('k-secret');
    await bare.close();
  });

  it('carries the currency that is given with the call, not that of the profile', async () => {
    const client = createRealmClient({
      profile: testProfile({ currency: 'gems' }),
      baseUrl: `http://127.0.0.1:${server.port}`,
      readKey: () => 'k-secret',
    });
    const change = { member: memberId('9'), tokens: 3, idempotencyKey: 'b-1.0', mayLeave: () => true };
    await client.changeBalance({ ...change, currency: 'gold' });
    expect(server.requests.at(-1)?.body).toBe('{"tokens":3,"realmPointId":"gold"}');
    await client.transfer({ ...change, recipient: memberId('8'), currency: 'gold' });
    expect(server.requests.at(-1)?.body).toBe('{"recipientId":8,"tokens":3,"realmPointId":"gold"}');
    await client.changeBalance({ ...change, currency: null });
    expect(server.requests.at(-1)?.body).toBe('{"tokens":3}');
    await client.close();
  });
});
