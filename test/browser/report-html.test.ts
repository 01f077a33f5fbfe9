import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { writeReport } from '../../src/report/write-report.js';
import { recordOf, rowOf, START } from '../support/batch-record.js';
import { tempFolder } from '../support/temp-folder.js';
import { vividBatch } from '../support/vivid-batch.js';

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
});
afterAll(() => browser.close());

type Opened = { page: Page; requests: string[]; complaints: string[] };

async function open(
  file: string,
  options: { colorScheme?: 'light' | 'dark'; width?: number } = {},
): Promise<Opened> {
  const page = await browser.newPage({
    colorScheme: options.colorScheme ?? 'light',
    viewport: { width: options.width ?? 1_100, height: 900 },
    bypassCSP: false,
  });
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(pathToFileURL(file).href);
  return { page, requests, complaints };
}

const Findings = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullish(),
    help: z.string(),
    nodes: z.array(z.object({ html: z.string() })),
  }),
);

/** axe runs through the debugger, which the page's own policy does not bind; the page itself runs no script. */
async function seriousFindings(page: Page): Promise<unknown[]> {
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(axe);
  const found: unknown = await page.evaluate('axe.run().then((result) => result.violations)');
  return Findings.parse(found).filter(({ impact }) => impact === 'serious' || impact === 'critical');
}

describe('report.html in a browser', () => {
  test('shows the main numbers, the doubts first, and asks nothing of any network', async () => {
    const { folder } = await writeReport(vividBatch(), { folder: await tempFolder(), now: START });
    const { page, requests, complaints } = await open(join(folder, 'report.html'));
    expect(await page.title()).toBe('REHEARSAL · Batch spring-airdrop · meadow');
    expect(await page.locator('.rehearsal').textContent()).toContain('REHEARSAL');
    expect(await page.locator('h1').textContent()).toBe(
      '2,706 of 3,000 rows paid (gave 194,940 · took 42,675 · moved 39,105 · net +152,265 points); 4 in doubt, 53 not paid, 174 still open',
    );
    expect(await page.locator('h2').allInnerTexts()).toEqual([
      'Why it is halted',
      '4 orders in doubt: please decide',
      'What became of the rows',
      'What went wrong, by cause',
      'The run over time',
      'Where the time went',
      'To know beside the numbers',
      'Checks',
      'Where it came from',
      'Who did what',
    ]);
    const text = await page.locator('body').textContent();
    expect(text).toContain('spring <awards> & "more".csv');
    expect(text).toContain('almoner doubt show spring-airdrop-601');
    expect(await page.locator('svg[role=img]').count()).toBe(4);
    expect(requests.filter((url) => !url.startsWith('file:') && !url.startsWith('data:'))).toEqual([]);
    expect(requests.filter((url) => url.startsWith('file:'))).toHaveLength(1);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test.each(['light', 'dark'] as const)('has no serious barrier in %s colours', async (colorScheme) => {
    const { folder } = await writeReport(vividBatch(), { folder: await tempFolder(), now: START });
    const { page, complaints } = await open(join(folder, 'report.html'), { colorScheme });
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('fits a phone: only tables scroll sideways', async () => {
    const { folder } = await writeReport(vividBatch(), { folder: await tempFolder(), now: START });
    const { page } = await open(join(folder, 'report.html'), { width: 360 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await seriousFindings(page)).toEqual([]);
    await page.close();
  });

  test('text from outside stays text', async () => {
    const attack = '"><img src=x onerror=alert(1)><script>alert(1)</script>';
    const row = rowOf('doubt', 1, { error: attack, reason: attack });
    const record = recordOf([row, rowOf('refused', 2, { error: attack })], {
      manifest: { source: attack, createdBy: attack, realm: attack },
      record: { caveats: [attack], audit: [{ at: START, who: attack, what: attack, why: attack }] },
    });
    const { folder } = await writeReport(record, { folder: await tempFolder(), now: START });
    const { page, complaints } = await open(join(folder, 'report.html'));
    expect(await page.locator('script, img').count()).toBe(0);
    expect(await page.getByText(attack).count()).toBeGreaterThan(5);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('a batch that went well reads so, and has no REHEARSAL when it was none', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => rowOf('paid', at + 1));
    const { folder } = await writeReport(recordOf(rows), { folder: await tempFolder(), now: START });
    const { page } = await open(join(folder, 'report.html'));
    expect(await page.locator('h1').textContent()).toBe('All 12 orders carried out');
    expect(await page.locator('body').textContent()).not.toContain('REHEARSAL');
    await page.close();
  });

  test('the public page has no serious barrier either', async () => {
    const { folder } = await writeReport(vividBatch(), {
      folder: await tempFolder(),
      now: START,
      public: true,
    });
    const { page, requests, complaints } = await open(join(folder, 'public.html'));
    expect(await page.locator('tbody tr').count()).toBe(200);
    expect(await seriousFindings(page)).toEqual([]);
    expect(requests.filter((url) => !url.startsWith('file:') && !url.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
