import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { WriteOutcome } from '../../../src/core/classify.js';
import { memberId } from '../../../src/core/ids.js';
import type { RealmProfile } from '../../../src/core/profile.js';
import { createRealmClient, type RealmClient } from '../../../src/realm/client/client.js';
import { testProfile } from '../../support/ledger/realm-profile.js';
import { freePort } from '../../support/redis-server.js';
import {
  type RawRequest,
  respond,
  type SocketServer,
  startSocketServer,
} from '../../support/socket-server.js';

/** Every line of the classification table, produced with real sockets. */

const member = memberId('119876543210987654');
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function clientFor(baseUrl: string, changes: Partial<RealmProfile> = {}): RealmClient {
  const client = createRealmClient({
    profile: testProfile(changes),
    baseUrl,
    readKey: () => 'k-secret',
  });
  cleanups.push(() => client.close());
  return client;
}

async function serve(answer: (socket: Socket, request: RawRequest) => void): Promise<SocketServer> {
  const server = await startSocketServer(answer);
  cleanups.push(() => server.stop());
  return server;
}

const change = { member, tokens: 5, currency: null, idempotencyKey: 'b-1.0', mayLeave: () => true };

async function outcomeOf(
  answer: (socket: Socket, request: RawRequest) => void,
  changes: Partial<RealmProfile> = {},
): Promise<WriteOutcome> {
  const server = await serve(answer);
  const outcome = await clientFor(`http://127.0.0.1:${server.port}`, changes).changeBalance(change);
  expect(server.requests).toHaveLength(1);
  return outcome;
}

const HASTY = { connectMs: 5_000, tlsMs: 5_000, responseMs: 150, totalMs: 400 };

