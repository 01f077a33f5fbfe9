import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type DeskProcess,
  type RealmProcess,
  spawned,
  startDeskProcess,
  startRealmProcess,
} from '../support/almoner.js';
import { DESKTOP, type DeskPage, launchBrowser, openDesk } from '../support/desk-browser.js';
import { type AppliedChange, type AuditedAdmin, auditedAdmin } from '../support/realm-books.js';
import { freePort, startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

/**
 * An operator's week on real processes: a realm service with a store of its own whose log is the truth, a desk with a
 * worker, commands, a browser that reads every page, and somebody outside who is told. After each day every sum is held
 * against the realm's log.
 */
const REALM = 'guild';
const KEY = 'week-key-0123456789abcdef0123456789abcdef';
const SECRET = `whsec_${Buffer.from('a week of secrets, and one more!').toString('base64')}`;
const MEMBERS = Array.from({ length: 140 }, (_, at) => String(8_100_000 + at));

let folder: string;
let redis: { books: TestRedis; realm: TestRedis };
let admin: AuditedAdmin;
let realmPort: number;
let realm: RealmProcess;
let desk: DeskProcess;
let browser: Browser;
let tab: DeskPage;
let env: NodeJS.ProcessEnv;
const told: { readonly id: string; readonly type: string; readonly message: string }[] = [];
const outside = createServer();

async function startTheRealm(...faults: string[]): Promise<void> {
  const args = ['--port', String(realmPort), '--realm-id', REALM];
  for (const fault of faults) args.push('--fault', fault);
  realm = await startRealmProcess(args, { REDIS_URL: redis.realm.url, ALMONER_API_KEY: KEY }, folder);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-week-'));
  const [books, own] = await Promise.all([startRedis(), startRedis()]);
  redis = { books, realm: own };
  admin = auditedAdmin(own.client());
  await admin.putMembers(
    REALM,
    MEMBERS.map((member) => ({ member, tokens: 1_000_000 })),
  );
  realmPort = await freePort();
  await startTheRealm();
  outside.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const header = (name: string) => String(request.headers[name]);
      const said = new Webhook(SECRET).verify(body, {
        'webhook-id': header('webhook-id'),
        'webhook-timestamp': header('webhook-timestamp'),
        'webhook-signature': header('webhook-signature'),
      });
      const { type, data } = z
        .object({ type: z.string(), data: z.object({ message: z.string() }) })
        .parse(said);
      told.push({ id: header('webhook-id'), type, message: data.message });
      response.end();
    });
  });
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  const place = outside.address();
  const port = typeof place === 'object' ? place?.port : 0;
  env = {
    REDIS_URL: books.url,
    ALMONER_API_KEY: KEY,
    HOOK_SECRET: SECRET,
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_REPORTS: join(folder, 'reports'),
    ALMONER_OPERATOR: 'olga',
  };
  await mkdir(join(folder, 'jobs'));
  await writeFile(
    join(folder, 'almoner.config.yaml'),
    `notifications: { webhook: { url: "http://127.0.0.1:${port}/", secretEnv: HOOK_SECRET } }
realms:
  ${REALM}:
    baseUrl: http://127.0.0.1:${realmPort}
    realmId: ${REALM}
    keyEnv: ALMONER_API_KEY
    certainty: manual
    rate: 40/s
    settleMs: 1500
    timeouts: { connectMs: 1000, tlsMs: 1000, responseMs: 2000, totalMs: 3000 }
`,
  );
  [desk, browser] = await Promise.all([
    startDeskProcess(['--port', '0', '--with-worker'], env, folder),
    launchBrowser(),
  ]);
  tab = await openDesk(browser, desk, { viewport: DESKTOP });
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await desk?.end('SIGTERM');
  await realm?.end('SIGTERM');
  outside.close();
  await Promise.all([redis?.books.stop(), redis?.realm.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const standing = z.looseObject({
  batch: z.string(),
  state: z.string(),
  counts: z.record(z.string(), z.number()),
  tokens: z.record(z.string(), z.string()),
  waiting: z.array(z.looseObject({ why: z.string() })),
});

async function json(...args: string[]) {
  const { status, stdout, stderr } = await spawned([...args, '--json'], { env, cwd: folder });
  if (stdout === '') throw new Error(`${args.join(' ')}: ${stderr}`);
  return { status, said: JSON.parse(stdout), stderr };
}

async function statusOf(batch: string) {
  return standing.parse((await json('status', batch)).said);
}

const csv = (rows: readonly (readonly [member: string | undefined, tokens: number])[]) =>
  ['member,tokens', ...rows.map(([member, tokens]) => `${member},${tokens}`), ''].join('\n');
const write = (name: string, text: string) => writeFile(join(folder, name), text);
const gifts = (from: number, to: number, plus: number) =>
  MEMBERS.slice(from, to).map((member, at) => [member, from + at + plus] as const);

/** What the realm applied since a moment, and its sums. */
async function applied(since = 0): Promise<AppliedChange[]> {
  return (await admin.appliedChanges(REALM)).slice(since);
}
const sumOf = (changes: readonly AppliedChange[], op: AppliedChange['op']) =>
  changes.filter((change) => change.op === op).reduce((sum, { tokens }) => sum + tokens, 0);

/** Everything that the books call paid is in the realm's log, and nothing else is. */
async function tie(): Promise<void> {
  const { said } = await json('status');
  const { batches } = z.object({ batches: z.array(standing) }).parse(said);
  const paid = batches.reduce((sum, { tokens }) => sum + Number(tokens.paid ?? 0), 0);
  const orders = batches.reduce((sum, { counts }) => sum + (counts.paid ?? 0), 0);
  const log = await applied();
  expect(orders).toBe(log.length);
  expect(paid).toBe(log.reduce((sum, { tokens }) => sum + tokens, 0));
}

const PAGES = ['/', '/batches', '/dead', '/doubts', '/import', '/rules', '/notices', '/audit'];
const NEVER = /undefined|\bNaN\b|\[object|Infinity|\b1 (batches|orders|doubts|rows|members|dead letters)\b/;

/** Reads every page as a person would, and the batch's own. */
async function readPages(batch?: string): Promise<Map<string, string>> {
  const { page, complaints, strangers } = tab;
  const words = new Map<string, string>();
  for (const path of [...PAGES, ...(batch === undefined ? [] : [`/batches/${batch}`])]) {
    await page.goto(`${desk.url}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.loading').first().waitFor({ state: 'detached' });
    const text = (await page.locator('main').textContent()) ?? '';
    expect([path, NEVER.exec(text)?.[0] ?? '']).toEqual([path, '']);
    words.set(path, text);
  }
  expect([complaints, strangers]).toEqual([[], []]);
  return words;
}

test('Monday: a file, paid and reported', async () => {
  await write('monday.csv', csv(gifts(0, 100, 1)));
  const { status, said } = await json('run', 'monday.csv', '--yes');
  expect([status, said.state, said.counts]).toEqual([0, 'done', { paid: 100 }]);
  expect(sumOf(await applied(), 'credit')).toBe(5_050);
  const paid = (await readFile(join(said.report, 'paid.csv'), 'utf8')).trimEnd().split('\n');
  expect(paid).toHaveLength(101);
  await tie();
  const words = await readPages(said.batch);
  expect(words.get('/dead')).not.toMatch(/refused/);
  await until('the end to be told', () => told.some(({ type }) => type === 'batch.finished'));
});

test('Tuesday: the same file with thirty rows appended pays the thirty', async () => {
  const before = (await applied()).length;
  await write('tuesday.csv', csv(gifts(0, 130, 1)));
  const refused = await json('run', 'tuesday.csv', '--yes');
  expect(refused.status).toBe(3);
  expect(refused.said.faults[0].code).toBe('ALM_PLAN_LOOKS_PAID');
  expect(await applied(before)).toEqual([]);
  const { status, said } = await json('run', 'tuesday.csv', '--yes', '--new-rows-only');
  expect([status, said.counts]).toEqual([0, { paid: 30, duplicate: 100 }]);
  expect((await applied(before)).map(({ member }) => member).sort()).toEqual(MEMBERS.slice(100, 130));
  await tie();
  await readPages(said.batch);
});

test('Wednesday: the realm is away in the middle, said while it lasts, and nobody is paid twice', async () => {
  const before = (await applied()).length;
  await write('wednesday.csv', csv(gifts(0, 120, 1_000)));
  const { said } = await json('import', 'wednesday.csv', '--yes');
  await until('some payments', async () => (await applied(before)).length > 20, 60_000);
  await realm.end('SIGKILL');
  await until(
    'it to be said',
    async () => (await statusOf(said.batch)).waiting.some(({ why }) => why === 'breaker'),
    90_000,
  );
  const words = await readPages(said.batch);
  expect(words.get(`/batches/${said.batch}`)).toMatch(/cannot be reached|no definite answer/);
  await startTheRealm();
  await until('the end', async () => (await statusOf(said.batch)).state === 'done', 120_000);
  const { counts } = await statusOf(said.batch);
  // What was under way at the kill nobody can know of: the realm's log says which were applied.
  if ((counts.doubt ?? 0) > 0) await resolveByLog(said.batch);
  await retryUnpaid(said.batch);
  const paid = await applied(before);
  expect(new Set(paid.map(({ member }) => member)).size).toBe(120);
  expect(paid).toHaveLength(120);
  await until('its report by itself', async () =>
    readFile(join(folder, 'reports', said.batch, 'summary.json')).catch(() => undefined),
  );
  await tie();
});

/** The operator looks into the realm's log, fills the file of the doubts, and hands it in. */
async function resolveByLog(batch: string): Promise<void> {
  const { report } = (await json('report', batch)).said;
  const [head = '', ...lines] = (await readFile(join(report, 'doubt.csv'), 'utf8')).trimEnd().split('\n');
  const names = head.split(',');
  const keys = new Set((await applied()).map(({ idempotencyKey }) => idempotencyKey));
  const filled = lines.map((line) => {
    const cells = line.split(',');
    const key = cells[names.indexOf('almoner_key')];
    cells[names.indexOf('decision')] = keys.has(key ?? '') ? 'paid' : 'unpaid';
    return cells.join(',');
  });
  await write('doubts.csv', [head, ...filled, ''].join('\n'));
  const settled = 2_000; // the profile's settle time is over
  await new Promise((resolve) => setTimeout(resolve, settled));
  const { status, stderr } = await json(
    'doubt',
    'resolve',
    '--file',
    'doubts.csv',
    '--reason',
    'the log says so',
  );
  expect([status, stderr]).toEqual([0, expect.anything()]);
}

async function retryUnpaid(batch: string): Promise<void> {
  if (((await statusOf(batch)).counts.exhausted ?? 0) === 0) return;
  await json('dead', 'retry', '--batch', batch);
  await until('the retried', async () => (await statusOf(batch)).counts.paid === 120, 60_000);
}

test('Thursday: a wrong file, cancelled half-way, taken back and mended', async () => {
  const before = (await applied()).length;
  const rows = [50_000, 60_000, 70_000, 80_000, 90_000].flatMap((plus) => gifts(0, 140, plus));
  await write('wrong.csv', csv(rows));
  const wrong = (await json('import', 'wrong.csv', '--yes')).said;
  await until('some payments', async () => (await applied(before)).length > 10, 60_000);
  expect((await json('cancel', wrong.batch)).status).toBe(0);
  await until('nothing to be sent any more', async () => {
    const { state, counts } = await statusOf(wrong.batch);
    return state === 'cancelled' && (counts.sending ?? 0) + (counts.unknown ?? 0) === 0;
  });
  const paid = await applied(before);
  expect(paid.length).toBeLessThan(rows.length);
  expect((await statusOf(wrong.batch)).counts.paid).toBe(paid.length);
  await readPages(wrong.batch);
  expect((await json('undo', wrong.batch, '--out', 'undo.csv')).status).toBe(0);
  const undo = await json('run', 'undo.csv', '--yes');
  expect([undo.status, undo.said.counts]).toEqual([0, { paid: paid.length }]);
  const both = await applied(before);
  expect(sumOf(both, 'debit')).toBe(sumOf(both, 'credit'));
  await write('right.csv', csv(gifts(0, 100, 500)));
  const right = await json('run', 'right.csv', '--yes');
  expect([right.status, right.said.counts]).toEqual([0, { paid: 100 }]);
  await tie();
  const words = await readPages(undo.said.batch);
  expect(words.get(`/batches/${undo.said.batch}`)).toMatch(/take/i);
});

test('Friday: answers are lost, and the doubts are ended by a file', async () => {
  const before = (await applied()).length;
  await realm.end('SIGTERM');
  await startTheRealm('reset-after:0.2', 'reset-before:0.2');
  await write('friday.csv', csv(gifts(0, 120, 2_000)));
  const { status, said } = await json('run', 'friday.csv', '--yes');
  expect(status).toBe(4);
  expect(said.counts.doubt).toBeGreaterThan(5);
  const words = await readPages(said.batch);
  expect(words.get('/doubts')).toContain(String(said.counts.doubt));
  await until('the doubts to be told', () => told.some(({ type }) => type === 'batch.doubt'));
  await realm.end('SIGTERM');
  await startTheRealm();
  await resolveByLog(said.batch);
  expect((await statusOf(said.batch)).counts.doubt ?? 0).toBe(0);
  await retryUnpaid(said.batch);
  const paid = await applied(before);
  expect(new Set(paid.map(({ member }) => member)).size).toBe(120);
  expect(paid).toHaveLength(120);
  await tie();
  expect((await readPages(said.batch)).get('/doubts')).not.toMatch(/\bwaits? for your decision/);
});

const rule = (tokens: number) => `name: daily-thanks
realm: ${REALM}
schedule: { cron: "* * * * *", timezone: UTC, missed: once }
period: day
audience: { file: thanked.csv }
award: { tokens: ${tokens} }
limits: { perRun: 100000 }
reason: Thank you
`;
const Listed = z.object({
  rules: z.array(
    z.looseObject({
      rule: z.string(),
      standing: z.looseObject({ outcome: z.string(), isGood: z.boolean(), message: z.string() }).nullable(),
    }),
  ),
});
const standingOf = async () => Listed.parse((await json('rules', 'list')).said).rules[0]?.standing;
const outcome = (wanted: string) =>
  until(`outcome ${wanted}`, async () => (await standingOf())?.outcome === wanted, 150_000);

test('Saturday: a rule approved, changed and approved again; a schedule that fails says so', async () => {
  const before = (await applied()).length;
  const thanked = (to: number) => write('jobs/thanked.csv', `member\n${MEMBERS.slice(0, to).join('\n')}\n`);
  await thanked(10);
  await write('jobs/daily.yaml', rule(7));
  expect((await json('rules', 'sync')).status).toBe(0);
  expect((await standingOf())?.outcome).toBe('waits-for-go');
  expect((await readPages()).get('/rules')).toContain('daily-thanks');
  expect((await json('rules', 'sync', '--approve', 'daily-thanks')).status).toBe(0);
  await outcome('paid');
  expect(sumOf(await applied(before), 'credit')).toBe(70);

  // Changed, it pays nothing before somebody says go again; then only who is missing in the period.
  await thanked(14);
  await write('jobs/daily.yaml', rule(9));
  await outcome('waits-for-go');
  await until('it to be told', () => told.some(({ type }) => type === 'schedule.waits'));
  expect(sumOf(await applied(before), 'credit')).toBe(70);
  expect((await json('rules', 'sync', '--approve', 'daily-thanks')).status).toBe(0);
  await until('the four who were missing', async () => (await applied(before)).length === 14, 150_000);
  expect(sumOf(await applied(before), 'credit')).toBe(70 + 4 * 9);
  await tie();

  // Its audience is gone: within a minute of the next time it is said wherever one looks.
  await rm(join(folder, 'jobs', 'thanked.csv'));
  await outcome('fault');
  await until('it to be told', () => told.some(({ type }) => type === 'schedule.failed'), 30_000);
  // At each minute the next time is planned first, and says so.
  await until(
    'every page to say it',
    async () => {
      const words = await readPages();
      return ['/', '/rules', '/notices'].every((path) => words.get(path)?.includes('thanked.csv'));
    },
    90_000,
  );
  await outcome('fault');
  const metrics = await (
    await fetch(`${desk.url}/metrics`, { headers: { authorization: `Bearer ${desk.token}` } })
  ).text();
  expect(metrics).toMatch(/almoner_schedule_outcome\{[^}]*outcome="fault"\} 0/);
}, 600_000);

test('Sunday: everything told once, under one id, and nothing left to do but the schedule', async () => {
  expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
  const { said } = await json('status');
  const { batches } = z.object({ batches: z.array(standing) }).parse(said);
  for (const { state, counts } of batches) {
    expect(['done', 'cancelled']).toContain(state);
    expect(counts.doubt ?? 0).toBe(0);
  }
  await tie();
});
