import type { Socket } from 'node:net';
import { LosslessNumber } from 'lossless-json';
import { afterEach, describe, expect, it } from 'vitest';
import { isAlmonerError } from '../../../src/core/errors/error.js';
import { memberId } from '../../../src/core/ids.js';
import type { RealmProfile } from '../../../src/core/profile.js';
import type { Answer as Answered } from '../../../src/queue/pace.js';
import { createRealmClient, type RealmClient } from '../../../src/realm/client/client.js';
import { type PacedReads, readsAt } from '../../../src/runtime/paced-reads.js';
import { testProfile, UNPACED } from '../../support/ledger/realm-profile.js';
import {
  type RawRequest,
  respond,
  type SocketServer,
  startSocketServer,
} from '../../support/socket-server.js';

const id = memberId('119876543210987654');
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Answer = (socket: Socket, request: RawRequest) => void;

async function setUp(
  answer: Answer,
  changes: Partial<RealmProfile> = {},
  pace: Parameters<typeof readsAt>[0] = UNPACED,
): Promise<{ server: SocketServer; client: RealmClient; reads: PacedReads }> {
  const server = await startSocketServer(answer);
  const profile = testProfile(changes);
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const client = createRealmClient({ profile, baseUrl, readKey: () => 'k-secret' });
  cleanups.push(() => server.stop());
  cleanups.push(() => client.close());
  return { server, client, reads: readsAt(pace, profile, client) };
}

async function failure(work: Promise<unknown>): Promise<{ code: string; message: string; next: string }> {
  try {
    await work;
  } catch (error) {
    if (isAlmonerError(error)) return error;
    throw error;
  }
  throw new Error('expected a failure');
}

describe('a member', () => {
  it('is read with its balance, and no digit of the record is lost', async () => {
    const { server, reads } = await setUp((socket) =>
      respond(socket, 200, '{"userId":119876543210987654,"balances":{"77":"9007199254740993"}}'),
    );
    const member = await reads.member(id);
    expect(member.balance).toBe('9007199254740993');
    expect(member.raw).toEqual({
      userId: new LosslessNumber('119876543210987654'),
      balances: { '77': '9007199254740993' },
    });
    expect(server.requests[0]).toMatchObject({
      method: 'GET',
      path: `/api/v4/realms/guild/members/${id}`,
      headers: { authorization: 'Bearer k-secret' },
      body: '',
    });
  });

  it('has web3 data at an address of its own', async () => {
    const { server, reads } = await setUp((socket) => respond(socket, 200, '{"wallets":["0xabc"]}'));
    expect(await reads.web3(id)).toEqual({ id, raw: { wallets: ['0xabc'] } });
    expect(server.requests[0]?.path).toBe(`/api/v4/realms/guild/web3/members/${id}`);
  });

  it('is read by exactly one request where one is asked for', async () => {
    const { server, client } = await setUp((socket) => respond(socket, 503, '{}', { 'retry-after': '0' }));
    const result = await client.readMember(id);
    expect(result).toMatchObject({ ok: false, retryable: true, facts: { status: 503, retryAfterMs: 0 } });
    expect(server.requests).toHaveLength(1);
  });
});

describe('failures that may pass', () => {
  it('are retried with backoff, each try paced and its answer reported', async () => {
    let paced = 0;
    const told: (number | null | undefined)[] = [];
    const pace = {
      take: async () => {
        paced++;
        return { answered: (answer?: Answered) => void told.push(answer?.status) };
      },
    };
    const { server, reads } = await setUp(
      (socket) => {
        if (server.requests.length === 1) socket.resetAndDestroy();
        else if (server.requests.length === 2) respond(socket, 429, '{}', { 'retry-after': '0' });
        else respond(socket, 200, '{"tokenBalance":4}');
      },
      {},
      pace,
    );
    expect((await reads.member(id)).balance).toBe('4');
    expect([paced, server.requests.length]).toEqual([3, 3]);
    expect(told).toEqual([null, 429, 200]);
  });

  it('end after the attempts of the profile with what was seen last', async () => {
    const { server, reads } = await setUp((socket) => respond(socket, 502, '<html>Bad gateway</html>'));
    expect((await failure(reads.member(id))).code).toBe('ALM_REALM_SERVER_ERROR');
    expect(server.requests).toHaveLength(3);
  });

  it('are not sat out when the realm asks for a long wait', async () => {
    const { server, reads } = await setUp((socket) => respond(socket, 429, '{}', { 'retry-after': '3600' }));
    expect((await failure(reads.member(id))).code).toBe('ALM_REALM_RATE_LIMITED');
    expect(server.requests).toHaveLength(1);
  });

  it('include a realm that is not there and one that is too slow', async () => {
    const away = await setUp(() => {});
    await away.server.stop();
    expect((await failure(away.reads.member(id))).code).toBe('ALM_REALM_UNREACHABLE');
    const timeouts = { connectMs: 5_000, tlsMs: 5_000, responseMs: 80, totalMs: 200 };
    const slow = await setUp(() => {}, { timeouts, attempts: { max: 1, backoffMs: 1, backoffMaxMs: 1 } });
    expect((await failure(slow.reads.member(id))).code).toBe('ALM_REALM_TOO_SLOW');
  });
});

