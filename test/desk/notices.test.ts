import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { BatchSummary, Matter } from '../../src/desk/api/index.js';
import { newsOf, type Standing } from '../../src/desk/live/matters.js';
import { discord, messageText } from '../../src/desk/notify/discord.js';
import type { Notice } from '../../src/desk/notify/target.js';
import { webhook } from '../../src/desk/notify/webhook.js';
import { outside } from '../support/program/outside.js';

const summary: BatchSummary = {
  batch: 'abc123',
  realm: 'main',
  rehearsal: false,
  currency: null,
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
  again: null,
  worker: 'workers',
  createdAt: '2026-01-01T00:00:00.000Z',
  createdBy: 'olga',
  startedAt: '2026-01-01T00:00:01.000Z',
  finishedAt: null,
  recovered: false,
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

describe('new alerts are', () => {
  const standing = (event: Matter['event'], mark: string | number): Standing => ({ ...matter(event), mark });
  const news = (now: Standing[], marks: Record<string, string | number> | null) =>
    newsOf(now, marks === null ? null : { marks }).map(({ event }) => event);

  test('conditions that were never reported, that changed, and a growing number of doubts', () => {
    expect(news([standing('batch.halted', 'A')], null)).toEqual(['batch.halted']);
    expect(news([standing('batch.halted', 'A')], { 'batch.halted': 'A' })).toEqual([]);
    expect(news([standing('batch.halted', 'B')], { 'batch.halted': 'A' })).toEqual(['batch.halted']);
    expect(news([standing('batch.doubt', 3)], { 'batch.doubt': 2 })).toEqual(['batch.doubt']);
    expect(news([standing('batch.doubt', 1)], { 'batch.doubt': 2 })).toEqual([]);
  });
});
