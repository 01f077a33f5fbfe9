import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { almoner, type DeskProcess, startAlmoner, startDeskProcess } from '../support/almoner.js';
import { DESKTOP, launchBrowser, openDesk, PHONE, seriousFindings } from '../support/desk-browser.js';
import { endServerOf } from '../support/store-program.js';
import { until } from '../support/until.js';

/** Every page as it is seen, heard and measured, over the books of a rehearsal. */

/** Eleven pages with a check of every element; generous, because machines under load are slow at it. */
const TOUR_MS = 120_000;

const MEMBERS = Array.from({ length: 30 }, (_, at) => String(5_001 + at));
const ATTACK = '"><img src=x onerror=alert(1)><script>alert(1)</script>';

let folder: string;
let env: NodeJS.ProcessEnv;
let desk: DeskProcess;
let browser: Browser;
let pages: readonly (readonly [name: string, path: string])[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-desk-'));
  env = { ALMONER_DATA: join(folder, 'data'), ALMONER_REPORTS: join(folder, 'reports') };
  const rows = MEMBERS.map(
    (member, at) => `${member},${at + 1},gift-${at},"${ATTACK.replaceAll('"', '""')}"\n`,
  );
  await writeFile(join(folder, 'gifts.csv'), `member,tokens,reference,reason\n${rows.join('')}`);
  await almoner(['rehearse', 'gifts.csv'], { env, cwd: folder });
  [desk, browser] = await Promise.all([startDeskProcess(['--port', '0'], env, folder), launchBrowser()]);
  const batch = await newestBatch();
  pages = [
    ['Overview', '/'],
    ['Batches', '/batches'],
    ['gifts.csv', `/batches/${batch}`],
    [`Order ${batch}-1`, `/orders/${batch}-1`],
    ['Dead letters', '/dead'],
    ['Doubts', '/doubts'],
    [`Member ${MEMBERS[0]}`, `/members/${MEMBERS[0]}`],
    ['Import', '/import'],
    ['Rules', '/rules'],
    ['Notices', '/notices'],
    ['Audit', '/audit'],
    ['No such page', '/nowhere'],
  ];
});
afterAll(async () => {
  await browser?.close();
  await desk?.end('SIGTERM');
  await endServerOf(join(folder, 'data'));
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

/** Through the page's own router: loading eleven pages anew would only test the browser. */
async function visit(page: Page, name: string, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new Event('popstate'))`,
  );
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  await until(`${path} to have loaded`, async () => (await page.locator('.loading').count()) === 0);
}

describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
  test(
    'no page has a serious barrier, an error, or a request to another host',
    async () => {
      const opened = await openDesk(browser, desk, { viewport: DESKTOP, colorScheme });
      for (const [name, path] of pages) {
        await visit(opened.page, name, path);
        expect({ path, found: await seriousFindings(opened.page) }).toEqual({ path, found: [] });
      }
      expect(opened).toMatchObject({ strangers: [], complaints: [] });
      await opened.page.context().close();
    },
    TOUR_MS,
  );
});

test(
  'on a phone no page scrolls sideways, and none has a serious barrier',
  async () => {
    const { page } = await openDesk(browser, desk, { viewport: PHONE });
    for (const [name, path] of pages) {
      await visit(page, name, path);
      const width: unknown = await page.evaluate('document.documentElement.scrollWidth');
      expect({ path, width }).toEqual({ path, width: PHONE.width });
      expect({ path, found: await seriousFindings(page) }).toEqual({ path, found: [] });
    }
    await page.context().close();
  },
  TOUR_MS,
);

test('a rehearsal is called one wherever it is shown', async () => {
  const { page } = await openDesk(browser, desk, { viewport: DESKTOP });
  for (const [name, path] of pages.slice(0, 4)) {
    await visit(page, name, path);
    await page.getByText('REHEARSAL').first().waitFor();
  }
  await until('the title to say so', async () => (await page.title()).includes('REHEARSAL'));
  await page.context().close();
});

test('a script in a CSV cell stays text', async () => {
  const { page } = await openDesk(browser, desk, { viewport: DESKTOP });
  const [name, path] = pages[3] ?? ['', ''];
  await visit(page, name, path);
  await page.getByText(ATTACK).first().waitFor();
  expect(await page.locator('#desk img, #desk script').count()).toBe(0);
  await page.context().close();
});

test('a shared address opens the same view, and the heading takes the focus after a link', async () => {
  const { page } = await openDesk(browser, desk, { viewport: DESKTOP });
  const [, path] = pages[2] ?? ['', ''];
  await page.goto(`${desk.url}${path}?state=paid&q=gift-0`);
  await page.locator('table.orders tbody tr').first().waitFor();
  expect(await page.getByLabel('Search').inputValue()).toBe('gift-0');
  expect(await page.getByLabel('State', { exact: true }).inputValue()).toBe('paid');
  await page.getByRole('navigation', { name: 'Desk' }).getByRole('link', { name: 'Audit' }).click();
  await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
  await until('the heading to have the focus', async () =>
    page.evaluate("document.activeElement?.textContent === 'Audit'"),
  );
  await page.context().close();
});

test('the chosen colours outlive the page', async () => {
  const { page } = await openDesk(browser, desk, { viewport: DESKTOP, colorScheme: 'light' });
  await page.getByLabel('Colours').selectOption('dark');
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  await page.context().close();
});

test('a wrong token is refused in words, and signing out asks for one again', async () => {
  const { page } = await openDesk(browser, desk, { viewport: DESKTOP });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Desk token').fill('almdesk_no');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Nobody was signed in').waitFor();
  await page.context().close();
});

test('work that waits without a worker is said loudly, without reloading', async () => {
  const { page } = await openDesk(browser, desk, { viewport: DESKTOP });
  await page.getByText('Lately ended').waitFor();
  await writeFile(join(folder, 'more.csv'), 'member,tokens\n5001,3\n5002,4\n');
  await almoner(['import', 'more.csv', '--yes'], { env, cwd: folder });
  const alarm = page.getByRole('alert').getByText('NO WORKER RUNNING');
  await alarm.waitFor();
  expect(await page.getByRole('alert').textContent()).toContain('2 orders wait');
  expect(await seriousFindings(page)).toEqual([]);
  await page.context().close();
});

/** Last: it ends the desk. */
test('a lost connection is said with the time of what is shown, and found again', async () => {
  // The token of a start ends with it, and its sessions with the token; a named one outlives the desk.
  const added = await almoner(['desk', 'token', 'add', 'ada', '--role', 'viewer', '--json'], {
    env,
    cwd: folder,
  });
  const { token } = z.object({ token: z.string() }).parse(JSON.parse(added.stdout));
  const { page } = await openDesk(browser, { url: desk.url, token }, { viewport: DESKTOP });
  const { port } = new URL(desk.url);
  const says = (words: string) => page.locator('.live').getByText(words, { exact: true }).waitFor();
  await says('Live');
  await desk.end('SIGTERM');
  await page.getByText(/Connection lost, showing state of \d\d:\d\d:\d\d/).waitFor();
  await says('Lost');
  const again = startAlmoner(['serve', '--port', port], { env, cwd: folder });
  onTestFinished(() => again.kill());
  await until('the desk to be back', () => again.stdout().includes(desk.url), 60_000);
  // It is asked again after 1, 2, 4, 8 and 15 s.
  page.setDefaultTimeout(30_000);
  await says('Live');
  await page.context().close();
});
