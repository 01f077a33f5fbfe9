import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { NOTICE_EVENTS } from '../../src/core/notice-events.js';
import type { DeskTimes } from '../../src/desk/http/desk.js';
import { announcedNotes, Notifier } from '../../src/desk/notify/notifier.js';
import { Outbox } from '../../src/desk/notify/outbox.js';
import { webhook } from '../../src/desk/notify/webhook.js';
import { findBatch } from '../../src/ledger/read/batches.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { arm, closeLedger } from '../../src/ledger/sessions/fence.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { closers, logged, outside } from '../support/program/outside.js';
import { until } from '../support/until.js';

const { signal } = new AbortController();
let desk: TestDesk;

/** A desk that sends all alerts to one outside receiver. */
async function telling(times: Partial<DeskTimes> = {}) {
  const { got, url } = await outside(() => ({ status: 200 }));
  const target = webhook({ name: 'all realms: webhook', url, secret: null });
  desk = await startDesk({ options: { times } });
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

/** Until it has looked at everything and sent what is due. */
async function lookedAndClosed(notifier: Notifier): Promise<void> {
  const { redis } = desk.app.scripts;
  await until('a look', async () => (await redis.exists('almoner:notices')) === 1);
  await until('every letter to be sent', async () => (await desk.server.desk.notices.outbox.waiting()) === 0);
  await notifier.close();
}

async function startFile(text: string, rows: number, tokens: string): Promise<string> {
  const sent = await desk.call('/api/uploads?name=a.csv', { method: 'POST', body: text });
  const { upload } = z.object({ upload: z.string() }).parse(sent.json());
  const reply = await desk.call(`/api/uploads/${upload}/start`, { method: 'POST', body: { rows, tokens } });
  return JSON.stringify(reply.json());
}

describe('the notifier', () => {
  test('reports a finished batch once, even from a desk that was restarted', async () => {
    const { start, bodies } = await telling();
    const notifier = start();
    await desk.startWorker();
    await startFile('member,tokens\n1,5\n2,5\n', 2, '10');
    await until('the notice', () => bodies().length > 0);
    await notifier.close();
    await lookedAndClosed(start({ lookEveryMs: 300 }));
    expect(bodies()).toEqual([
      expect.objectContaining({
        type: 'batch.finished',
        data: expect.objectContaining({ state: 'done', counts: { paid: 2 } }),
      }),
    ]);
  });

  test('reports an end that came while no desk ran, but none from before its first look', async () => {
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
      const told = announcedNotes(desk.app.scripts);
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
      await lookedAndClosed(notifier);
      expect(bodies().filter(({ type }) => type === 'batch.finished').length).toBeLessThanOrEqual(2);
      const ids = new Set((await desk.server.desk.notices.outbox.page(0, 50)).deliveries.map(({ id }) => id));
      expect(ids.size).toBe(bodies().length);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test('reports no end while the ledger is closed, because journals may restore more of the batch', async () => {
    const { start, bodies } = await telling();
    const made = z.looseObject({ summary: z.looseObject({ batch: z.string() }) });
    const { batch } = made.parse(JSON.parse(await startFile('member,tokens\n1,5\n', 1, '5'))).summary;
    const { ledger } = await findBatch(desk.app.scripts, batch);
    const { run } = await readFence(ledger);
    expect(await arm(ledger, run, 0)).toMatchObject({ answer: 'armed' });
    await desk.call(`/api/batches/${batch}/cancel`, { method: 'POST', body: {} });
    await closeLedger(ledger, '');
    const { board } = desk.server.desk;
    await until('the ledger to be closed', async () =>
      (await board.look()).overview.realms.some(({ fence }) => fence?.armed === false),
    );
    await lookedAndClosed(start());
    expect(bodies().filter(({ type }) => type === 'batch.finished')).toEqual([]);
    expect(await arm(ledger, run, 0)).toMatchObject({ answer: 'armed' });
    start();
    await until('the notice', () => bodies().some(({ type }) => type === 'batch.finished'));
  });

  test('shows on the desk what waits for a person, and sends an alert for a pause', async () => {
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
    const told = announcedNotes(desk.app.scripts);
    await until('the end of the pause to be noted', async () =>
      [...(await told.subjects.all()).values()].every(({ marks }) => marks['batch.paused'] === undefined),
    );
    await desk.call(`/api/batches/${batch}/pause`, { method: 'POST', body: {} });
    await until('the second notice', () => bodies().length > 1);
    expect(bodies().map(({ type }) => type)).toEqual(['batch.paused', 'batch.paused']);
  });

  test('reports a missing worker once for the realm, however many batches wait', async () => {
    const { start, bodies } = await telling();
    start();
    await startFile('member,tokens\n1,5\n2,5\n', 2, '10');
    await startFile('member,tokens\n3,7\n', 1, '7');
    await startFile('member,tokens\n4,9\n', 1, '9');
    const { board } = desk.server.desk;
    const [paused] = (await board.look()).seen;
    await desk.call(`/api/batches/${paused?.ref.id}/pause`, { method: 'POST', body: {} });
    await until('the pause', () => bodies().length > 0);
    const now = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 46_000);
    try {
      await until('the notice', () => bodies().length > 1);
      await until('the last batch', async () => (await board.look()).overview.matters.length === 2);
      const { overview } = await board.look();
      expect(overview.matters.find(({ event }) => event === 'batch.no-worker')).toMatchObject({
        batch: null,
        message: expect.stringMatching(/Waiting in realm \S+: 2 orders in 2 batches\./),
        next: 'almoner worker',
      });
      expect(overview.realms).toMatchObject([{ waiting: 2 }]);
      await startFile('member,tokens\n5,9\n', 1, '9');
      await until('the batch to be seen', async () => (await board.look()).seen.length === 4);
      await desk.startWorker();
      await until('three ends', () => bodies().filter(({ type }) => type === 'batch.finished').length === 3);
      expect(bodies().filter(({ type }) => type === 'batch.no-worker')).toHaveLength(1);
      const { matters, realms } = (await board.look()).overview;
      expect(matters.map(({ event }) => event)).toEqual(['batch.paused']);
      expect(realms).toMatchObject([{ waiting: 0 }]);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test('reports a frozen store while it lasts, and its return', async () => {
    const { got, start, bodies } = await telling({ lookMs: 200 });
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
      const reply = await desk.call('/api/notices');
      // The desk may not know yet that its store is back.
      if (reply.status !== 200) return false;
      ({ deliveries } = page.parse(reply.json()));
      return deliveries.length > 0;
    });
    expect(deliveries).toEqual([{ id: String(got[0]?.headers['webhook-id']), state: 'delivered' }]);
  });
});

describe('the desk', () => {
  test('sends a test message on request, and a failed message again', async () => {
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
