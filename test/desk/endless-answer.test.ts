import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { webhook } from '../../src/desk/notify/webhook.js';
import { closers } from '../support/program/outside.js';
import { until } from '../support/until.js';

const PIECE = Buffer.alloc(16 * 1024, 'x');

/** A receiver that takes a notice and then answers without end, as fast as it is read. */
async function endless() {
  const seen = { bytes: 0, closed: false };
  const server = createServer((request, response) => {
    request.resume();
    response.on('close', () => {
      seen.closed = true;
    });
    response.writeHead(200);
    const write = () => {
      while (!response.destroyed) {
        seen.bytes += PIECE.length;
        if (!response.write(PIECE)) return;
      }
    };
    response.on('drain', write);
    write();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  return { seen, target: webhook({ name: 'all realms: webhook', url, secret: null }) };
}

test('of an answer without end 64 kB are read, then the connection is closed, and the notice counts as taken', async () => {
  const { seen, target } = await endless();
  const sent = await target.send(
    { id: 'msg_1', body: '{}', at: Date.now(), thread: null },
    new AbortController().signal,
  );
  expect(sent).toMatchObject({ ok: true, status: 200, why: null });
  expect(sent.body.length).toBe(64 * 1024);
  await until('the connection to be closed', () => seen.closed);
  // What the sockets on both sides hold, and no more.
  expect(seen.bytes).toBeLessThan(16 * 2 ** 20);
}, 20_000);
