import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Connections } from '../../src/desk/http/connections.js';
import { Tokens } from '../../src/operations/people/tokens.js';
import { bareHttp } from '../support/bare-http.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

const CONNECTIONS_MAX = 12;
/** Longer than a test waits for a connection that must end by itself. */
const BODY_MS = 60_000;

let desk: TestDesk;
const sockets: Socket[] = [];

beforeAll(async () => {
  desk = await startDesk({ options: { bodyMs: BODY_MS, connectionsMax: CONNECTIONS_MAX } });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => desk.close());

async function stranger(text = '', port = desk.port): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket.on('error', () => {}));
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** The head of a request whose body never comes. */
const begun = (request: string, headers: readonly string[]) =>
  [`${request} HTTP/1.1`, `host: 127.0.0.1:${desk.port}`, 'content-length: 200000', ...headers, '', '{'].join(
    '\r\n',
  );

/** What the desk says until it ends the connection. */
async function ended(socket: Socket): Promise<string> {
  let told = '';
  socket.on('data', (chunk: Buffer) => {
    told += chunk.toString('utf8');
  });
  await once(socket, 'close');
  return told;
}

const JSON_BODY = 'content-type: application/json';
const CSV_BODY = 'content-type: text/csv';

describe('a request that is answered before its body has come', () => {
  test.each([
    { what: 'a change by nobody', status: 401, request: 'POST /api/dead/retry', headers: [JSON_BODY] },
    {
      what: 'an upload by nobody',
      status: 401,
      request: 'POST /api/uploads?name=a.csv',
      headers: [CSV_BODY],
    },
    {
      what: 'a sign-in of a type that nobody reads',
      status: 400,
      request: 'POST /api/login',
      headers: [CSV_BODY],
    },
    { what: 'an address that is none', status: 400, request: 'POST /%zz', headers: [JSON_BODY] },
    { what: 'a question that has no body', status: 200, request: 'GET /health', headers: [] },
    {
      what: 'one that expects what nobody knows',
      status: 401,
      request: 'POST /api/dead/retry',
      headers: [JSON_BODY, 'expect: gold'],
    },
  ])('does not keep the connection: $what', async ({ status, request, headers }) => {
    const told = await ended(await stranger(begun(request, headers)));
    expect(told).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\r\nconnection: close\r\n`, 'i'));
  });
});

describe('where all connections are taken', () => {
  const agents: Agent[] = [];
  afterEach(() => agents.splice(0).map((agent) => agent.destroy()));

  /** Somebody on one connection, which they keep. */
  function person(token: string) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    const headers = { authorization: `Bearer ${token}` };
    const asks = async () => (await bareHttp(`${desk.url}/api/session`, { agent, headers })).status;
    return { asks, isOpen: () => Object.values(agent.freeSockets).flat().length === 1 };
  }

  test('anonymous clients lock no user out: the longest silent one is disconnected', async () => {
    const operator = person(desk.tokens.operator);
    expect(await operator.asks()).toBe(200);
    const first = await stranger();
    for (let more = 0; more < 2 * CONNECTIONS_MAX; more++) await stranger();
    await until('the first to be cut off', () => first.destroyed);
    expect((await desk.call('/health', { as: null })).status).toBe(200);
    expect((await desk.call('/api/session')).status).toBe(200);
    expect(operator.isOpen()).toBe(true);
    expect(await operator.asks()).toBe(200);
    const open = sockets.filter((socket) => !socket.destroyed).length;
    expect(open).toBeLessThan(CONNECTIONS_MAX);
  });

  test('viewers are disconnected before operators, and never the other way round', async () => {
    const operator = person(desk.tokens.operator);
    expect(await operator.asks()).toBe(200);
    const viewers = Array.from({ length: 2 * CONNECTIONS_MAX }, () => person(desk.tokens.viewer));
    for (const viewer of viewers) expect(await viewer.asks()).toBe(200);
    await until('the first viewers to be cut off', () => viewers[0]?.isOpen() === false);
    expect(operator.isOpen()).toBe(true);
    expect(await operator.asks()).toBe(200);
  });

  const request = (path: string, ...headers: string[]) =>
    [`GET ${path} HTTP/1.1`, `host: 127.0.0.1:${desk.port}`, ...headers, '', ''].join('\r\n');
  const answered = async (socket: Socket) => String((await once(socket, 'data'))[0]).slice(0, 12);

  test('a viewer who holds them leaves room for newcomers, among whom an operator is until the first request', async () => {
    const viewers = Array.from({ length: 2 * CONNECTIONS_MAX }, () => person(desk.tokens.viewer));
    for (const viewer of viewers) expect(await viewer.asks()).toBe(200);
    const operator = await stranger();
    for (let more = 0; more < 2; more++)
      expect(await answered(await stranger(request('/health')))).toBe('HTTP/1.1 200');
    operator.write(request('/api/session', `authorization: Bearer ${desk.tokens.operator}`));
    expect(await answered(operator)).toBe('HTTP/1.1 200');
  });

  test('a viewer with many connections is disconnected before one with few', async () => {
    const token = await new Tokens(desk.app.scripts).add('modest', ['viewer'], 'tester', Date.now());
    const modest = person(token);
    expect(await modest.asks()).toBe(200);
    const viewers = Array.from({ length: 2 * CONNECTIONS_MAX }, () => person(desk.tokens.viewer));
    for (const viewer of viewers) expect(await viewer.asks()).toBe(200);
    expect(modest.isOpen()).toBe(true);
  });
});

test('a token that holds no connection any more is forgotten', () => {
  const connections = new Connections(8);
  const socket = new Socket();
  connections.add(socket);
  connections.admitted(socket, { roles: ['viewer'], tokenHash: 'a' });
  connections.admitted(socket, { roles: ['viewer'], tokenHash: 'b' });
  expect(connections.tokens).toBe(1);
  socket.emit('close');
  expect(connections.tokens).toBe(0);
});
