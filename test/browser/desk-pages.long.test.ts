import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { almoner, type DeskProcess, startDeskProcess } from '../support/program/almoner.js';
import { DESKTOP, launchBrowser, openDesk, PHONE, seriousFindings } from '../support/program/desk-browser.js';
import { endServerOf } from '../support/store-program.js';
import { until } from '../support/until.js';

/** Every page in both sizes and both colour schemes, over the batch of a rehearsal; `npm test` looks at half of them. */

let folder: string;
let desk: DeskProcess;
let browser: Browser;
let pages: readonly (readonly [name: string, path: string])[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almoner-desk-'));
  const env = { ALMONER_DATA: join(folder, 'data'), ALMONER_REPORTS: join(folder, 'reports') };
  const rows = Array.from({ length: 30 }, (_, at) => `${5_001 + at},${at + 1}\n`);
  await writeFile(join(folder, 'gifts.csv'), `member,tokens\n${rows.join('')}`);
  await almoner(['rehearse', 'gifts.csv'], { env, cwd: folder });
  [desk, browser] = await Promise.all([startDeskProcess(['--port', '0'], env, folder), launchBrowser()]);
  const batch = await newestBatch();
  pages = [
    ['Overview', '/'],
    ['Batches', '/batches'],
    ['gifts.csv', `/batches/${batch}`],
    ['History', '/history'],
    [`Order ${batch}-1`, `/orders/${batch}-1`],
    ['Dead letters', '/dead'],
    ['Doubts', '/doubts'],
    ['Member 5001', '/members/5001'],
    ['Import', '/import'],
    ['Rules', '/rules'],
    ['Calendar', '/calendar'],
    ['Approvals', '/approvals'],
    ['People', '/people'],
    ['Notices', '/notices'],
    ['Recovery', '/recovery'],
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

/** Opens an address by the page's own router: loading each page anew would only test the browser. */
async function visit(page: Page, name: string, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new Event('popstate'))`,
  );
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  await until(`${path} to have loaded`, async () => (await page.locator('.loading').count()) === 0);
}

test.each([
  { size: 'a desktop', viewport: DESKTOP, colorScheme: 'light' },
  { size: 'a desktop', viewport: DESKTOP, colorScheme: 'dark' },
  { size: 'a phone', viewport: PHONE, colorScheme: 'light' },
  { size: 'a phone', viewport: PHONE, colorScheme: 'dark' },
] as const)(
  'no page has a serious barrier, an error or a request to another host: $size in $colorScheme colours',
  async ({ viewport, colorScheme }) => {
    const opened = await openDesk(browser, desk, { viewport, colorScheme });
    for (const [name, path] of pages) {
      await visit(opened.page, name, path);
      expect({ path, found: await seriousFindings(opened.page) }).toEqual({ path, found: [] });
      const width: unknown = await opened.page.evaluate('document.documentElement.scrollWidth');
      expect({ path, width }).toEqual({ path, width: viewport.width });
    }
    expect(opened).toMatchObject({ strangers: [], complaints: [] });
    await opened.page.context().close();
  },
);
