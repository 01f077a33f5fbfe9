import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { NOTICE_EVENTS } from '../../src/core/notice-events.js';
import type { BatchSummary, Matter } from '../../src/desk/api/index.js';
import { discord, messageText } from '../../src/desk/notify/discord.js';
import { newsOf, noticeId, type Standing } from '../../src/desk/notify/matters.js';
import { Notifier, toldNotes } from '../../src/desk/notify/notifier.js';
import { Outbox, RETRY_MS } from '../../src/desk/notify/outbox.js';
import type { Notice, Target } from '../../src/desk/notify/target.js';
import { webhook } from '../../src/desk/notify/webhook.js';
import { startDesk, type TestDesk } from '../support/desk.js';
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
  amounts: { credit: '100', debit: '0', transfer: '0' },
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
const matter = (event: Matter['event'], more: Partial<Matter> = {}): Matter => ({
  event,
  subject: 'main/abc123',
  realm: 'main',
  batch: 'abc123',
  rule: null,
  message: 'Something is so.',
  next: null,
  since: '2026-01-01T00:00:01.000Z',
  ...more,
});
const notice = (event: Matter['event'], more: Partial<BatchSummary> = {}): Notice => ({
  at: '2026-01-01T00:00:02.000Z',
  matter: matter(event),
  summary: { ...summary, ...more },
  link: null,
});
const { signal } = new AbortController();
const letter = (body: string, at = 1, thread: string | null = 'main/abc123') => ({
  id: 'msg_1',
  body,
  at,
  thread,
});

