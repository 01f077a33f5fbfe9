import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
import { until } from '../../support/until.js';

/** The part of an exchange in which nothing has been sent yet, and its border. */

const change = {
  member: memberId('42'),
  tokens: 5,
  currency: null,
  idempotencyKey: 'b-1.0',
  mayLeave: () => true,
};
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const HASTY = { connectMs: 300, tlsMs: 300, responseMs: 10_000, totalMs: 15_000 };

function clientFor(baseUrl: string, ca?: string, timeouts = testProfile().timeouts): RealmClient {
  const options = {
    profile: testProfile({ timeouts }),
    baseUrl,
    readKey: () => 'k-secret',
  };
  const client = createRealmClient(ca === undefined ? options : { ...options, ca });
  cleanups.push(() => client.close());
  return client;
}

async function bare(accept: (socket: Socket) => void) {
  const server = await startBareServer(accept);
  cleanups.push(() => server.stop());
  return server;
}

async function secure(answer: Parameters<typeof startSocketServer>[0]) {
  const server = await startSocketServer(answer, { tls: true });
  cleanups.push(() => server.stop());
  return server;
}

describe('before the connection is complete, nothing was sent', () => {
  it('a connect time-out', async () => {
    // A frozen process with a full queue of connections answers no SYN: the kernel drops it.
    const code = `require('net').createServer().listen({port:0,host:'127.0.0.1',backlog:1},function(){console.log(this.address().port)})`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    cleanups.push(() => child.kill('SIGKILL') && once(child, 'exit'));
    const [line] = await once(child.stdout, 'data');
    const port = Number(String(line).trim());
    child.kill('SIGSTOP');
    let connected = 0;
    for (let n = 0; n < 12; n++) {
      const socket = connect(port, '127.0.0.1', () => connected++);
      socket.on('error', () => {});
      cleanups.push(() => socket.destroy());
    }
    await until('the queue to be full', () => connected >= 2);
    const outcome = await clientFor(`http://127.0.0.1:${port}`, undefined, HASTY).changeBalance(change);
    expect(outcome).toMatchObject({ kind: 'not-sent', code: 'ALM_SEND_NOT_SENT', phase: 'connect' });
    expect(outcome.message).toContain('within the time-out');
  });

  it('a handshake that hangs, is cut, is reset or is answered in plain HTTP', async () => {
    const ways: ((socket: Socket) => void)[] = [
      () => {},
      (socket) => socket.end(),
      (socket) => socket.once('data', () => socket.resetAndDestroy()),
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n')),
    ];
    for (const way of ways) {
      const server = await bare(way);
      const outcome = await clientFor(`https://127.0.0.1:${server.port}`, undefined, HASTY).changeBalance(
        change,
      );
      expect(outcome).toMatchObject({
        kind: 'not-sent',
        code: 'ALM_SEND_NOT_SENT',
        phase: 'tls',
        status: null,
      });
      expect(server.connections()).toBe(1);
    }
  });

  it('a certificate that is not trusted; not one byte of the request reaches the server', async () => {
    const server = await secure((socket) => respond(socket, 200, '{"newBalance":1}'));
    const client = clientFor(`https://127.0.0.1:${server.port}`);
    const outcome = await client.changeBalance(change);
    expect(outcome).toMatchObject({ kind: 'not-sent', code: 'ALM_SEND_BAD_CERTIFICATE', phase: 'tls' });
    const read = await client.readMember(change.member);
    expect(read).toMatchObject({ ok: false, retryable: false, error: { code: 'ALM_REALM_BAD_CERTIFICATE' } });
    expect(server.requests).toEqual([]);
  });
});

describe('once the TLS handshake is complete', () => {
  it('an answer counts, and the connection is used again', async () => {
    const server = await secure((socket) => respond(socket, 200, '{"newBalance":1}'));
    const client = clientFor(`https://127.0.0.1:${server.port}`, TEST_CERTIFICATE);
    expect((await client.changeBalance(change)).kind).toBe('paid');
    expect((await client.changeBalance(change)).kind).toBe('paid');
    expect(server.connections()).toBe(1);
  });

  it('a reset is unknown, on a fresh and on a reused socket', async () => {
    const server = await secure((socket, request) => {
      if (request.body.includes('99')) socket.destroy();
      else respond(socket, 200, '{"newBalance":1}');
    });
    const client = clientFor(`https://127.0.0.1:${server.port}`, TEST_CERTIFICATE);
    const bad = { ...change, tokens: 99 };
    const fresh = await client.changeBalance(bad);
    expect(fresh).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_RESET', phase: 'sent' });
    expect((await client.changeBalance(change)).kind).toBe('paid');
    const reused = await client.changeBalance(bad);
    expect(reused).toMatchObject({ kind: 'unknown', code: 'ALM_SEND_RESET' });
    expect(server.requests).toHaveLength(3);
  });
});
