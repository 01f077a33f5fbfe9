import { describe, expect, test } from 'vitest';
import { noticeId } from '../../src/desk/live/matters.js';
import { Outbox, RETRY_MS } from '../../src/desk/notify/outbox.js';
import type { Target } from '../../src/desk/notify/target.js';
import { webhook } from '../../src/desk/notify/webhook.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { closers, logged, outside } from '../support/program/outside.js';

const { signal } = new AbortController();
let desk: TestDesk;

/** A desk with an outbox on its store, a simulated clock, and one receiver. */
async function withOutbox(target: Target) {
  desk = await startDesk();
  closers.push(() => desk.close());
  const clock = { now: Date.now() };
  const { logger, lines } = logged();
  const make = () =>
    new Outbox(desk.app.scripts, { targets: [target], logger, stop: signal, now: () => clock.now });
  const put = (box: Outbox, n: number) =>
    box.put({
      id: noticeId(target.name, {
        subject: 'main/abc123',
        event: 'batch.doubt',
        mark: n,
        since: '2026-01-01T00:00:01.000Z',
      }),
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
  test('loses no message while a receiver is away for an hour, and sends each under one id', async () => {
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

  test('retries for a day, then reports the failure, and sends again under the same id on request', async () => {
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

  test('sends a message once if two desks drain at the same moment, and again if one died during it', async () => {
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
