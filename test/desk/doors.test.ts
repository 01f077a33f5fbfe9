import { Agent, request } from 'node:http';
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { keepDoor } from '../../src/desk/http/access/door.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { cases } from '../support/suites.js';
import { until } from '../support/until.js';

/**
 * Every route of the desk, as the router itself lists them, in every spelling that the router accepts. The desk has
 * something to hide: a paid batch, a waiting one, a report, an upload and a task.
 */
let desk: TestDesk;
let known: Readonly<Record<string, string>>;

beforeAll(async () => {
  desk = await startDesk();
  const paid = await importRows([4_242_001, 4_242_002]);
  await desk.startWorker();
  await until('the batch to be done', async () => {
    const reply = await desk.call(`/api/batches/${paid}`);
    return reply.text.includes('"state":"done"');
  });
  await desk.call(`/api/batches/${paid}/report`, { method: 'POST', body: {} });
  const upload = await desk.call('/api/uploads?name=next.csv', {
    method: 'POST',
    body: 'member,tokens\n4242003,7\n',
  });
  known = {
    batch: paid,
    order: `${paid}-1`,
    member: '4242001',
    name: 'results.csv',
    upload: z.object({ upload: z.string() }).parse(upload.json()).upload,
    queueName: 'rehearsal.orders',
  };
});
afterAll(async () => {
  kept.destroy();
  await desk.close();
});

async function importRows(members: readonly number[]): Promise<string> {
  const body = `member,tokens\n${members.map((member) => `${member},777`).join('\n')}\n`;
  const sent = await desk.call('/api/uploads?name=secret.csv', { method: 'POST', body });
  const { upload } = z.object({ upload: z.string() }).parse(sent.json());
  const reply = await desk.call(`/api/uploads/${upload}/start`, {
    method: 'POST',
    body: { rows: members.length, tokens: String(777 * members.length) },
  });
  return z.object({ summary: z.object({ batch: z.string() }) }).parse(reply.json()).summary.batch;
}

type Answer = { readonly status: number; readonly text: string };

const kept = new Agent({ keepAlive: true });

/** The target goes onto the line as it is: no library reads, escapes or resolves it first. */
function send(
  method: string,
  target: string,
  headers: Record<string, string> = {},
  agent: Agent | false = kept,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: desk.port, path: target, method, headers, agent },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          // A live line never ends by itself; to have begun is answer enough.
          if (!String(response.headers['content-type']).startsWith('text/event-stream')) return;
          sent.destroy();
          resolve({ status: response.statusCode ?? 0, text: chunk.toString('utf8') });
        });
      },
    );
    // What is no HTTP at all is dropped without a word; an old connection may have been dropped before.
    sent.on('error', () =>
      sent.reusedSocket ? resolve(send(method, target, headers, false)) : resolve({ status: 0, text: '' }),
    );
    sent.end();
  });
}

const encoded = (text: string) => `%${text.charCodeAt(0).toString(16)}`;
/** Each name says what is done to the address. */
const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  plain: (path) => path,
  'one letter encoded': (path) => path.replace(/[a-z]/, encoded),
  'every letter encoded': (path) => path.replaceAll(/[a-z]/g, encoded),
  'encoded in capitals': (path) => path.replaceAll(/[a-z]/g, (sign) => encoded(sign).toUpperCase()),
  'encoded twice': (path) => path.replace(/[a-z]/, (sign) => encoded(sign).replace('%', '%25')),
  'encoded slashes': (path) => `/${path.slice(1).replaceAll('/', '%2f')}`,
  absolute: (path) => `http://127.0.0.1:${desk.port}${path}`,
  'absolute, of another host': (path) => `http://elsewhere.example${path}`,
  'absolute, in capitals': (path) => `HTTP://127.0.0.1:${desk.port}${path}`,
  'absolute and encoded': (path) => `https://x${path.replace(/[a-z]/, encoded)}`,
  fragment: (path) => `${path}#x`,
  'fragment of a public page': (path) => `${path}#/health`,
  query: (path) => `${path}?/health`,
  semicolon: (path) => `${path};x=/health`,
  'upper case': (path) => path.toUpperCase(),
  'doubled slash': (path) => `/${path}`,
  'doubled slash inside': (path) => `/${path.slice(1).replaceAll('/', '//')}`,
  'trailing slash': (path) => `${path}/`,
  'a dot segment': (path) => `/.${path}`,
  'dot segments out of a public page': (path) => `/health/..${path}`,
  'encoded dot segments': (path) => `/assets/%2e%2e${path}`,
  backslashes: (path) => path.replaceAll('/', '\\'),
};

/** A route's address with something that exists in the place of each parameter. */
const filled = (url: string) =>
  url.replaceAll(/:(\w+)/g, (_, name: string) => known[name] ?? 'x').replace('*', 'deeper');

