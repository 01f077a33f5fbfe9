import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { RecoveryReply } from '../../src/desk/api/recovery.js';
import { ROUTES } from '../../src/desk/http/routes.js';
import { noteMissed } from '../../src/ledger/notes/scheduled-times.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { disarm } from '../../src/ledger/sessions/fence.js';
import { type CallOptions, startDesk, type TestDesk } from '../support/program/desk.js';
import { answered, checkReply } from '../support/program/desk-replies.js';
import { type PickyRealm, startPickyRealm } from '../support/program/picky-realm.js';
import { requireApproval } from '../support/program/require-approval.js';
import { until } from '../support/until.js';

/** Every request of every test of the desk is checked by the schema of its reply; here every route is asked once. */
let realm: PickyRealm;
let desk: TestDesk;

beforeAll(async () => {
  realm = await startPickyRealm();
  // Nobody listens there: what is sent stays in the outbox.
  const config = 'notifications: { webhook: { url: "http://127.0.0.1:9/" } }';
  desk = await startDesk({ env: realm.env, config });
  await mkdir(join(desk.folder, 'jobs'), { recursive: true });
  await writeFile(join(desk.folder, 'jobs', 'gift.yaml'), RULE);
}, 60_000);
afterAll(async () => {
  await desk.close();
  await realm.close();
});

const RULE = `name: gift
realm: picky
schedule: { cron: "0 9 * * 1", timezone: UTC, missed: once }
period: week
audience:
  members: [100001, 100002]
condition: member.id != ""
award:
  tokens: 5
limits: { perRun: 100 }
reason: A gift
`;

async function get(path: string, as: CallOptions = {}): Promise<unknown> {
  const reply = await desk.call(path, as);
  expect([path, reply.status, reply.status < 400 ? '' : reply.text]).toEqual([path, 200, '']);
  return path.includes('/files/') ||
    path.includes('.csv') ||
    path.endsWith('undo') ||
    path.endsWith('faults') ||
    path.endsWith('/file')
    ? null
    : reply.json();
}

async function post(path: string, body: unknown = {}, as: CallOptions = {}): Promise<unknown> {
  const reply = await desk.call(path, { method: 'POST', body, ...as });
  expect([path, reply.status, reply.status < 400 ? '' : reply.text]).toEqual([path, 200, '']);
  return reply.json();
}

const task = z.object({
  task: z.string(),
  state: z.string(),
  result: z.object({ plan: z.string().nullable(), batch: z.string().nullable() }),
});

async function settle(path: string, body: unknown = {}) {
  const begun = task.parse(await post(path, body));
  const ended = await until('the task to end', async () => {
    const now = task.parse(await get(`/api/tasks/${begun.task}`));
    return now.state !== 'running' && now;
  });
  expect(ended.state, JSON.stringify(ended)).toBe('done');
  return ended.result;
}

async function upload(csv: string): Promise<string> {
  return z.object({ upload: z.string() }).parse(await post('/api/uploads?name=a.csv', csv)).upload;
}

async function imported(csv: string): Promise<string> {
  const id = await upload(csv);
  const plan = z
    .object({ rows: z.number(), payable: z.object({ tokens: z.string() }) })
    .parse(await post(`/api/uploads/${id}/plan`));
  await get(`/api/uploads/${id}/faults`);
  await get(`/api/uploads/${id}/file`);
  const confirmed = { rows: plan.rows, tokens: plan.payable.tokens };
  const started = await post(`/api/uploads/${id}/start`, confirmed);
  return z.object({ summary: z.object({ batch: z.string() }) }).parse(started).summary.batch;
}

const summary = z.object({ summary: z.object({ state: z.string() }) });

