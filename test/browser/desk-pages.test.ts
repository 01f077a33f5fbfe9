import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { almoner, type DeskProcess, startAlmoner, startDeskProcess } from '../support/program/almoner.js';
import { ask } from '../support/program/desk.js';
import {
  DESKTOP,
  type DeskPage,
  flaws,
  launchBrowser,
  openDesk,
  PHONE,
  seriousFindings,
} from '../support/program/desk-browser.js';
import { DeskOperator } from '../support/program/desk-operator.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { isLong } from '../support/suites.js';
import { until } from '../support/until.js';

/** The pages themselves, on a desk without a worker, over the batch of a rehearsal and a store that was started again. */

const MEMBERS = Array.from({ length: 30 }, (_, at) => String(5_001 + at));
const ATTACK = '"><img src=x onerror=alert(1)><script>alert(1)</script>';

let redis: TestRedis;
let folder: string;
let env: NodeJS.ProcessEnv;
let desk: DeskProcess;
let browser: Browser;
let opened: DeskPage;
let page: Page;
let batch: string;

beforeAll(async () => {
  redis = await startRedis();
  folder = await mkdtemp(join(tmpdir(), 'almoner-desk-'));
  env = {
    REDIS_URL: redis.url,
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_REPORTS: join(folder, 'reports'),
  };
  const rows = MEMBERS.map(
    (member, at) => `${member},${at + 1},gift-${at},"${ATTACK.replaceAll('"', '""')}"\n`,
  );
  await writeFile(join(folder, 'gifts.csv'), `member,tokens,reference,reason\n${rows.join('')}`);
  await writeFile(join(folder, 'paid.csv'), 'member,tokens\n1001,5\n');
  await almoner(['run', 'paid.csv', '--yes', '--json'], { env, cwd: folder });
  await almoner(['rehearse', 'gifts.csv'], { env, cwd: folder });
  await redis.kill();
  await redis.restart();
  [desk, browser] = await Promise.all([startDeskProcess(['--port', '0'], env, folder), launchBrowser()]);
  batch = await newestBatch();
  opened = await openDesk(browser, desk, { viewport: DESKTOP });
  page = opened.page;
});
afterAll(async () => {
  await browser?.close();
  await desk?.end('SIGTERM');
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

const Batches = z.object({ batches: z.array(z.object({ batch: z.string() })) });

async function newestBatch(): Promise<string> {
  const headers = { authorization: `Bearer ${desk.token}` };
  const reply = await fetch(`${desk.url}/api/batches`, { headers });
  const [newest] = Batches.parse(await reply.json()).batches;
  if (newest === undefined) throw new Error('the rehearsal left no batch');
  return newest.batch;
}

const places = () => page.getByRole('navigation', { name: 'Desk' });
const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

test('the printed link signs in and leaves no token in the address; a wrong token is refused in words', async () => {
  expect(page.url()).toBe(`${desk.url}/`);
  // A refused request is an error of the console: this visitor has a page of their own.
  const { page: visitor } = await openDesk(browser, desk, { viewport: DESKTOP });
  await visitor.getByRole('button', { name: 'Sign out' }).click();
  await visitor.getByLabel('Desk token').fill('almdesk_no');
  const help = (await visitor.locator('#token-help').allInnerTexts()).join(' ');
  expect(help).toContain('good until the desk stops');
  expect(help).not.toContain('one-time');
  expect(await flaws(visitor, 'login')).toEqual([]);
  await visitor.getByRole('button', { name: 'Sign in' }).click();
  await visitor.getByText('Nobody was signed in').waitFor();
  await visitor.context().close();
});

test('if no order was sent since the store started, the desk opens the ledger without recovery', async () => {
  expect(await page.locator('main').textContent()).not.toMatch(/is closed|Closed: |almoner recover/);
  const metrics = await ask(`${desk.url}/metrics`, { as: desk.token });
  expect(metrics.text).toMatch(/almoner_fence_armed\{realm="[^"]+"\} 1/);
});

test('a rehearsal is labelled everywhere, and a script in a CSV cell stays text', async () => {
  const rehearsal = () => page.getByText('REHEARSAL').first().waitFor();
  await rehearsal();
  await places().getByRole('link', { name: 'Batches' }).click();
  await heading('Batches');
  await rehearsal();
  await page.getByRole('link', { name: 'gifts.csv' }).first().click();
  await heading('gifts.csv');
  await rehearsal();
  await until('the title to say so', async () => (await page.title()).includes('REHEARSAL'));
  expect(await flaws(page, 'rehearsal')).toEqual([]);
  await page.goto(`${desk.url}/orders/${batch}-1`);
  await heading(`Order ${batch}-1`);
  await rehearsal();
  await page.getByText(ATTACK).first().waitFor();
  expect(await page.locator('#desk img, #desk script').count()).toBe(0);
});

test('a shared address opens the same view, a heading takes the focus after a link, and colours outlive the page', async () => {
  await page.goto(`${desk.url}/batches/${batch}?state=paid&q=gift-0`);
  await page.locator('table.orders tbody tr').first().waitFor();
  expect(await page.getByLabel('Search').inputValue()).toBe('gift-0');
  expect(await page.getByLabel('State', { exact: true }).inputValue()).toBe('paid');
  await places().getByRole('link', { name: 'Audit' }).click();
  await heading('Audit');
  await until('the heading to have the focus', async () =>
    page.evaluate("document.activeElement?.textContent === 'Audit'"),
  );
  await page.getByLabel('Colours').selectOption('dark');
  await page.reload();
  await heading('Audit');
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  await page.getByLabel('Colours').selectOption('light');
});

if (isLong)
  test('a file of debits is not confirmed as a payment, and a missing worker is reported before and after the start', async () => {
    const text = async () => (await page.locator('main').allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ');
    // In a window of its own: a tab behind another one is drawn once a second.
    const { page: overview } = await openDesk(browser, desk, { viewport: DESKTOP });
    await overview.getByText('Lately ended').waitFor();
    const operator = new DeskOperator(page);
    await page.setViewportSize(PHONE);
    await operator.goTo('Import');
    // A warning names the switch of the page, not the option of a command.
    await operator.planned(() => operator.choose('both.csv', ['5001,50', '5001,-20']));
    expect(await text()).toContain('if it matters (“Strictly in file order”, below).');
    expect(await text()).not.toContain('--in-order');
    await page.getByRole('button', { name: 'Another file' }).click();
    await operator.planned(() => operator.choose('mixed.csv', ['5001,50', '5002,-20']));
    const asked = await text();
    expect(asked).toMatch(/This sends 2 orders to realm \w+: give 50 · take 20 · net \+30 tokens\./);
    expect(asked).toContain('The total is 70, the amounts given and taken together.');
    expect(asked).toContain('NO WORKER IS RUNNING for realm');
    expect(asked).not.toMatch(/\bpays\b/);
    expect(await flaws(page, 'mixed')).toEqual([]);
    await operator.start(70);
    await heading('mixed.csv');
    await page.getByText('NO WORKER IS RUNNING for realm').waitFor();
    const shown = await text();
    expect(shown).toContain('In all: give 50 · take 20 · net +30 tokens');
    expect(shown).toContain('Tokens, absolute');
    expect(shown).toContain('2 orders, 70 tokens, absolute no-worker');
    await overview.getByRole('alert').getByText('NO WORKER RUNNING').waitFor();
    expect(await overview.getByRole('alert').textContent()).toContain('2 orders wait');
    expect(await flaws(overview, 'no-worker')).toEqual([]);
    await overview.context().close();

    // No command is shown beside the button that does the same.
    await page.getByRole('button', { name: 'Pause' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('In all: give 50 · take 20 · net +30 tokens.').waitFor();
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await operator.stateSays('paused');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await text()).toContain('Continue with “Resume”.');
    expect(await text()).not.toMatch(/almoner (resume|report|pause)/);
    await operator.goTo('Batches');
    await page.getByText('give 50 · take 20 · net +30').waitFor();
    expect(await text()).not.toContain('almoner resume');
    await page.setViewportSize(DESKTOP);
    expect(opened).toMatchObject({ strangers: [], complaints: [] });
  });

if (isLong)
  test('every page reports a frozen store, and its return', async () => {
    await page.goto(desk.url);
    await page.locator('.live', { hasText: 'Live' }).waitFor();
    process.kill(redis.pid, 'SIGSTOP');
    try {
      const begun = performance.now();
      await page.locator('.live', { hasText: 'No store' }).waitFor();
      await page.getByText(/^The store does not answer, showing state of \d\d:\d\d:\d\d\./).waitFor();
      expect(await page.locator('.tile', { hasText: 'Store' }).textContent()).toContain('DOWN');
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole('link', { name: 'Doubts' }).first().click();
      await page.getByText('ALM_STORE_UNREACHABLE').waitFor();
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
    await page.locator('.live', { hasText: 'Live' }).waitFor();
  });

/** Last: it ends the desk. */
if (isLong)
  test('a lost connection is shown with the time of the data, and restored', async () => {
    // The token of a start ends with it, and its sessions with the token; a named one outlives the desk.
    const added = await almoner(['desk', 'token', 'add', 'ada', '--role', 'viewer', '--json'], {
      env,
      cwd: folder,
    });
    const { token } = z.object({ token: z.string() }).parse(JSON.parse(added.stdout));
    const { page: viewer } = await openDesk(browser, { url: desk.url, token }, { viewport: DESKTOP });
    const { port } = new URL(desk.url);
    const says = (words: string) => viewer.locator('.live').getByText(words, { exact: true }).waitFor();
    await says('Live');
    await desk.end('SIGTERM');
    const again = startAlmoner(['serve', '--port', port], { env, cwd: folder });
    onTestFinished(() => again.kill());
    await viewer.getByText(/Connection lost, showing state of \d\d:\d\d:\d\d/).waitFor();
    await says('Lost');
    await until('the desk to be back', () => again.stdout().includes(desk.url), 60_000);
    // The page asks again after 1, 2, 4, 8 and 15 s.
    viewer.setDefaultTimeout(30_000);
    await says('Live');
  });
