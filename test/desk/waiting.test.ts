import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { beginSending } from '../../src/ledger/moves/begin-sending.js';
import { isPlannedOrder } from '../../src/ledger/plan-block.js';
import { findBatch } from '../../src/ledger/read/batches.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { feed } from '../support/ledger/feed-one.js';
import { WHY } from '../support/ledger/order-moves.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

/** The desk, its metrics and its API report waiting orders from the same source as the command line. */
let desk: TestDesk;
let batch: string;

beforeAll(async () => {
  desk = await startDesk();
  const body = 'member,tokens\n1,5\n2,7\n3,11\n';
  const sent = await desk.call('/api/uploads?name=a.csv', { method: 'POST', body });
  const { upload } = z.object({ upload: z.string() }).parse(sent.json());
  const started = await desk.call(`/api/uploads/${upload}/start`, {
    method: 'POST',
    body: { rows: 3, tokens: '23' },
  });
  batch = z.object({ summary: z.object({ batch: z.string() }) }).parse(started.json()).summary.batch;
});
afterAll(() => desk.close());

const metric = async (name: string) => {
  const line = (await desk.call('/metrics')).text.split('\n').find((one) => one.startsWith(name));
  return line === undefined ? null : Number(line.split(' ').at(-1));
};

test('orders that wait for a worker: in the list, on the batch’s page, and as a metric', async () => {
  const waiting = [
    expect.objectContaining({
      why: 'no-worker',
      orders: 3,
      tokens: '23',
      until: null,
      next: 'almoner worker',
      session: null,
    }),
  ];
  const overview = (await desk.call('/api/overview')).json();
  expect(overview).toMatchObject({ batches: [{ batch, waiting, etaSeconds: null }] });
  expect((await desk.call(`/api/batches/${batch}`)).json()).toMatchObject({ summary: { batch, waiting } });
  expect(await metric('almoner_orders_waiting{')).toBe(3);
  expect(await metric('almoner_sessions_missing{')).toBe(0);
});

test('a sender that is lost with an order in its hands', async () => {
  const ref = await findBatch(desk.app.scripts, batch);
  const { ledger, no } = ref;
  const { redis } = ledger.scripts;
  const lost = await Session.open('worker', desk.app.config.dataFolder);
  await lost.register(ledger);
  await feed(ledger, no, 3, '');
  const row = await new PlanReader(ledger).row(no, 2);
  if (!isPlannedOrder(row)) throw new Error('row 2 is an order');
  const terms = { certainty: 'manual', currency: null, keyLifetimeMs: 60_000 } as const;
  const manifest = { batch: ref.id, again: null, table: null };
  const request = { manifest, nonce: 'n', row, terms, dayCap: null, resend: null, before: null };
  const begun = await beginSending(ledger, { no, index: 2 }, { ...request, capReason: WHY, hold: '' });
  expect('refusal' in begun).toBe(false);
  const far = { machine: 'away', boot: 'another', socket: '/nowhere/x.sock', placeId: 'another' };
  await redis.hset(`${ledger.keyPrefix}:sessions`, lost.id, JSON.stringify({ ...lost.entry, ...far }));
  await redis.hset(`${ledger.keyPrefix}:seen`, lost.id, Date.now() - 50_000);
  await until('the metric', async () => (await metric('almoner_sessions_missing{')) === 1);
  const page = (await desk.call(`/api/batches/${batch}`)).json();
  expect(page).toMatchObject({
    summary: {
      waiting: [
        { why: 'no-worker', orders: 2, tokens: '16' },
        {
          why: 'missing-session',
          orders: 1,
          tokens: '7',
          session: lost.id,
          next: 'almoner recover',
        },
      ],
    },
  });
  await lost.close();
});

test('a closed realm: its batches say so in the list until it is open again', async () => {
  const { ledger } = await findBatch(desk.app.scripts, batch);
  const states = z.object({ batches: z.array(z.object({ state: z.string() })) });
  const shown = async () => states.parse((await desk.call('/api/batches')).json()).batches[0]?.state;
  const before = await shown();
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'fenceReason', JSON.stringify(WHY));
  await until('the list to say it', async () => (await shown()) === 'halted');
  await ledger.scripts.redis.hdel(ledger.keyPrefix, 'fenceReason');
  await until('the list to take it back', async () => (await shown()) === before);
});
