import { afterEach, describe, expect, it } from 'vitest';
import { memberId } from '../../../src/core/ids.js';
import { createRealmClient, type RealmClient } from '../../../src/realm/client/client.js';
import { SOCKET_IDLE_MAX_MS } from '../../../src/realm/client/exchange.js';
import { testProfile } from '../../support/ledger/realm-profile.js';
import { respond, type SocketServer, startSocketServer } from '../../support/socket-server.js';
import { until } from '../../support/until.js';

describe('a connection that idled', () => {
  let server: SocketServer;
  let client: RealmClient;
  let open = 0;
  const setUp = async () => {
    open = 0;
    server = await startSocketServer((socket, request) => {
      if (request.nthOnSocket === 1) {
        open++;
        socket.once('close', () => open--);
      }
      respond(socket, 200, '{"newBalance":1}');
    });
    client = createRealmClient({
      profile: testProfile(),
      baseUrl: `http://127.0.0.1:${server.port}`,
      readKey: () => 'k-secret',
    });
  };
  afterEach(async () => {
    await client.close();
    await server.stop();
  });
  const send = () =>
    client.changeBalance({
      member: memberId('7'),
      tokens: 1,
      currency: null,
      idempotencyKey: 'x',
      mayLeave: () => true,
    });

  it('is used again at once, and closed by us when it idled for most of a second', async () => {
    await setUp();
    await send();
    await send();
    expect(server.connections()).toBe(1);
    await until('the idle socket to be closed', () => open === 0);
    expect((await send()).kind).toBe('paid');
    expect(server.connections()).toBe(2);
  });

  it('is not used after this process stood still, when timers are late', async () => {
    await setUp();
    await send();
    // Blocks the whole thread: the idle timer cannot fire before the next request is made.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SOCKET_IDLE_MAX_MS + 50);
    expect((await send()).kind).toBe('paid');
    expect(server.connections()).toBe(2);
  });
});
