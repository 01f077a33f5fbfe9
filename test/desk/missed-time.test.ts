import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { Notifier } from '../../src/desk/notify/notifier.js';
import { Outbox } from '../../src/desk/notify/outbox.js';
import { webhook } from '../../src/desk/notify/webhook.js';
import { noteChange } from '../../src/ledger/moves/note-change.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { closers, logged, outside } from '../support/program/outside.js';
import { type PickyRealm, startPickyRealm } from '../support/program/picky-realm.js';
import { requireApproval } from '../support/program/require-approval.js';
import { confirmAnew } from '../support/program/set-start.js';
import { until } from '../support/until.js';

/** A batch that missed its set time asks a person, at the desk and by an alert, and begins when that person says so. */
const HOUR = 3_600_000;
let realm: PickyRealm;
let desk: TestDesk;
let ada: string;
let ben: string;
beforeAll(async () => {
  realm = await startPickyRealm();
  desk = await startDesk({ env: realm.env });
  const { tokens } = desk.server.desk;
  ada = await tokens.add('ada', ['operator'], 'tester', Date.now());
  ben = await tokens.add('ben', ['approver'], 'tester', Date.now());
}, 60_000);
afterAll(async () => {
  await desk.close();
  await realm.close();
});

const told = z.looseObject({ type: z.string() });
const batchReply = z.object({
  summary: z.object({
    batch: z.string(),
    state: z.string(),
    reason: z.object({ code: z.string() }).nullable(),
  }),
  can: z.array(z.string()),
});

async function say(path: string, as: string, body?: unknown): Promise<unknown> {
  const reply = await desk.call(path, { method: body === undefined ? 'GET' : 'POST', body, as });
  expect([path, reply.status, reply.status < 400 ? '' : reply.text]).toEqual([path, 200, '']);
  return reply.json();
}
const look = async (batch: string) => batchReply.parse(await say(`/api/batches/${batch}`, ada));

function ledger() {
  const [profile] = desk.app.config.profiles;
  if (profile === undefined) throw new Error('no realm is configured');
  return desk.app.ledger(profile);
}

/** Set for an hour from now, and then, because the clock cannot be stepped, for two hours ago. */
async function missed(csv: string, tokens: string): Promise<string> {
  const uploaded = await say('/api/uploads?name=later.csv', ada, csv);
  const { upload } = z.object({ upload: z.string() }).parse(uploaded);
  const begin = new Date(Date.now() + HOUR).toISOString().replace(/\.\d+Z$/, 'Z');
  await say(`/api/uploads/${upload}/plan`, ada, { begin });
  const { summary } = batchReply
    .pick({ summary: true })
    .parse(await say(`/api/uploads/${upload}/start`, ada, { rows: 1, tokens, begin }));
  const { redis } = desk.app.scripts;
  const { keyPrefix } = ledger();
  for (const key of await redis.keys(`${keyPrefix.replace(/[{}]/g, '?')}:b:*`))
    if ((await redis.type(key)) === 'hash' && (await redis.hget(key, 'id')) === summary.batch) {
      await redis.hset(key, 'startAt', Date.now() - 2 * HOUR);
      await confirmAnew(redis, key);
      await noteChange(ledger(), key.split(':').at(-1) ?? '');
    }
  return summary.batch;
}

test('one alert is sent, the desk offers to begin it now, and then it is paid', async () => {
  const { got, url } = await outside(() => ({ status: 200 }));
  const target = webhook({ name: 'all realms: webhook', url, secret: null });
  const { logger } = logged();
  const { signal: stop } = new AbortController();
  const { app, server } = desk;
  const start = () => {
    const notifier = new Notifier({
      ...{ board: server.desk.board, scripts: app.scripts, logger, stop, lookEveryMs: 20 },
      outbox: new Outbox(app.scripts, { targets: [target], logger, stop }),
      targets: () => [target],
      link: (path) => path,
    });
    closers.push(() => notifier.close());
    return notifier;
  };
  await desk.startWorker();
  const batch = await missed('member,tokens\n1,5\n', '5');
  const notices = () => got.map(({ body }) => told.parse(JSON.parse(body)).type);
  const first = start();
  await until('the notice', () => notices().includes('batch.missed'));
  await first.close();
  const { summary, can } = await look(batch);
  expect([summary.state, summary.reason?.code]).toEqual(['planned', 'ALM_BATCH_START_MISSED']);
  expect(can).toEqual(['pause', 'begin', 'cancel', 'report']);

  start();
  await say(`/api/batches/${batch}/resume`, ada, {});
  expect((await look(batch)).summary.state).toBe('planned');
  await say(`/api/batches/${batch}/resume`, ada, { now: true });
  await until('the end', async () => (await look(batch)).summary.state === 'done');
  await until('the last notice', () => notices().includes('batch.finished'));
  expect(notices()).toEqual(['batch.missed', 'batch.finished']);
}, 60_000);

test('an approver is told after it that it begins at once, and it does', async () => {
  await requireApproval(desk.app, { overTokens: 100, overRows: null });
  const batch = await missed('member,tokens\n1,500\n', '500');
  // First the second person; that its time is over is theirs to see.
  expect((await look(batch)).summary.reason?.code).toBe('ALM_BATCH_APPROVAL');
  const { hash, after } = z
    .object({ hash: z.string(), after: z.string() })
    .parse(await say(`/api/approvals/${batch}`, ben));
  expect(after).toMatch(/Its set time, \S+ \S+ UTC, is over\. It begins as soon as a worker takes it\.$/);
  await say(`/api/approvals/${batch}`, ben, { hash, tokens: '500' });
  await until('the end', async () => (await look(batch)).summary.state === 'done');
}, 60_000);

test('a time under another name than the API’s is refused, and not taken for “at once”', async () => {
  const { upload } = z
    .object({ upload: z.string() })
    .parse(await say('/api/uploads?name=x.csv', ada, 'member,tokens\n1,5\n'));
  for (const [step, body] of Object.entries({ plan: {}, start: { rows: 1, tokens: '5' } })) {
    const path = `/api/uploads/${upload}/${step}`;
    const reply = await desk.call(path, { method: 'POST', as: ada, body: { ...body, at: '18:00' } });
    expect([step, reply.status]).toEqual([step, 400]);
  }
});