const NO_HTTP = '{"error":"Bad Request","message":"Client Error","statusCode":400}';
/** What strangers may be told: the pages and files of the build, that it lives, and a refusal. */
function isHarmless({ text }: Answer): boolean {
  return (
    ['<!doctype html><title>desk</title>', 'void 0', '{"ok":true}', NO_HTTP, ''].includes(text) ||
    /^{"error":{"code":"ALM_DESK_(NOT_SIGNED_IN|NOT_FOUND|BAD_REQUEST|TOKEN_WRONG)"/.test(text)
  );
}

/** The quick suite asks an eighth of all pairs, which has every way and every spelling many times. */
const EVERY = cases(8, 1);
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

describe('the tour of all routes', () => {
  test('knows the ways that matter, the library’s own ones included', () => {
    const ways = desk.server.ways.map(({ method, url, access }) => `${method} ${url} ${access}`);
    for (const way of [
      'GET /metrics viewer',
      'GET /api/events viewer',
      'GET /api/openapi.json viewer',
      'GET /queues viewer',
      'GET /queues/api/queues viewer',
      'POST /api/uploads operator',
      'HEAD /health anyone',
    ])
      expect(ways).toContain(way);
    const open = desk.server.ways.filter(({ access }) => access === 'anyone');
    expect([...new Set(open.map(({ url }) => url))].sort()).toEqual([
      '/*',
      '/api/login',
      '/health',
      '/ready',
    ]);
  });

  test('the spellings reach the routes: signed in, the same addresses answer', async () => {
    const headers = { authorization: `Bearer ${desk.tokens.viewer}` };
    for (const spelling of ['plain', 'one letter encoded', 'every letter encoded', 'absolute', 'fragment'])
      for (const path of ['/metrics', '/queues/api/queues', `/api/batches/${known.batch}`, '/api/events']) {
        const reply = await send('GET', SPELLINGS[spelling]?.(path) ?? '', headers);
        expect([spelling, path, reply.status]).toEqual([spelling, path, 200]);
        expect(isHarmless(reply)).toBe(false);
      }
  });

  test('without a token no spelling of a route, by any method, reveals anything', async () => {
    const told: string[] = [];
    let asked = 0;
    for (const [way, { method, url }] of desk.server.ways.entries())
      for (const [at, [spelling, spell]] of Object.entries(SPELLINGS).entries()) {
        if ((way + at) % EVERY !== 0) continue;
        asked += 1;
        const reply = await send(method, spell(filled(url)));
        if (isHarmless(reply)) continue;
        told.push(`${method} ${url}, ${spelling}: ${reply.status}`);
      }
    expect(told).toEqual([]);
    expect(asked).toBeGreaterThan(1_000 / EVERY);
    for (const url of new Set(desk.server.ways.map((way) => way.url)))
      for (const method of METHODS) {
        const reply = await send(method, filled(url));
        if (!isHarmless(reply)) told.push(`${method} ${url}: ${reply.status}`);
      }
    expect(told).toEqual([]);
  });

  test('a closed way says so in its plain spelling, to strangers and to whoever’s role is too small', async () => {
    const headers = { authorization: `Bearer ${desk.tokens.viewer}` };
    for (const { method, url, access } of desk.server.ways) {
      if (access === 'anyone') continue;
      expect([method, url, (await send(method, filled(url))).status]).toEqual([method, url, 401]);
      if (access === 'viewer') continue;
      for (const spelling of ['plain', 'every letter encoded', 'absolute', 'fragment'])
        expect([
          method,
          url,
          spelling,
          (await send(method, SPELLINGS[spelling]?.(filled(url)) ?? '', headers)).status,
        ]).toEqual([method, url, spelling, 403]);
    }
  });

  test('a way that nobody gave an access cannot be opened', () => {
    const app = fastify();
    keepDoor(app, desk.server.desk, false);
    expect(() => app.get('/new', () => 'secret')).toThrowError('GET /new says not who may use it');
    expect(() => app.get('/new', { config: {} }, () => 'secret')).toThrowError('/new');
    app.get('/new', { config: { access: 'viewer' } }, () => 'secret');
  });
});

describe('the token', () => {
  const reached = async (headers: Record<string, string>, target = '/api/overview') =>
    (await send('GET', target, headers)).status;

  test('is taken in the header, however its scheme is written', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR'])
      expect(await reached({ authorization: `${scheme}   ${desk.tokens.viewer}` })).toBe(200);
  });

  test('is taken in no other shape and at no other place', async () => {
    const token = desk.tokens.viewer;
    for (const value of [
      token,
      `Token ${token}`,
      `Basic ${Buffer.from(`vera:${token}`).toString('base64')}`,
      `Bearer ${token} ${token}`,
      `Bearer ${token},${token}`,
      `Bearer "${token}"`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${token.slice(0, -1)}`,
      'Bearer',
      'Bearer ',
    ])
      expect([value, await reached({ authorization: value })]).toEqual([value, 401]);
    expect(await reached({ 'x-authorization': `Bearer ${token}` })).toBe(401);
    expect(await reached({ 'proxy-authorization': `Bearer ${token}` })).toBe(401);
    expect(await reached({ cookie: `almoner-desk-${desk.port}=${token}` })).toBe(401);
    expect(await reached({}, `/api/overview?token=${token}&access_token=${token}`)).toBe(401);
  });
});
