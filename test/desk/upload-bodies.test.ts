import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

let desk: TestDesk;
const LIMITS = { bytesMax: 200_000, filesMax: 4, idleMs: 400, bytesPerSecondMin: 2_000 };

beforeAll(async () => {
  desk = await startDesk({ options: { uploadLimits: LIMITS, bodyMs: 300 } });
});
afterAll(() => desk.close());

const leftovers = () => readdir(join(desk.folder, 'data', 'uploads'));

describe('an upload that is not what it should be', () => {
  test('is refused when it is too large, declared or not, and leaves nothing behind', async () => {
    const large = `member,tokens\n${'1,1\n'.repeat(60_000)}`;
    const path = '/api/uploads?name=a.csv';
    const declared = await desk.call(path, { method: 'POST', body: large });
    expect(declared.status).toBe(413);
    const told = await rawUpload(['transfer-encoding: chunked'], (write) => {
      for (let i = 0; i < 8; i++) write(`9c40\r\n${'1,1\n'.repeat(10_000)}\r\n`);
    });
    expect(told).toContain('413');
    expect(told).toContain('ALM_DESK_UPLOAD_TOO_LARGE');
    await until('the folder to be empty', async () => (await leftovers()).length === 0);
  });

  test('is cut off when it trickles, and leaves nothing behind', async () => {
    let timer: NodeJS.Timeout | undefined;
    const told = await rawUpload(['content-length: 100000'], (write) => {
      write('member,tokens\n');
      timer = setInterval(() => write('1'), 50);
    });
    clearInterval(timer);
    expect(told).toContain('408');
    expect(told).toContain('ALM_DESK_UPLOAD_BROKEN');
    await until('the folder to be empty', async () => (await leftovers()).length === 0);
  });

  test('any other body that trickles is cut off as well', async () => {
    const begun = performance.now();
    await rawRequest(
      head(['content-length: 1000', 'content-type: application/json'], '/api/dead/count'),
      (write) => write('{'),
    );
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  test('is thrown away when the client goes away in the middle', async () => {
    const socket = connect(desk.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(head(['content-type: text/csv', 'content-length: 100000']));
    socket.write('member,tokens\n1,1\n');
    await until('the upload to begin', async () => (await leftovers()).length === 1);
    socket.destroy();
    await until('the folder to be empty', async () => (await leftovers()).length === 0);
  });

  test('is no CSV: refused before it is read', async () => {
    const path = '/api/uploads?name=a.csv';
    const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await desk.call(path, { method: 'POST', body: 'x', headers: multipart })).status).toBe(415);
    expect((await desk.call(path, { method: 'POST', body: { a: 1 } })).status).toBe(400);
    expect((await desk.call('/api/uploads', { method: 'POST', body: 'member\n' })).status).toBe(400);
  });
});

function head(headers: readonly string[], path = '/api/uploads?name=a.csv'): string {
  return [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${desk.port}`,
    `authorization: Bearer ${desk.tokens.operator}`,
    ...headers,
    '\r\n',
  ].join('\r\n');
}

const rawUpload = (headers: readonly string[], send: (write: (text: string) => void) => void) =>
  rawRequest(head(['content-type: text/csv', ...headers]), send);

/** Speaks to the socket itself; answers all that came back once the desk has closed. */
function rawRequest(start: string, send: (write: (text: string) => void) => void): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(desk.port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('utf8');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    socket.write(start);
    send((text) => {
      if (!socket.destroyed) socket.write(text);
    });
  });
}
