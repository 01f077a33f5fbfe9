import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeReport } from '../../src/report/write-report.js';
import { recordOf, rowOf, START } from '../support/ledger/batch-record.js';
import { launchBrowser, seriousFindings } from '../support/program/desk-browser.js';
import { vividBatch } from '../support/program/vivid-batch.js';
import { isLong } from '../support/suites.js';
import { tempFolder } from '../support/temp-folder.js';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

type Opened = { page: Page; requests: string[]; complaints: string[] };

async function open(file: string): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 1_100, height: 900 }, bypassCSP: false });
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(pathToFileURL(file).href);
  return { page, requests, complaints };
}

describe('report.html in a browser', () => {
  test('is clean: no network, no script, no serious barrier in light and dark, and only tables scroll on a phone', async () => {
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
    const looks = [
      { colorScheme: 'light', width: 360 },
      { colorScheme: 'dark', width: 1_100 },
      { colorScheme: 'light', width: 1_100 },
    ] as const;
    for (const { colorScheme, width } of isLong ? looks.toReversed() : looks.slice(0, 1)) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const found = await seriousFindings(page, isLong ? [] : ['color-contrast']);
      expect([colorScheme, width, found]).toEqual([colorScheme, width, []]);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(complaints).toEqual([]);
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

  if (isLong)
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
