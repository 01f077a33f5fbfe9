import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** One request with its bytes as received. */
export type RawRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The number of requests on the same connection, including this one. */
  readonly nthOnSocket: number;
};

export type SocketServer = {
  readonly port: number;
  readonly requests: RawRequest[];
  readonly connections: () => number;
  stop(): Promise<void>;
};

export const TEST_CERTIFICATE = readFileSync('test/fixtures/tls/client-test.crt', 'utf8');
const TEST_KEY = readFileSync('test/fixtures/tls/client-test.key', 'utf8');

/**
 * A server one level below HTTP. It reads whole requests and lets the test write any bytes, write none, or break the
 * connection. http.createServer refuses to write the broken replies that the client must survive.
 */
export async function startSocketServer(
  answer: (socket: Socket, request: RawRequest) => void,
  options: { readonly tls?: boolean } = {},
): Promise<SocketServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const serve = (socket: Socket) => {
    connections++;
    let pending = '';
    let nthOnSocket = 0;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      pending += chunk.toString('latin1');
      for (;;) {
        const taken = takeRequest(pending, nthOnSocket + 1);
        if (taken === undefined) return;
        pending = taken.rest;
        nthOnSocket++;
        requests.push(taken.request);
        answer(socket, taken.request);
      }
    });
  };
  const server: Server = options.tls
    ? createTlsServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, serve)
    : createServer(serve);
  server.on('tlsClientError', () => {});
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    port,
    requests,
    connections: () => connections,
    stop: () => stop(server, sockets),
  };
}

/** Accepts connections and passes them on raw, before any TLS or HTTP. */
export async function startBareServer(accept: (socket: Socket) => void): Promise<SocketServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    accept(socket);
  });
  const port = await listen(server);
  return { port, requests: [], connections: () => connections, stop: () => stop(server, sockets) };
}

/** A complete response with its length. */
export function respond(
  socket: Socket,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const lines = Object.entries({ 'content-type': 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  // These responses have no body; a parser would read a body as the next response.
  const bodiless = status === 204 || status === 304;
  const length = bodiless ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  socket.write(`HTTP/1.1 ${status} Test\r\n${lines.join('')}${length}\r\n${bodiless ? '' : body}`);
}

function takeRequest(text: string, nthOnSocket: number): { request: RawRequest; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const length = Number(headers['content-length'] ?? 0);
  const start = end + 4;
  if (text.length < start + length) return undefined;
  const body = Buffer.from(text.slice(start, start + length), 'latin1').toString('utf8');
  return { request: { method, path, headers, body, nthOnSocket }, rest: text.slice(start + length) };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function stop(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