describe('a webhook', () => {
  test('is in the standard form: a ready verifier takes it, and refuses a changed one', async () => {
    const { got, url } = await outside(() => ({ status: 204 }));
    for (const secret of [
      `whsec_${Buffer.from('thirty-two bytes of some secrecy').toString('base64')}`,
      'plain words',
    ]) {
      const target = webhook({ name: 'main: webhook', url, secret: () => secret });
      const body = target.body(notice('batch.finished', { state: 'done', counts: { paid: 10 } }));
      expect(await target.send(letter(body), signal)).toMatchObject({ ok: true, status: 204 });
      const { headers, body: came = '' } = got.at(-1) ?? {};
      const verifier = secret.startsWith('whsec_')
        ? new Webhook(secret)
        : new Webhook(secret, { format: 'raw' });
      const signed = {
        'webhook-id': String(headers?.['webhook-id']),
        'webhook-timestamp': String(headers?.['webhook-timestamp']),
        'webhook-signature': String(headers?.['webhook-signature']),
      };
      expect(verifier.verify(came, signed)).toMatchObject({
        type: 'batch.finished',
        timestamp: '2026-01-01T00:00:02.000Z',
        data: { batch: 'abc123', state: 'done', counts: { paid: 10 } },
      });
      expect(() => verifier.verify(came.replace('abc123', 'abc124'), signed)).toThrow();
      expect(signed['webhook-id']).toBe('msg_1');
    }
  });

  test('says why it failed without its address', async () => {
    const { url } = await outside(() => ({ status: 503 }));
    const target = webhook({ name: 'w', url, secret: null });
    expect((await target.send(letter('{}'), signal)).why).toBe('it answered with status 503');
    const nobody = webhook({ name: 'w', url: 'http://127.0.0.1:9/secret-part', secret: null });
    const failed = await nobody.send(letter('{}'), signal);
    expect(failed).toMatchObject({ ok: false, status: null });
    expect(failed.why).not.toMatch(/secret-part|127\.0/);
    const locked = webhook({
      name: 'w',
      url,
      secret: () => {
        throw new Error('no such file');
      },
    });
    expect((await locked.send(letter('{}'), signal)).why).toContain('its secret cannot be read');
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
  const content = (body: string | undefined) =>
    z
      .object({ content: z.string(), allowed_mentions: z.object({ parse: z.array(z.string()) }) })
      .parse(JSON.parse(body ?? ''));

  test('is posted once and then edited in place, calls nobody, and never goes back', async () => {
    const { got, url } = await outside(() => ({ status: 200, body: { id: '77' } }));
    const target = discord({ name: 'chat', url: () => url, messages: memory() });
    await target.progress?.(notice('batch.finished'), signal);
    const body = target.body(
      notice('batch.finished', { state: 'done', counts: { paid: 10 }, tokens: { paid: '100' } }),
    );
    const at = Date.parse('2026-01-01T00:00:03.000Z');
    await target.send(letter(body, at), signal);
    // One that waited in the outbox for long.
    expect(await target.send(letter('{"content":"old"}', at - 1), signal)).toMatchObject({ ok: true });
    expect(got.map(({ method, url: path }) => [method, path])).toEqual([
      ['POST', '/hook/secret-part?wait=true'],
      ['PATCH', '/hook/secret-part/messages/77'],
    ]);
    const last = content(got[1]?.body);
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
    await discord({ name: 'chat', url: () => url, messages }).send(letter('{}', 5), signal);
    expect(got.map(({ method }) => method)).toEqual(['PATCH', 'POST']);
    expect(await messages.get('main/abc123')).toBe('78 5');
  });

  test('what is about no batch is a message of its own', async () => {
    const { got, url } = await outside(() => ({ status: 200, body: { id: '77' } }));
    const target = discord({ name: 'chat', url: () => url, messages: memory() });
    const said = { ...notice('realm.hold'), summary: null, link: 'https://desk.example/notices' };
    for (const _ of [1, 2]) await target.send(letter(target.body(said), 1, null), signal);
    expect(got.map(({ method }) => method)).toEqual(['POST', 'POST']);
    expect(content(got[0]?.body).content).toBe('Something is so.\nhttps://desk.example/notices');
  });

  test('tells what waits for a person', () => {
    const lost: BatchSummary['waiting'][number] = {
      why: 'missing-session',
      message: 'Session bb was last seen long ago.',
      orders: 2,
      tokens: '20',
      since: summary.createdAt,
      until: null,
      next: 'almoner recover --accept-missing bb',
      session: 'bb',
    };
    const text = messageText(notice('batch.missing-session', { waiting: [lost] }));
    expect(text).toContain('2 orders wait (20 tokens): Session bb was last seen long ago.');
    expect(text).toContain('almoner recover --accept-missing bb');
  });
});

describe('what is news', () => {
  const standing = (event: Matter['event'], mark: string | number): Standing => ({ ...matter(event), mark });
  const news = (now: Standing[], marks: Record<string, string | number> | null) =>
    newsOf(now, marks === null ? null : { marks }).map(({ event }) => event);

  test('what was never told, what changed, and doubts when there are more', () => {
    expect(news([standing('batch.halted', 'A')], null)).toEqual(['batch.halted']);
    expect(news([standing('batch.halted', 'A')], { 'batch.halted': 'A' })).toEqual([]);
    expect(news([standing('batch.halted', 'B')], { 'batch.halted': 'A' })).toEqual(['batch.halted']);
    expect(news([standing('batch.doubt', 3)], { 'batch.doubt': 2 })).toEqual(['batch.doubt']);
    expect(news([standing('batch.doubt', 1)], { 'batch.doubt': 2 })).toEqual([]);
  });
});

let desk: TestDesk;

/** A desk, an outbox on its store with a clock to move, and what it tells to one place. */
async function withOutbox(target: Target) {
  desk = await startDesk();
  closers.push(() => desk.close());
  const clock = { now: Date.now() };
  const { logger, lines } = logged();
  const make = () =>
    new Outbox(desk.app.scripts, { targets: [target], logger, stop: signal, now: () => clock.now });
  const put = (box: Outbox, n: number) =>
    box.put({
      id: noticeId(target.name, { ...matter('batch.doubt'), mark: n }),
      target: target.name,
      event: 'batch.doubt',
      realm: 'main',
      batch: 'abc123',
      message: `doubt ${n}`,
      thread: null,
      body: JSON.stringify({ n }),
      at: clock.now,
    });
  return { clock, make, put, lines };
}

describe('the outbox', () => {
  test('loses nothing while a receiver is away for an hour, and sends each under one id', async () => {
    const away = { is: true };
    const { got, url } = await outside(() => ({ status: away.is ? 503 : 200 }));
    const { clock, make, put } = await withOutbox(webhook({ name: 'main: webhook', url, secret: null }));
    const first = make();
    const hourLater = clock.now + 3_600_000;
    for (let n = 0; clock.now < hourLater; n++) {
      if (n < 30) {
        await put(first, n);
        // Whoever is not sure whether it was put puts it again.
        await put(make(), n);
      }
      await first.drain();
      clock.now += 60_000;
    }
    const tried = got.length;
    expect(tried).toBeGreaterThan(30);
    away.is = false;
    // Another desk goes on with what the first has left.
    const second = make();
    for (let hour = 0; hour < 3; hour++) {
      clock.now += 3_600_000;
      for (let round = 0; round < 4; round++) await second.drain();
    }
    const arrived = got.slice(tried).map(({ headers }) => String(headers['webhook-id']));
    expect(new Set(arrived).size).toBe(30);
    expect(arrived).toHaveLength(30);
    const seen = new Map(got.map(({ headers, body }) => [String(headers['webhook-id']), body]));
    expect(seen.size).toBe(30);
    expect(await second.waiting()).toBe(0);
    const { deliveries } = await second.page(0, 100);
    expect(new Set(deliveries.map(({ state }) => state))).toEqual(new Set(['delivered']));
  });

  test('tries for a day, then gives up aloud, and sends again under the same id when asked', async () => {
    const away = { is: true };
    const { got, url } = await outside(() => ({ status: away.is ? 404 : 200 }));
    const { clock, make, put, lines } = await withOutbox(
      webhook({ name: 'main: webhook', url, secret: null }),
    );
    const box = make();
    const begun = clock.now;
    await put(box, 1);
    for (let round = 0; round < 100 && (await box.waiting()) > 0; round++) {
      await box.drain();
      const [one] = (await box.page(0, 1)).deliveries;
      clock.now = Math.max(clock.now + 1, Date.parse(one?.nextAt ?? '') || 0);
    }
    expect(got).toHaveLength(RETRY_MS.length + 1);
    expect((clock.now - begun) / 3_600_000).toBeGreaterThan(23);
    const [given] = (await box.page(0, 10)).deliveries;
    expect(given).toMatchObject({ state: 'given-up', status: 404, why: 'it answered with status 404' });
    expect(lines.join('')).toContain('given up');
    expect(lines.join('')).not.toMatch(/secret-part/);
    away.is = false;
    await box.replay(given?.id ?? '');
    await box.drain();
    expect(got.at(-1)?.headers['webhook-id']).toBe(given?.id);
    expect((await box.page(0, 10)).deliveries).toMatchObject([{ state: 'delivered' }]);
  });

  test('sends a letter once when two desks drain at the same moment, and again when one died over it', async () => {
    const { got, url } = await outside(() => ({ status: 200 }));
    const target = webhook({ name: 'main: webhook', url, secret: null });
    const { clock, make, put } = await withOutbox(target);
    const [one, other] = [make(), make()];
    await put(one, 1);
    await Promise.all([one.drain(), other.drain()]);
    expect(got).toHaveLength(1);
    // A desk that was killed between its claim and the answer: the claim passes.
    await put(one, 2);
    const stopped = new AbortController();
    stopped.abort();
    const dying = new Outbox(desk.app.scripts, {
      targets: [target],
      logger: logged().logger,
      stop: stopped.signal,
      now: () => clock.now,
    });
    await dying.drain();
    await other.drain();
    expect(got).toHaveLength(1);
    clock.now += 31_000;
    await other.drain();
    expect(got).toHaveLength(2);
  });
});

/** A desk whose notices all go to one place outside. */
async function telling(answer: Parameters<typeof outside>[0] = () => ({ status: 200 })) {
  const { got, url } = await outside(answer);
  const target = webhook({ name: 'all realms: webhook', url, secret: null });
  desk = await startDesk();
  closers.push(() => desk.close());
  const start = (more: Partial<ConstructorParameters<typeof Notifier>[0]> = {}) => {
    const { logger } = logged();
    const { app, server } = desk;
    const outbox = new Outbox(app.scripts, { targets: [target], logger, stop: signal });
    const notifier = new Notifier({
      board: server.desk.board,
      scripts: app.scripts,
      outbox,
      targets: () => [target],
      link: (path) => `https://desk.example${path}`,
      logger,
      stop: signal,
      lookEveryMs: 20,
      ...more,
    });
    closers.push(() => notifier.close());
    return notifier;
  };
  const bodies = () => got.map(({ body }) => z.looseObject({ type: z.string() }).parse(JSON.parse(body)));
  return { got, start, bodies };
}

async function startFile(text: string, rows: number, tokens: string): Promise<string> {
  const sent = await desk.call('/api/uploads?name=a.csv', { method: 'POST', body: text });
  const { upload } = z.object({ upload: z.string() }).parse(sent.json());
  const reply = await desk.call(`/api/uploads/${upload}/start`, { method: 'POST', body: { rows, tokens } });
  return JSON.stringify(reply.json());
}

describe('the notifier', () => {
  test('tells of a batch that a worker finishes once, also by a desk that was started anew', async () => {
    const { start, bodies } = await telling();
    const notifier = start();
    await desk.startWorker();
    await startFile('member,tokens\n1,5\n2,5\n', 2, '10');
    await until('the notice', () => bodies().length > 0);
    await notifier.close();
    start();
    const told = toldNotes(desk.app.scripts);
    await until('the new one to have looked', async () =>
      [...(await told.subjects.all()).values()].some(({ marks }) => marks['batch.finished'] !== undefined),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(bodies()).toEqual([
      expect.objectContaining({
        type: 'batch.finished',
        data: expect.objectContaining({ state: 'done', counts: { paid: 2 } }),
      }),
    ]);
  });

  test('of an end that came while no desk ran it tells however late, but not of history before its first look', async () => {
    const { start, bodies } = await telling();
    await desk.startWorker();
    await startFile('member,tokens\n1,5\n', 1, '5');
    const over = async (count: number) =>
      (await desk.server.desk.board.look()).seen.filter(({ view }) => view.state === 'done').length === count;
    await until('the first end', () => over(1));
    const now = Date.now;
    const later = vi.spyOn(Date, 'now').mockImplementation(() => now() + 11 * 60_000);
    try {
      let notifier = start();
      const told = toldNotes(desk.app.scripts);
      await until('a first look', async () => (await told.subjects.get('the desk')) !== null);
      await notifier.close();
      later.mockRestore();
      await startFile('member,tokens\n2,7\n', 1, '7');
      await until('the second end', () => over(2));
      vi.spyOn(Date, 'now').mockImplementation(() => now() + 11 * 60_000);
      notifier = start();
      await until('the notice', () => bodies().length > 0);
      // A desk whose picture is old writes old marks: the same occurrence is the same letter.
      for (const subject of (await told.subjects.all()).keys())
        if (subject !== 'the desk') await told.subjects.put(subject, { marks: {} });
      await until('it to be told again', async () =>
        [...(await told.subjects.all())].every(
          ([subject, { marks }]) => subject === 'the desk' || marks['batch.finished'] !== undefined,
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      await notifier.close();
      expect(bodies().filter(({ type }) => type === 'batch.finished').length).toBeLessThanOrEqual(2);
      const ids = new Set((await desk.server.desk.notices.outbox.page(0, 50)).deliveries.map(({ id }) => id));
      expect(ids.size).toBe(bodies().length);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test('says what waits for a person on the desk, and a pause to the outside', async () => {
    const { start, bodies } = await telling();
    start();
    await startFile('member,tokens\n1,5\n2,5\n', 2, '10');
    const overview = z.object({
      matters: z.array(z.object({ event: z.enum(NOTICE_EVENTS), batch: z.string().nullable() })),
      batches: z.array(z.object({ batch: z.string() })),
    });
    const look = async () => overview.parse((await desk.call('/api/overview')).json());
    let batch = '';
    await until('the batch', async () => {
      batch = (await look()).batches[0]?.batch ?? '';
      return batch !== '';
    });
    // Nobody works it, but an import before its worker is no news at first.
    expect((await look()).matters).toEqual([]);
    await desk.call(`/api/batches/${batch}/pause`, { method: 'POST', body: {} });
    await until('the notice', () => bodies().length > 0);
    expect((await look()).matters).toEqual([{ event: 'batch.paused', batch }]);
    expect(bodies()).toMatchObject([
      { type: 'batch.paused', data: { batch, link: `https://desk.example/batches/${batch}` } },
    ]);
    await desk.call(`/api/batches/${batch}/resume`, { method: 'POST', body: {} });
    await until('nothing to wait', async () => (await look()).matters.length === 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await desk.call(`/api/batches/${batch}/pause`, { method: 'POST', body: {} });
    await until('the second notice', () => bodies().length > 1);
    expect(bodies().map(({ type }) => type)).toEqual(['batch.paused', 'batch.paused']);
  });

  test('tells of a store that is frozen while it is, and notes it when it is back', async () => {
    const { got, start, bodies } = await telling();
    start({ awayMs: 300 });
    await until('a first look', async () => (await desk.call('/api/notices')).status === 200);
    process.kill(desk.redis.pid, 'SIGSTOP');
    try {
      await until('the notice', () => bodies().length > 0, 60_000);
    } finally {
      process.kill(desk.redis.pid, 'SIGCONT');
    }
    expect(bodies()[0]).toMatchObject({ type: 'store.away', data: { next: 'almoner doctor' } });
    const page = z.object({ deliveries: z.array(z.object({ id: z.string(), state: z.string() })) });
    let deliveries: { id: string; state: string }[] = [];
    await until('the record of it', async () => {
      ({ deliveries } = page.parse((await desk.call('/api/notices')).json()));
      return deliveries.length > 0;
    });
    expect(deliveries).toEqual([{ id: String(got[0]?.headers['webhook-id']), state: 'delivered' }]);
  });
});

describe('the desk', () => {
  test('sends a test where it is asked to, and a letter again', async () => {
    const { got, url } = await outside(() => ({ status: 200 }));
    desk = await startDesk({ config: `notifications: { webhook: { url: "${url}" } }` });
    closers.push(() => desk.close());
    const running = desk.server.desk.notices.start(desk.server.desk.board, null);
    closers.push(() => running.close());
    const page = z.object({
      targets: z.array(z.object({ target: z.string(), place: z.string() })),
      deliveries: z.array(z.object({ id: z.string(), state: z.string(), event: z.string() })),
    });
    const look = async () => page.parse((await desk.call('/api/notices')).json());
    expect((await look()).targets).toEqual([{ target: 'all realms: webhook', place: new URL(url).origin }]);
    const nowhere = await desk.call('/api/notices/test', { method: 'POST', body: { target: 'nowhere' } });
    expect(nowhere.status).toBe(404);
    const asViewer = { method: 'POST', body: { target: 'all realms: webhook' }, as: desk.tokens.viewer };
    expect((await desk.call('/api/notices/test', asViewer)).status).toBe(403);
    await desk.call('/api/notices/test', { method: 'POST', body: { target: 'all realms: webhook' } });
    await until('the test to arrive', async () => (await look()).deliveries[0]?.state === 'delivered');
    const [one] = (await look()).deliveries;
    await desk.call(`/api/notices/${one?.id}/replay`, { method: 'POST', body: {} });
    await until('it to arrive again', () => got.length === 2);
    expect(new Set(got.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([one?.id]));
    const audit = z.object({ entries: z.array(z.object({ what: z.string() })) });
    const { entries } = audit.parse((await desk.call('/api/audit')).json());
    expect(entries.map(({ what }) => what).slice(0, 2)).toEqual([
      `sent notice ${one?.id} again`,
      'sent a test notice to all realms: webhook',
    ]);
  });
});
