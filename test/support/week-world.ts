import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { z } from 'zod';
import {
  type DeskProcess,
  type RealmProcess,
  spawned,
  startDeskProcess,
  startRealmProcess,
} from './almoner.js';
import { DESKTOP, type DeskPage, launchBrowser, openDesk } from './desk-browser.js';
import { type AppliedChange, type AuditedAdmin, auditedAdmin } from './realm-books.js';
import { freePort, startRedis, type TestRedis } from './redis-server.js';
import { until } from './until.js';

/**
 * The world of an operator's week, on real processes: a realm service with a store of its own whose log is the truth, a desk with a
 * worker, commands, a browser that reads every page, and somebody outside who is told. After each day every sum is held
 * against the realm's log.
 */
export const REALM = 'guild';
const KEY = 'week-key-0123456789abcdef0123456789abcdef';
const SECRET = `whsec_${Buffer.from('a week of secrets, and one more!').toString('base64')}`;
export const MEMBERS = Array.from({ length: 140 }, (_, at) => String(8_100_000 + at));

export let folder: string;
let redis: { books: TestRedis; realm: TestRedis };
let admin: AuditedAdmin;
let realmPort: number;
export let realm: RealmProcess;
export let desk: DeskProcess;
let browser: Browser;
let tab: DeskPage;
let env: NodeJS.ProcessEnv;
export const told: { readonly id: string; readonly type: string; readonly message: string }[] = [];
const outside = createServer();

export async function startTheRealm(...faults: string[]): Promise<void> {
  const args = ['--port', String(realmPort), '--realm-id', REALM];
  for (const fault of faults) args.push('--fault', fault);
  realm = await startRealmProcess(args, { REDIS_URL: redis.realm.url, ALMONER_API_KEY: KEY }, folder);
}

export async function startWeek(): Promise<void> {
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
}

export async function endWeek(): Promise<void> {
  await browser?.close();
  await desk?.end('SIGTERM');
  await realm?.end('SIGTERM');
  outside.close();
  await Promise.all([redis?.books.stop(), redis?.realm.stop()]);
  await rm(folder, { recursive: true, force: true });
}

export const standing = z.looseObject({
  batch: z.string(),
  state: z.string(),
  counts: z.record(z.string(), z.number()),
  tokens: z.record(z.string(), z.string()),
  waiting: z.array(z.looseObject({ why: z.string() })),
});

export async function json(...args: string[]) {
  const { status, stdout, stderr } = await spawned([...args, '--json'], { env, cwd: folder });
  if (stdout === '') throw new Error(`${args.join(' ')}: ${stderr}`);
  return { status, said: JSON.parse(stdout), stderr };
}

export async function statusOf(batch: string) {
  return standing.parse((await json('status', batch)).said);
}

export const csv = (rows: readonly (readonly [member: string | undefined, tokens: number])[]) =>
  ['member,tokens', ...rows.map(([member, tokens]) => `${member},${tokens}`), ''].join('\n');
export const write = (name: string, text: string) => writeFile(join(folder, name), text);
export const gifts = (from: number, to: number, plus: number) =>
  MEMBERS.slice(from, to).map((member, at) => [member, from + at + plus] as const);

/** What the realm applied since a moment, and its sums. */
export async function applied(since = 0): Promise<AppliedChange[]> {
  return (await admin.appliedChanges(REALM)).slice(since);
}
export const sumOf = (changes: readonly AppliedChange[], op: AppliedChange['op']) =>
  changes.filter((change) => change.op === op).reduce((sum, { tokens }) => sum + tokens, 0);

/** Everything that the books call paid is in the realm's log, and nothing else is. */
export async function tie(): Promise<void> {
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
export async function readPages(batch?: string): Promise<Map<string, string>> {
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

/** The operator looks into the realm's log, fills the file of the doubts, and hands it in. */
export async function resolveByLog(batch: string): Promise<void> {
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
  // A request that was sent a moment ago may still arrive: before the settle time is over nothing is called unpaid.
  await until('the decisions to be taken', async () => {
    const { status } = await json('doubt', 'resolve', '--file', 'doubts.csv', '--reason', 'the log says so');
    return status === 0;
  });
}

export async function retryUnpaid(batch: string): Promise<void> {
  if (((await statusOf(batch)).counts.exhausted ?? 0) === 0) return;
  await json('dead', 'retry', '--batch', batch);
  await until('the retried', async () => (await statusOf(batch)).counts.paid === 120, 60_000);
}
