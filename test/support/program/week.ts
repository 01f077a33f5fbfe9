import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { z } from 'zod';
import { until } from '../until.js';
import { type DeskProcess, startDeskProcess } from './almoner.js';
import { DESKTOP, type DeskPage, launchBrowser, openDesk } from './desk-browser.js';
import { Program, REALM_ID } from './program.js';
import type { AppliedChange } from './realm-records.js';
import { timePasses, wakeUntilNoted } from './schedule-clock.js';

/**
 * The world of an operator's week, on real processes: a realm service with a store of its own, a desk with a worker,
 * commands, a browser that reads every page, and an outside receiver of alerts. The realm's log is the truth. After
 * each day every sum is compared with it.
 */
export const REALM = REALM_ID;
const SECRET = `whsec_${Buffer.from('a week of secrets, and one more!').toString('base64')}`;
export const MEMBERS = Array.from({ length: 140 }, (_, at) => String(8_100_000 + at));

export let program: Program;
export let folder: string;
export let desk: DeskProcess;
let browser: Browser;
let tab: DeskPage;
export const told: { readonly id: string; readonly type: string; readonly message: string }[] = [];
const outside = createServer();

/** A receiver of alerts that checks their signatures with the reference library of the standard. */
async function listenOutside(): Promise<number> {
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
  const address = outside.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

export async function startWeek(): Promise<void> {
  const url = `http://127.0.0.1:${await listenOutside()}/`;
  program = await Program.start({
    store: 'own',
    realmProcess: true,
    members: MEMBERS.map((member) => ({ member, tokens: 1_000_000 })),
    certainty: 'manual',
    rate: '40/s',
    profile: {
      settleMs: 1_500,
      timeouts: { connectMs: 1_000, tlsMs: 1_000, responseMs: 2_000, totalMs: 3_000 },
    },
    config: { notifications: { webhook: { url, secretEnv: 'HOOK_SECRET' } } },
    env: { HOOK_SECRET: SECRET, ALMONER_OPERATOR: 'olga' },
  });
  folder = program.folder;
  await mkdir(join(folder, 'jobs'));
  [desk, browser] = await Promise.all([
    startDeskProcess(['--port', '0', '--with-worker'], program.env, folder),
    launchBrowser(),
  ]);
  tab = await openDesk(browser, desk, { viewport: DESKTOP });
}

export async function endWeek(): Promise<void> {
  await browser?.close();
  await desk?.end('SIGTERM');
  outside.close();
  await program?.end();
}

export const standing = z.looseObject({
  batch: z.string(),
  state: z.string(),
  counts: z.record(z.string(), z.number()),
  tokens: z.record(z.string(), z.string()),
  waiting: z.array(z.looseObject({ why: z.string() })),
});

export async function json(...args: string[]) {
  const { status, stdout, stderr } = await program.run(...args, '--json');
  if (stdout === '') throw new Error(`${args.join(' ')}: ${stderr}`);
  return { status, said: JSON.parse(stdout), stderr };
}

const HOUR_MS = 3_600_000;

/** Makes the next time of an hourly rule due. */
export async function anHourPasses(rule: string): Promise<void> {
  const ledger = program.ledger();
  await timePasses(ledger, program.store, rule, HOUR_MS);
  await wakeUntilNoted(ledger, program.store, rule);
}

export async function statusOf(batch: string) {
  return standing.parse((await json('status', batch)).said);
}

export const csv = (rows: readonly (readonly [member: string | undefined, tokens: number])[]) =>
  ['member,tokens', ...rows.map(([member, tokens]) => `${member},${tokens}`), ''].join('\n');
export const write = (name: string, text: string) => program.file(name, text);
export const gifts = (from: number, to: number, plus: number) =>
  MEMBERS.slice(from, to).map((member, at) => [member, from + at + plus] as const);

/** The changes that the realm applied since a moment. */
export async function applied(since = 0): Promise<AppliedChange[]> {
  return (await program.applied()).slice(since);
}
export const sumOf = (changes: readonly AppliedChange[], op: AppliedChange['op']) =>
  changes.filter((change) => change.op === op).reduce((sum, { tokens }) => sum + tokens, 0);

/** Checks that the realm's log holds exactly the payments that the ledger calls paid. */
export async function tie(): Promise<void> {
  const { said } = await json('status');
  const { batches } = z.object({ batches: z.array(standing) }).parse(said);
  const paid = batches.reduce((sum, { tokens }) => sum + Number(tokens.paid ?? 0), 0);
  const orders = batches.reduce((sum, { counts }) => sum + (counts.paid ?? 0), 0);
  const log = await applied();
  expect(orders).toBe(log.length);
  expect(paid).toBe(log.reduce((sum, { tokens }) => sum + tokens, 0));
}

const PAGES = ['/', '/batches', '/history', '/dead', '/doubts', '/import', '/rules', '/notices', '/audit'];
const NEVER = /undefined|\bNaN\b|\[object|Infinity|\b1 (batches|orders|doubts|rows|members|dead letters)\b/;

/** Reads every page of the desk, and the page of the batch. */
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

/**
 * Resolves doubts as the operator does: looks each one up in the realm's log, fills the file of doubts, and imports it.
 */
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
  // A request may still arrive until the settle time is over. The program accepts no `unpaid` before that.
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
