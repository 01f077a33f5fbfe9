import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { BatchSummary } from '../../src/desk/api/index.js';
import { discord, messageText } from '../../src/desk/notify/discord.js';
import { eventsFor, type Notice, toldOf } from '../../src/desk/notify/notice.js';
import { Notifier, toldNotes } from '../../src/desk/notify/notifier.js';
import { webhook } from '../../src/desk/notify/targets.js';
import { startDesk } from '../support/desk.js';
import { until } from '../support/until.js';

type Got = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A local stand-in for the outside: answers what it is told to, and keeps what it got. */
async function outside(answer: (got: Got, count: number) => { status: number; body?: unknown }) {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      got.push(one);
      const { status, body } = answer(one, got.length);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? {}));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  return {
    got,
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hook/secret-part`,
  };
}

function logged() {
  const lines: string[] = [];
  return { lines, logger: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }) };
}

const summary: BatchSummary = {
  batch: 'abc123',
  realm: 'main',
  rehearsal: false,
  state: 'running',
  reason: null,
  source: 'June @everyone.csv',
  rows: 10,
  counts: { paid: 4, planned: 6 },
  tokens: { paid: '40', planned: '60' },
  requests: 4,
  retries: 0,
  rateLimited: 0,
  perSecond: 1,
  allowed: { requests: 1, windowMs: 1_000 },
  etaSeconds: 6,
  waiting: [],
  notes: [],
  mode: 'import',
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'olga',
  startedAt: '2026-01-01T00:00:01.000Z',
  finishedAt: null,
  archived: false,
};
const notice = (event: Notice['event'], more: Partial<BatchSummary> = {}): Notice => ({
  event,
  at: '2026-01-01T00:00:02.000Z',
  batch: { ...summary, ...more },
  link: null,
});
const tries = () => ({ attempts: 3, backoffMs: 5, stop: new AbortController().signal });

describe('a webhook', () => {
  test('is signed over time and body, and tried again after a failure with the same delivery id', async () => {
    const { got, url } = await outside((_, count) => ({ status: count === 1 ? 503 : 204 }));
    const { logger, lines } = logged();
    const target = webhook({ url, secret: () => 'the-secret', realm: 'main', logger, tries: tries() });
    await target.send(notice('finished', { state: 'done', counts: { paid: 10 } }));
    expect(got).toHaveLength(2);
    const [first, second] = got;
    const timestamp = String(second?.headers['x-almoner-timestamp']);
    const expected = createHmac('sha256', 'the-secret').update(`${timestamp}.${second?.body}`).digest('hex');
    expect(second?.headers['x-almoner-signature']).toBe(`sha256=${expected}`);
    expect(second?.headers['x-almoner-delivery']).toBe(first?.headers['x-almoner-delivery']);
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60);
    expect(JSON.parse(second?.body ?? '')).toMatchObject({
      event: 'finished',
      batch: 'abc123',
      counts: { paid: 10 },
    });
    expect(lines).toEqual([]);
  });

  test('that refuses is not tried again, and the log knows neither address nor secret', async () => {
    const { got, url } = await outside(() => ({ status: 410 }));
    const { logger, lines } = logged();
    await webhook({ url, secret: () => 'the-secret', realm: 'main', logger, tries: tries() }).send(
      notice('halted'),
    );
    expect(got).toHaveLength(1);
    expect(lines).toHaveLength(1);
    expect(lines.join('')).not.toMatch(/the-secret|secret-part|127\.0\.0\.1/);
  });
});

describe('the chat message of a batch', () => {
  const memory = () => {
    const kept = new Map<string, string>();
    return {
      get: async (key: string) => kept.get(key) ?? null,
      put: async (key: string, id: string) => {
        kept.set(key, id);
      },
    };
  };

  test('is posted once and then edited in place, and calls nobody', async () => {
    const { got, url } = await outside(() => ({ status: 200, body: { id: '77' } }));
    const target = discord({
      url: () => url,
      realm: 'main',
      messages: memory(),
      logger: logged().logger,
      tries: tries(),
    });
    await target.send(notice('progress'));
    await target.send(notice('finished', { state: 'done', counts: { paid: 10 }, tokens: { paid: '100' } }));
    expect(got.map(({ method, url: path }) => [method, path])).toEqual([
      ['POST', '/hook/secret-part?wait=true'],
      ['PATCH', '/hook/secret-part/messages/77'],
    ]);
    const message = z.object({
      content: z.string(),
      allowed_mentions: z.object({ parse: z.array(z.string()) }),
    });
    const last = message.parse(JSON.parse(got[1]?.body ?? ''));
    expect(last.content).toContain('is done');
    expect(last.content).toContain('100 tokens');
    expect(last.content).not.toContain(' @everyone');
    expect(last.allowed_mentions.parse).toEqual([]);
  });

  test('that somebody deleted is posted anew', async () => {
    const { got, url } = await outside(({ method }) =>
      method === 'PATCH' ? { status: 404 } : { status: 200, body: { id: '78' } },
    );
    const messages = memory();
    await messages.put('main/abc123', '77');
    await discord({ url: () => url, realm: 'main', messages, logger: logged().logger, tries: tries() }).send(
      notice('doubt'),
    );
    expect(got.map(({ method }) => method)).toEqual(['PATCH', 'POST']);
    expect(await messages.get('main/abc123')).toBe('78');
  });
});

describe('what is news', () => {
  test('an end, a halt and every new doubt once, progress in between', () => {
    const told = { state: 'running', doubts: 0, lost: '' };
    expect(eventsFor(told, null)).toEqual(['progress']);
    expect(eventsFor({ ...told, doubts: 2 }, { ...told, doubts: 1 })).toEqual(['doubt']);
    expect(eventsFor({ ...told, doubts: 2 }, { ...told, doubts: 2 })).toEqual(['progress']);
    expect(eventsFor({ ...told, state: 'halted' }, told)).toEqual(['halted']);
    expect(eventsFor({ ...told, state: 'done' }, told)).toEqual(['finished']);
    expect(eventsFor({ ...told, state: 'done' }, { ...told, state: 'done' })).toEqual([]);
  });

  test('a sending process that is lost with orders in its hands, once, and not one that was just killed', () => {
    const nowMs = Date.parse(summary.createdAt);
    const lost = (session: string, agoMs: number): BatchSummary['waiting'][number] => ({
      why: 'missing-session',
      message: `Session ${session} was last seen long ago.`,
      orders: 2,
      tokens: '20',
      since: new Date(nowMs - agoMs).toISOString(),
      until: null,
      next: `almoner recover --accept-missing ${session}`,
      session,
    });
    const batch = { ...summary, waiting: [lost('bb', 50_000), lost('cc', 3_000)] };
    const told = toldOf(batch, nowMs);
    expect(told).toEqual({ state: 'running', doubts: 0, lost: 'bb' });
    expect(eventsFor(told, { ...told, lost: '' })).toEqual(['missing-session']);
    expect(eventsFor(told, told)).toEqual(['progress']);
    const text = messageText({ ...notice('missing-session'), batch });
    expect(text).toContain('2 orders (20 tokens) wait: Session bb was last seen long ago.');
    expect(text).toContain('almoner recover --accept-missing bb');
  });

  test('a batch that a worker finishes is told once, also by a desk that was started anew', async () => {
    const desk = await startDesk();
    closers.push(() => desk.close());
    const { got, url } = await outside(() => ({ status: 200 }));
    const [profile] = desk.app.config.profiles;
    const { logger } = logged();
    const start = () =>
      new Notifier({
        board: desk.server.desk.board,
        told: toldNotes(desk.app.scripts),
        targets: new Map([
          [profile?.name ?? '', [webhook({ url, secret: null, realm: 'main', logger, tries: tries() })]],
        ]),
        link: (batch) => `https://desk.example/batches/${batch}`,
        logger,
        lookEveryMs: 20,
      });
    let notifier = start();
    await desk.startWorker();
    const sent = await desk.call('/api/uploads?name=a.csv', {
      method: 'POST',
      body: 'member,tokens\n1,5\n2,5\n',
    });
    const { upload } = z.object({ upload: z.string() }).parse(sent.json());
    await desk.call(`/api/uploads/${upload}/start`, { method: 'POST', body: { rows: 2, tokens: '10' } });
    await until('the notice', () => got.length > 0);
    await notifier.close();
    notifier = start();
    const told = toldNotes(desk.app.scripts);
    await until('the new one to have looked', async () =>
      [...(await told.batches.all()).values()].some(({ state }) => state === 'done'),
    );
    await notifier.close();
    expect(got.map(({ body }) => JSON.parse(body))).toEqual([
      expect.objectContaining({ event: 'finished', state: 'done', counts: { paid: 2 } }),
    ]);
  });
});