describe('paid', () => {
  it('is a 2xx with readable JSON, with balance, request id and rate headers', async () => {
    const outcome = await outcomeOf((socket) =>
      respond(socket, 200, '{"newBalance":119876543210987654321}', {
        'x-request-id': 'req-7',
        'x-ratelimit-limit': '24',
        'x-ratelimit-remaining': '23',
        'x-ratelimit-reset': '12',
        'x-ratelimit-window': '60',
      }),
    );
    expect(outcome).toMatchObject({
      kind: 'paid',
      code: null,
      phase: 'done',
      status: 200,
      requestId: 'req-7',
      balance: '119876543210987654321',
      rate: { limit: 24, remaining: 23, resetMs: 12_000, windowMs: 60_000 },
    });
  });

  it('is decided by the body, not by its label or encoding', async () => {
    const plain = await outcomeOf((socket) =>
      respond(socket, 201, '{"message":"Ok"}', { 'content-type': 'text/plain' }),
    );
    expect(plain.kind).toBe('paid');
    const zipped = gzipSync('{"newBalance":"7"}');
    const packed = await outcomeOf((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n\r\n`);
      socket.write(zipped);
    });
    expect(packed).toMatchObject({ kind: 'paid', balance: '7' });
  });

  it('may come after interim answers, in pieces, and framed by closing', async () => {
    const outcome = await outcomeOf((socket) => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n');
      socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"newBal');
      setImmediate(() => socket.end('ance":3}'));
    });
    expect(outcome).toMatchObject({ kind: 'paid', balance: '3' });
  });
});

describe('each status', () => {
  const kinds: readonly [WriteOutcome['kind'], readonly number[]][] = [
    ['refused', [400, 402, 404, 405, 406, 410, 411, 413, 414, 415, 417, 422, 431, 451, 501, 505]],
    ['realm-halted', [401, 403, 407]],
    ['slow-down', [421, 425, 429]],
    [
      'unknown',
      [202, 204, 205, 300, 301, 302, 303, 304, 307, 308, 408, 409, 418, 423, 424, 426, 428, 444, 499],
    ],
    ['unknown', [500, 502, 503, 504, 506, 507, 508, 510, 511, 520, 522, 530, 599, 600, 999]],
    ['paid', [200, 201, 203, 206]],
  ];
  for (const [kind, statuses] of kinds) {
    it(`${kind}: ${statuses.join(' ')}`, async () => {
      let status = 0;
      const server = await serve((socket) => {
        const body = status === 204 || status === 205 ? '' : '{"requestId":"r-1","message":"told so"}';
        respond(socket, status, body, { location: '/elsewhere', 'retry-after': '3' });
      });
      const client = clientFor(`http://127.0.0.1:${server.port}`);
      for (status of statuses) {
        const outcome = await client.changeBalance(change);
        expect([status, outcome.kind, outcome.status]).toEqual([status, kind, status]);
        expect(outcome.code === null).toBe(kind === 'paid');
        expect(outcome.retryAfterMs).toBe(3_000);
        if (![204, 205, 304].includes(status)) {
          expect(outcome.requestId).toBe('r-1');
          expect(outcome.message).toContain(`${status}: told so`);
        }
      }
      expect(server.requests).toHaveLength(statuses.length);
    });
  }

  it('follows the profile where it gives a status another meaning', async () => {
    const outcome = await outcomeOf((socket) => respond(socket, 409, '{}'), {
      statusOverrides: { '409': 'refused' },
    });
    expect(outcome).toMatchObject({ kind: 'refused', code: 'ALM_REFUSED_OTHER' });
  });
});

describe('not sent', () => {
  it('when the port refuses', async () => {
    const outcome = await clientFor(`http://127.0.0.1:${await freePort()}`).changeBalance(change);
    expect(outcome).toMatchObject({
      kind: 'not-sent',
      code: 'ALM_SEND_NOT_SENT',
      phase: 'connect',
      status: null,
    });
    expect(outcome.message).toContain('refused');
  });

  it('when the host name cannot be found', async () => {
    // A label of 64 characters is refused by the resolver itself: no query leaves the machine.
    const outcome = await clientFor(`http://${'a'.repeat(64)}.invalid`).changeBalance(change);
    expect(outcome).toMatchObject({ kind: 'not-sent', code: 'ALM_SEND_NOT_SENT', phase: 'connect' });
    expect(outcome.message).toContain('could not be found');
  });

  it('when the key is missing, which halts the realm', async () => {
    const server = await serve((socket) => respond(socket, 200, '{}'));
    for (const bad of ['', 'two\nlines', ' k', 'schlüssel']) {
      const client = createRealmClient({
        profile: testProfile(),
        baseUrl: `http://127.0.0.1:${server.port}`,
        readKey: () => bad,
      });
      expect(await client.changeBalance(change)).toMatchObject({
        kind: 'realm-halted',
        code: 'ALM_KEY_UNUSABLE',
      });
      await client.close();
    }
    expect(server.connections()).toBe(0);
  });
});

describe('unknown after connecting', () => {
  it('no answer within the time-out', async () => {
    const outcome = await outcomeOf(() => {}, { timeouts: HASTY });
    expect(outcome).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_TIMEOUT', phase: 'sent', status: null });
  });

  it('a body that never ends', async () => {
    const outcome = await outcomeOf(
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"newBalance":'),
      { timeouts: HASTY },
    );
    expect(outcome).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_TIMEOUT', phase: 'body', status: 200 });
  });

  it('an answer that switches protocols and then says nothing', async () => {
    const outcome = await outcomeOf(
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      { timeouts: HASTY },
    );
    expect(outcome).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_TIMEOUT' });
  });

  it('a reset or a hang-up before the answer', async () => {
    const reset = await outcomeOf((socket) => socket.resetAndDestroy());
    expect(reset).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_RESET', phase: 'sent' });
    const hangUp = await outcomeOf((socket) => socket.end());
    expect(hangUp).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_RESET', phase: 'sent' });
  });

  it('an answer cut in its head', async () => {
    const outcome = await outcomeOf((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'));
    expect(outcome).toMatchObject({ kind: 'unknown', phase: 'headers', status: null });
  });

  it('an answer that is not HTTP', async () => {
    const outcome = await outcomeOf((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    expect(outcome).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_UNREADABLE', phase: 'headers' });
  });

  it('a body cut before its length, in its chunks or in its JSON', async () => {
    const cuts: ((socket: Socket) => void)[] = [
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"newBalance":5}'),
      (socket) =>
        socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10\r\n{"newBalance":5}\r\n'),
      (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"newBalance":'),
    ];
    for (const cut of cuts) {
      const outcome = await outcomeOf(cut);
      expect(outcome).toMatchObject({
        kind: 'unknown',
        code: 'ALM_SEND_UNREADABLE',
        status: 200,
        balance: null,
      });
    }
  });

  it('a reset after part of the answer, however much of it was still read', async () => {
    const outcome = await outcomeOf((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"newBalance":5}', () =>
        socket.resetAndDestroy(),
      );
    });
    expect(outcome).toMatchObject({ kind: 'unknown', balance: null });
  });

  it('a refusal whose body was cut: the exchange broke, so it proves nothing', async () => {
    const outcome = await outcomeOf((socket) =>
      socket.end('HTTP/1.1 404 No\r\ncontent-length: 50\r\n\r\n{"mess'),
    );
    expect(outcome).toMatchObject({ kind: 'unknown', status: 404 });
  });

  it('a 2xx with an empty body, a web page, plain text, a bare value or more than is read', async () => {
    for (const body of ['', '<html>Welcome</html>', 'OK', 'true', '5', '[]', 'null']) {
      const outcome = await outcomeOf((socket) => respond(socket, 200, body));
      expect(outcome).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_UNREADABLE', phase: 'done' });
    }
    const large = await outcomeOf((socket) => respond(socket, 200, `{"a":"${'x'.repeat(400_000)}"}`));
    expect(large).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_UNREADABLE', status: 200 });
    expect(large.body).toHaveLength(500);
    const page = await outcomeOf((socket) => respond(socket, 404, `<html>${'x'.repeat(400_000)}`));
    expect(page).toMatchObject({ kind: 'refused', code: 'ALM_REFUSED_NOT_FOUND' });
  });

  it('a 2xx whose JSON says otherwise', async () => {
    const bodies = ['{"error":"no"}', '{"errors":["x"]}', '{"success":false}', '{"status":"failed"}'];
    for (const body of [...bodies, '{"ok":false}', '{"statusCode":500}', '{"status":"pending"}']) {
      const outcome = await outcomeOf((socket) => respond(socket, 200, body));
      expect([body, outcome.kind, outcome.code]).toEqual([body, 'unknown', 'ALM_SEND_CONTRADICTED']);
    }
    const fine = await outcomeOf((socket) =>
      respond(socket, 200, '{"success":true,"error":null,"errors":[]}'),
    );
    expect(fine.kind).toBe('paid');
  });

  it('a reset on a reused socket, although the socket says it is connected', async () => {
    const server = await serve((socket, request) => {
      if (request.nthOnSocket === 1) respond(socket, 200, '{"newBalance":1}');
      else socket.resetAndDestroy();
    });
    const client = clientFor(`http://127.0.0.1:${server.port}`);
    expect((await client.changeBalance(change)).kind).toBe('paid');
    const second = await client.changeBalance(change);
    expect(second).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_RESET' });
    expect(second.message).toContain('kept connection');
    expect(server.connections()).toBe(1);
    expect(server.requests).toHaveLength(2);
  });
});