describe('failures that stay', () => {
  const cases: readonly [string, Answer, string, RegExp][] = [
    ['401', (s) => respond(s, 401, '{}'), 'ALM_REALM_KEY_REFUSED', /401 .*wrong or does not exist/],
    ['403', (s) => respond(s, 403, '{}'), 'ALM_REALM_KEY_OTHER_REALM', /403 .*different realm/],
    [
      '404',
      (s) => respond(s, 404, '{"message":"No."}'),
      'ALM_REALM_MEMBER_NOT_FOUND',
      /no member 1198.*: No\.$/,
    ],
    ['407', (s) => respond(s, 407, ''), 'ALM_REALM_PROXY_AUTH', /proxy/],
    ['308', (s) => respond(s, 308, '', { location: 'https://x/' }), 'ALM_REALM_REDIRECTED', /https:\/\/x\//],
    ['400', (s) => respond(s, 400, '{"error":"bad id"}'), 'ALM_REALM_REFUSED', /bad id/],
    ['200 html', (s) => respond(s, 200, '<!doctype html>'), 'ALM_REALM_NOT_JSON', /web page/],
    ['200 empty', (s) => respond(s, 200, ''), 'ALM_REALM_NOT_JSON', /empty/],
    ['204', (s) => respond(s, 204, ''), 'ALM_REALM_NOT_JSON', /empty/],
    ['200 text', (s) => respond(s, 200, 'hello'), 'ALM_REALM_NOT_JSON', /not readable/],
    ['200 large', (s) => respond(s, 200, `"${'x'.repeat(300_000)}"`), 'ALM_REALM_NOT_JSON', /JSON/],
    ['200 error', (s) => respond(s, 200, '{"error":"gone"}'), 'ALM_REALM_REFUSED', /reports an error: gone/],
  ];
  for (const [name, answer, code, message] of cases) {
    it(`${name} is ${code}, after one request`, async () => {
      const { server, reads } = await setUp(answer);
      const error = await failure(reads.member(id));
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
      expect(error.next).not.toBe('');
      expect(server.requests).toHaveLength(1);
    });
  }

  it('name the request id, for the people who run the realm', async () => {
    const { reads } = await setUp((socket) => respond(socket, 400, '{}', { 'x-request-id': 'req-9' }));
    expect((await failure(reads.member(id))).message).toContain('req-9');
  });

  it('cut answers are tried again, then told as such', async () => {
    const { server, reads } = await setUp((s) => s.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'));
    expect((await failure(reads.member(id))).code).toBe('ALM_REALM_NOT_JSON');
    expect(server.requests).toHaveLength(3);
  });
});

describe('the wallet check', () => {
  it('is a GET with a JSON body, or a POST where the profile says so', async () => {
    const answer: Answer = (socket) => respond(socket, 200, '{"a":true,"b":false}');
    const { server, reads } = await setUp(answer);
    expect(await reads.wallets(['a', 'b', 'c'])).toEqual(
      new Map([
        ['a', 'member'],
        ['b', 'not-member'],
        ['c', 'undetermined'],
      ]),
    );
    expect(server.requests[0]).toMatchObject({
      method: 'GET',
      path: '/api/v4/realms/guild/members/includes',
      headers: { 'content-type': 'application/json' },
      body: '{"wallets":["a","b","c"]}',
    });
    const post = await setUp(answer, { wallets: { method: 'POST', chunk: 50 } });
    await post.reads.wallets(['a']);
    expect(post.server.requests[0]?.method).toBe('POST');
  });

  it('answered with 403 names the CDN that forbids GET with a body as well as the key', async () => {
    const { reads } = await setUp((socket) => respond(socket, 403, '<html>'));
    const error = await failure(reads.wallets(['a']));
    expect(error.code).toBe('ALM_REALM_WALLETS_FORBIDDEN');
    expect(error.message).toMatch(/different realm.*CDN.*GET with a body/);
    expect(error.next).toContain('POST');
  });

  it('is cut into chunks, each announced to the pacer, and asks for no wallet twice', async () => {
    let paced = 0;
    const { server, reads } = await setUp(
      (socket, request) => {
        const { wallets } = JSON.parse(request.body);
        respond(socket, 200, JSON.stringify(wallets.filter((wallet: string) => wallet !== 'w3')));
      },
      { wallets: { method: 'GET', chunk: 2 } },
      { take: async () => void paced++ },
    );
    const verdicts = await reads.wallets(['w1', 'w2', 'w3', 'w4', 'w5', 'w1']);
    expect([paced, server.requests.length]).toEqual([3, 3]);
    expect([...verdicts].filter(([, verdict]) => verdict !== 'member')).toEqual([['w3', 'not-member']]);
    expect(verdicts.size).toBe(5);
  });
});
