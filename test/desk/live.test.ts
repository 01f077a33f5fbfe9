import { once } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, request } from 'node:http';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { BatchReply } from '../../src/desk/api/batches.js';
import { Overview } from '../../src/desk/api/overview.js';
import { Live } from '../../src/desk/live/live.js';
import { withChanges } from '../../src/desk/web/live/changes.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

let desk: TestDesk;
const open: ClientRequest[] = [];

beforeAll(async () => {
  desk = await startDesk();
});
afterEach(() => {
  for (const line of open.splice(0)) line.destroy();
});
afterAll(() => desk.close());

const SHAPES = new Map<string, z.ZodType>([
  ['overview', Overview],
  ['batch', BatchReply],
]);

type Event = { readonly event: string; readonly data: unknown };

/** An EventSource with nothing hidden: every event that came so far. */
async function listen(path: string, headers: Record<string, string>) {
  const events: Event[] = [];
  const kinds: string[] = [];
  let shown: unknown;
  let ended = false;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${desk.url}${path}`, { headers, agent: false }, resolve);
    sent.on('error', reject);
    open.push(sent);
    sent.end();
  });
  let text = '';
  response.on('error', () => {});
  response.on('close', () => {
    ended = true;
  });
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
    for (let cut = text.indexOf('\n\n'); cut >= 0; cut = text.indexOf('\n\n')) {
      const [first = '', second = ''] = text.slice(0, cut).split('\n');
      text = text.slice(cut + 2);
      if (!first.startsWith('event: ')) continue;
      const [event, data] = [first.slice(7), JSON.parse(second.slice('data: '.length))];
      if (event !== 'bye') SHAPES.get(event)?.parse(data);
      kinds.push(event);
      // What changed since, as a page puts it together.
      if (event === 'changes') shown = Overview.parse(withChanges(Overview.parse(shown), data));
      if (event === 'overview') shown = data;
      events.push(event === 'changes' ? { event: 'overview', data: shown } : { event, data });
    }
  });
  return { response, events, kinds, ended: () => ended };
}

const overview = z.object({ batches: z.array(z.object({ batch: z.string(), state: z.string() })) });
const batchEvent = z.object({
  summary: z.object({ batch: z.string(), counts: z.record(z.string(), z.number()) }),
});

async function importRows(first: number, count: number): Promise<string> {
  const rows = Array.from({ length: count }, (_, i) => `${first + i},1`).join('\n');
  const sent = await desk.call('/api/uploads?name=live.csv', {
    method: 'POST',
    body: `member,tokens\n${rows}\n`,
  });
  const { upload } = z.object({ upload: z.string() }).parse(sent.json());
  const body = { rows: count, tokens: String(count) };
  const reply = await desk.call(`/api/uploads/${upload}/start`, { method: 'POST', body });
  return z.object({ summary: z.object({ batch: z.string() }) }).parse(reply.json()).summary.batch;
}

describe('the live line', () => {
  test('requires a signed-in user', async () => {
    const { response } = await listen('/api/events', {});
    expect(response.statusCode).toBe(401);
  });

  test('sends a full snapshot at once, then a worker’s changes, until the batch is done', async () => {
    const page = await desk.login(desk.tokens.viewer);
    const id = await importRows(100, 40);
    const { response, events, kinds } = await listen(`/api/events?batch=${id}`, { cookie: page.cookie });
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(response.headers['content-security-policy']).toContain("script-src 'self'");
    await until('the first picture', () => events.some(({ event }) => event === 'overview'));
    await desk.startWorker();
    await until('the batch to be seen done', () =>
      events.some(
        ({ event, data }) =>
          event === 'overview' &&
          overview.parse(data).batches.some(({ batch, state }) => batch === id && state === 'done'),
      ),
    );
    expect(kinds.filter((kind) => kind === 'overview')).toHaveLength(1);
    expect(kinds).toContain('changes');
    await until('its own event with all paid', () =>
      events.some(
        ({ event, data }) => event === 'batch' && batchEvent.parse(data).summary.counts.paid === 40,
      ),
    );
  });

  test('is silent while nothing changes, and sends the same snapshot to a new connection', async () => {
    const headers = { authorization: `Bearer ${desk.tokens.viewer}` };
    const first = await listen('/api/events', headers);
    await until('the first picture', () => first.events.length > 0);
    const again = await listen('/api/events', headers);
    await until('the picture again', () => again.events.length > 0);
    expect(overview.parse(again.events[0]?.data)).toEqual(overview.parse(first.events.at(-1)?.data));
  });

  test('holds a bounded number of pages for one person and forgets those that left', async () => {
    const headers = { authorization: `Bearer ${desk.tokens.viewer}` };
    await until('earlier pages to be forgotten', () => desk.server.desk.live.clients === 0);
    for (let i = 0; i < 20; i++) expect((await listen('/api/events', headers)).response.statusCode).toBe(200);
    expect((await listen('/api/events', headers)).response.statusCode).toBe(429);
    for (const line of open.splice(0)) line.destroy();
    await until('all to be forgotten', () => desk.server.desk.live.clients === 0);
  });
});

describe('a line that cannot be served', () => {
  test('is refused before it opens where its batch does not exist', async () => {
    const headers = { authorization: `Bearer ${desk.tokens.viewer}` };
    const { response } = await listen('/api/events?batch=nothing', headers);
    expect(response.statusCode).toBe(404);
  });

  test('never keeps the line of a revoked token open', async () => {
    const own = await startDesk({ options: { times: { heartbeatMs: 100 } } });
    const before = desk;
    desk = own;
    try {
      const token = await own.server.desk.tokens.add('rita', ['viewer'], 'tester', Date.now());
      const other = await listen('/api/events?batch=nothing', {
        authorization: `Bearer ${own.tokens.viewer}`,
      });
      const line = await listen('/api/events', { authorization: `Bearer ${token}` });
      await until('the first picture', () => line.events.length > 0);
      await own.server.desk.tokens.revoke('rita');
      await until('the line to end', () => line.ended());
      expect(line.events.at(-1)?.event).toBe('bye');
      other.response.destroy();
    } finally {
      desk = before;
      await own.close();
    }
  });

  test('fails alone: the others get snapshots and heartbeats, and a revoked user is disconnected', async () => {
    const warned: unknown[] = [];
    const logger = pino({ level: 'warn' }, { write: (text: string) => void warned.push(text) });
    const picture = (value: string) => ({ value, essence: value });
    const live = new Live(
      {
        overview: async () => picture('all'),
        changes: (_, now) => now,
        batch: (id) => {
          if (id === 'broken') return Promise.reject(new Error('no such batch'));
          return id === 'hangs' ? new Promise(() => {}) : Promise.resolve(picture(id));
        },
      },
      logger,
      { tickMs: 20, heartbeatMs: 50 },
    );
    const welcome: Record<string, () => Promise<boolean>> = {
      revoked: async () => false,
      unknown: () => Promise.reject(new Error('the store is away')),
      silent: () => new Promise(() => {}),
    };
    const server = createServer((asked, out) => {
      const [who = '', batch = ''] = (asked.url ?? '').slice(1).split('/');
      live.add({
        out,
        who,
        batch: batch === '' ? null : batch,
        stillWelcome: welcome[who] ?? (async () => true),
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = z.object({ port: z.number() }).parse(server.address());
    const read = async (path: string) => {
      const line = { text: '', ended: false };
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      void (async () => {
        for await (const chunk of response.body ?? []) line.text += Buffer.from(chunk).toString('utf8');
        line.ended = true;
      })();
      return line;
    };
    try {
      for (const path of ['/a/broken', '/b/hangs', '/silent/', '/unknown/']) await read(path);
      const fine = await read('/c/fine');
      const revoked = await read('/revoked/broken');
      await until('the revoked line to end', () => revoked.ended);
      expect(revoked.text).toContain('event: bye');
      await until('two heartbeats', () => fine.text.split(': still here').length > 2);
      expect(fine.text).toContain('event: overview\ndata: "all"');
      expect(fine.text).toContain('event: batch\ndata: "fine"');
      expect(fine.ended).toBe(false);
      expect(warned).toHaveLength(1);
    } finally {
      live.close();
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('stopping', () => {
  test('the desk says goodbye to open pages', async () => {
    const own = await startDesk();
    const before = desk;
    desk = own;
    const line = await listen('/api/events', { authorization: `Bearer ${own.tokens.viewer}` });
    await until('the first picture', () => line.events.length > 0);
    desk = before;
    await own.close();
    await until('the line to end', () => line.ended());
    expect(line.events.at(-1)?.event).toBe('bye');
  });
});