test('every route answers what the document of the API says, and no field more', async () => {
  const page = await desk.login(desk.tokens.operator);
  expect((await desk.call('/api/logout', { method: 'POST', as: page, body: {} })).status).toBe(200);
  await get('/api/session');
  // Nobody works yet, so that there is something to steer.
  const steered = await imported('member,tokens\n100009,5\n');
  for (const verb of ['pause', 'resume', 'cancel']) await post(`/api/batches/${steered}/${verb}`);
  await desk.startWorker();
  const batch = await imported('member,tokens\n100001,5\n900001,6\n900002,6\n800001,7\n800002,7\n');
  const at = `/api/batches/${batch}`;
  await until('the end', async () => summary.parse(await get(at)).summary.state === 'done', 60_000);
  await get('/api/overview');
  for (const part of ['stats', 'stats.csv', 'statement?month=2026-11', 'statement.csv?month=2026-11'])
    await get(`/api/${part}`);
  await post('/api/realms/picky/pace/reset');
  await get(`/api/find?q=${batch}`);
  await get(`/api/find/orders?q=${batch}-1`);
  await get('/api/batches');
  await get(`${at}/orders`);
  await get(`${at}/audit`);
  await post(`${at}/report`);
  await get(`${at}/files`);
  await get(`${at}/files/results.csv`);
  await get(`${at}/undo`);
  for (const index of [1, 2, 4]) await get(`/api/orders/${batch}-${index}`);
  await get('/api/members/100001/history');

  await get('/api/dead');
  await get('/api/dead/orders');
  await post('/api/dead/count', { batch });
  await settle('/api/dead/discard', { orders: [`${batch}-2`], expect: 1, reason: 'gone' });
  await get('/api/doubts');
  await post('/api/doubts/count', { batch });
  await get('/api/uploads');
  const faulty = await upload('member,tokens\n1,x\n');
  await post(`/api/uploads/${faulty}/plan`);
  await post(`/api/uploads/${faulty}/mend`, { cells: [{ line: 2, column: 'tokens', text: '5' }] });
  await get(`/api/doubts/${batch}-4?now=true`);
  const { which } = z
    .object({ which: z.string() })
    .parse((await desk.call('/api/doubts/count', { method: 'POST', body: { batch } })).json());
  await settle('/api/doubts/resolve', {
    batch,
    which,
    decision: 'unpaid',
    reason: 'asked',
    expect: 2,
    mayArrive: true,
  });
  await settle('/api/dead/retry', { orders: [`${batch}-3`], expect: 1 });
  await get(`/api/orders/${batch}-3`);

  await post('/api/rules/gift/approve', { hash: await hashOfText() });
  const { plan } = await settle('/api/rules/gift/plan');
  const shown = z.object({ awarded: z.number(), tokens: z.string() });
  const { awarded, tokens } = shown.parse(await get(`/api/rule-plans/${plan}`));
  await settle('/api/rules/gift/run', { plan, members: awarded, tokens });
  await get(`/api/rule-runs/${plan}/explain?member=100001`);
  for (const step of ['pause', 'resume', 'skip', 'revoke'])
    await post(`/api/rules/gift/${step}`, { reason: 'why not' });
  await letGo();
  await secondPerson();
  await rollback();
  await get('/api/tasks');
  await get('/api/audit');
  await desk.call('/api/audit.csv');
  const sent = z.object({ id: z.string() });
  const { id } = sent.parse(await post('/api/notices/test', { target: 'all realms: webhook' }));
  await post(`/api/notices/${id}/replay`);
  await get('/api/notices');
  await get('/api/openapi.json');
  expect(
    (await desk.call(`/api/uploads/${await upload('member,tokens\n1,1\n')}`, { method: 'DELETE' })).status,
  ).toBe(200);

  const table = ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(table.filter((place) => !answered.has(place) && place !== 'GET /api/events')).toEqual([]);
}, 120_000);

async function secondPerson(): Promise<void> {
  await requireApproval(desk.app);
  const admin = { as: await desk.server.desk.tokens.add('cleo', ['admin'], 'tester', Date.now()) };
  const made = await post('/api/tokens', { name: 'ben', roles: ['approver'] }, admin);
  const ben = { as: z.object({ token: z.string() }).parse(made).token };
  await get('/api/tokens', admin);
  const shown = z.object({ hash: z.string(), payable: z.object({ tokens: z.string() }) });
  const approved = `/api/approvals/${await imported('member,tokens\n100011,5\n')}`;
  const { hash, payable } = shown.parse(await get(approved, ben));
  await post(approved, { hash, tokens: payable.tokens }, ben);
  const refused = await imported('member,tokens\n100012,5\n');
  await get('/api/approvals');
  const { hash: other } = shown.parse(await get(`/api/approvals/${refused}`, ben));
  await post(`/api/approvals/${refused}/refuse`, { hash: other, reason: 'not meant' }, ben);
  const revoked = await desk.call('/api/tokens/ben', { method: 'DELETE', body: {}, ...admin });
  expect(revoked.status).toBe(200);
}

/** The worker recovers by itself, and a person lets first sends go on. */
function ledgerOfDesk(): RealmLedger {
  const [profile] = desk.app.config.profiles;
  if (profile === undefined) throw new Error('no realm is configured');
  return desk.app.ledger(profile);
}

/** A scheduled time that nobody served. */
async function letGo(): Promise<void> {
  await get('/api/rules/gift/members.csv');
  const at = Date.UTC(2026, 10, 1);
  const missed = { zone: 'UTC', times: [[at, '2026-11-01', 'nothing ran']], older: 0 } as const;
  await noteMissed(ledgerOfDesk(), 'gift', missed);
  await get('/api/calendar');
  await post('/api/rules/gift/dismiss', { times: [new Date(at).toISOString()], reason: 'no longer meant' });
}

async function rollback(): Promise<void> {
  const found = { at: Date.now(), seen: 9, found: 1, by: 'a test', attempts: 1 };
  await disarm(ledgerOfDesk(), found, 'anyway');
  const resumed = await until('the decision', async () => {
    const [story] = RecoveryReply.parse(await get('/api/recovery')).realms;
    return story?.decisions.find(({ kind }) => kind === 'resume');
  });
  const { kind, of, does } = resumed;
  await post('/api/recovery/picky', { kind, of, shown: does });
}

async function hashOfText(): Promise<string> {
  const rules = z.object({ rules: z.array(z.object({ text: z.object({ hash: z.string() }) })) });
  return rules.parse(await get('/api/rules')).rules[0]?.text.hash ?? '';
}

test('a field too many, one too few and one of another kind are found', () => {
  const reply = { method: 'POST', url: 'http://desk/api/logout', status: 200 };
  for (const text of ['{"done":true,"more":1}', '{}', '{"done":"yes"}'])
    expect(() => checkReply({ ...reply, text }), text).toThrow('not as told');
  expect(() => checkReply({ ...reply, text: '{"done":true}' })).not.toThrow();
  expect(() => checkReply({ ...reply, status: 409, text: '{"error":"no"}' })).toThrow('not as told');
});
