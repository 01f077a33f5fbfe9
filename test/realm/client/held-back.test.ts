import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { memberId } from '../../../src/core/ids.js';
import { createRealmClient, type RealmClient } from '../../../src/realm/client/client.js';
import { testProfile } from '../../support/ledger/realm-profile.js';
import {
  respond,
  startBareServer,
  startSocketServer,
  TEST_CERTIFICATE,
} from '../../support/socket-server.js';

/** `mayLeave` is asked when the connection stands; a request that may not leave leaves no byte behind. */

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function clientFor(baseUrl: string): RealmClient {
  const client = createRealmClient({
    profile: testProfile(),
    baseUrl,
    readKey: () => 'k-secret',
    ca: TEST_CERTIFICATE,
  });
  cleanups.push(() => client.close());
  return client;
}

const change = (mayLeave: () => boolean) => ({
  member: memberId('42'),
  tokens: 5,
  currency: null,
  idempotencyKey: 'b-1.0',
  mayLeave,
});

const HELD_BACK = { kind: 'not-sent', code: 'ALM_SEND_NOT_SENT', phase: 'connect', status: null };

describe('a request that may not leave', () => {
  it('does not write a byte to a fresh connection, which it closes', async () => {
    let bytes = 0;
    let closed: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = await startBareServer((socket) => {
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      socket.on('close', () => closed());
    });
    cleanups.push(() => server.stop());
    const outcome = await clientFor(`http://127.0.0.1:${server.port}`).changeBalance(change(() => false));
    expect(outcome).toMatchObject({ ...HELD_BACK, message: expect.stringContaining('nothing was sent') });
    await ended;
    expect({ bytes, connections: server.connections() }).toEqual({ bytes: 0, connections: 1 });
  });

  it('does not use a kept connection either', async () => {
    for (const tls of [false, true]) {
      const server = await startSocketServer((socket) => respond(socket, 200, '{"newBalance":1}'), { tls });
      cleanups.push(() => server.stop());
      const client = clientFor(`${tls ? 'https' : 'http'}://127.0.0.1:${server.port}`);
      expect((await client.changeBalance(change(() => true))).kind).toBe('paid');
      expect(await client.changeBalance(change(() => false))).toMatchObject(HELD_BACK);
      expect((await client.changeBalance(change(() => true))).kind).toBe('paid');
      expect(server.requests).toHaveLength(2);
    }
  });

  it('is asked about after the TLS handshake has begun, and once', async () => {
    const server = await startSocketServer((socket) => respond(socket, 200, '{"newBalance":1}'), {
      tls: true,
    });
    cleanups.push(() => server.stop());
    let reached = false;
    // The handshake needs this connection to pass bytes both ways.
    const way = await startBareServer((socket) => {
      const on = connect(server.port, '127.0.0.1');
      on.on('error', () => {});
      socket.pipe(on).pipe(socket);
      on.once('data', () => {
        reached = true;
      });
    });
    cleanups.push(() => way.stop());
    const seen: boolean[] = [];
    const asked = (answer: boolean) => () => {
      seen.push(reached);
      return answer;
    };
    const client = clientFor(`https://127.0.0.1:${way.port}`);
    expect(await client.changeBalance(change(asked(false)))).toMatchObject(HELD_BACK);
    expect(server.requests).toEqual([]);
    expect((await client.changeBalance(change(asked(true)))).kind).toBe('paid');
    expect(seen).toEqual([true, true]);
  });

  it('is not asked about where no connection comes about', async () => {
    const server = await startBareServer((socket: Socket) => socket.resetAndDestroy());
    cleanups.push(() => server.stop());
    let asked = 0;
    const outcome = await clientFor(`https://127.0.0.1:${server.port}`).changeBalance(
      change(() => {
        asked += 1;
        return true;
      }),
    );
    expect({ kind: outcome.kind, asked }).toEqual({ kind: 'not-sent', asked: 0 });
  });
});
