import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';

/** Bytes that are nearly a request, at a port on this machine; each connection ends. */
export async function brokenHttp(port: number, runs: number): Promise<void> {
  const nearly = fc.constantFrom(
    'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n',
    'POST /api/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /api/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `GET /${'a'.repeat(70_000)} HTTP/1.1\r\n\r\n`,
    `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(3_000)}\r\n`,
    'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  );
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    nearly.map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (sent) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.end(sent);
      socket.resume();
      // A reset is an answer, too.
      await new Promise((resolve) => socket.once('close', resolve));
    }),
    { numRuns: runs },
  );
}
