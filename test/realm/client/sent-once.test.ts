import type { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memberId } from '../../../src/core/ids.js';
import { createRealmClient, type RealmClient } from '../../../src/realm/client/client.js';
import { testProfile } from '../../support/ledger/realm-profile.js';
import { respond, type SocketServer, startSocketServer } from '../../support/socket-server.js';

/** What a server may do to a request. The idempotency key carries the choice. */
const BEHAVIOURS: Readonly<Record<string, (socket: Socket) => void>> = {
  pays: (socket) => respond(socket, 200, '{"newBalance":1}'),
  'pays-and-closes': (socket) =>
    socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 16\r\n\r\n{"newBalance":1}'),
  resets: (socket) => socket.resetAndDestroy(),
  'hangs-up': (socket) => socket.end(),
  'cuts-head': (socket) => socket.end('HTTP/1.1 200 OK\r\ncont'),
  'cuts-body': (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{'),
  garbles: (socket) => socket.end('\u0000\u0001nonsense\r\n\r\n'),
  hangs: () => {},
  'redirects-307': (socket) => respond(socket, 307, '', { location: '/again' }),
  'redirects-303': (socket) => respond(socket, 303, '', { location: '/again' }),
  'asks-for-key': (socket) => respond(socket, 401, '{}', { 'www-authenticate': 'Basic realm="x"' }),
  'slows-down': (socket) => respond(socket, 429, '{}', { 'retry-after': '0' }),
  unavailable: (socket) => respond(socket, 503, '{}', { 'retry-after': '0' }),
  gateway: (socket) => respond(socket, 504, '<html>'),
  'too-early': (socket) => respond(socket, 425, '{}'),
  oversize: (socket) => respond(socket, 200, 'x'.repeat(300_000)),
};

describe('a write', () => {
  let server: SocketServer;
  let client: RealmClient;
  beforeAll(async () => {
    server = await startSocketServer((socket, request) => {
      const name = (request.headers['idempotency-key'] ?? '').replace(/^"\d+\.|"$/g, '');
      BEHAVIOURS[name]?.(socket);
    });
    client = createRealmClient({
      profile: testProfile({ timeouts: { connectMs: 5_000, tlsMs: 5_000, responseMs: 120, totalMs: 300 } }),
      baseUrl: `http://127.0.0.1:${server.port}`,
      readKey: () => 'k-secret',
    });
  });
  afterAll(async () => {
    await client.close();
    await server.stop();
  });

  it('reaches the server at most once, whatever the server does and whichever socket carries it', async () => {
    let call = 0;
    const names = fc.array(fc.constantFrom(...Object.keys(BEHAVIOURS)), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(names, async (behaviours) => {
        const keys = behaviours.map((name) => `${++call}.${name}`);
        // Half one after the other, so that sockets are reused; half at once.
        const send = (key: string) =>
          client.changeBalance({
            member: memberId('7'),
            tokens: 1,
            currency: null,
            idempotencyKey: key,
            mayLeave: () => true,
          });
        const middle = Math.ceil(keys.length / 2);
        for (const key of keys.slice(0, middle)) await send(key);
        await Promise.all(keys.slice(middle).map(send));
        for (const key of keys) {
          const seen = server.requests.filter((request) => request.headers['idempotency-key'] === `"${key}"`);
          expect(seen.length, key).toBeLessThanOrEqual(1);
          expect(seen.every((request) => request.method === 'PATCH')).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
    expect(server.requests.length).toBeLessThanOrEqual(call);
    expect(server.requests.some((request) => request.path.includes('again'))).toBe(false);
  });

  it('is finished before close() closes the connections', async () => {
    let finish = () => {};
    const slow = await startSocketServer((socket) => {
      finish = () => respond(socket, 200, '{"newBalance":9}');
      arrived();
    });
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const own = createRealmClient({
      profile: testProfile(),
      baseUrl: `http://127.0.0.1:${slow.port}`,
      readKey: () => 'k-secret',
    });
    const outcome = own.changeBalance({
      member: memberId('7'),
      tokens: 1,
      currency: null,
      idempotencyKey: 'x',
      mayLeave: () => true,
    });
    await arrival;
    const closed = own.close();
    finish();
    expect(await outcome).toMatchObject({ kind: 'paid', balance: '9' });
    await closed;
    await slow.stop();
  });
});
