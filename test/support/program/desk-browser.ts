import { rmSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { z } from 'zod';
import { isLong } from '../suites.js';

export async function launchBrowser(): Promise<Browser> {
  // Under load Chromium leaves temporary files behind when it is closed.
  const folder = await mkdtemp(join(tmpdir(), 'browser-'));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    env: { ...definedOf(process.env), TMPDIR: folder },
  });
  browser.on('disconnected', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return browser;
}

function definedOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

export const DESKTOP = { width: 1_280, height: 900 };
export const PHONE = { width: 360, height: 740 };
const TABLET = { width: 768, height: 1_024 };

/** A signed-in page, with a record of everything that must not happen on it. */
export type DeskPage = {
  readonly page: Page;
  /** Requests to other hosts. */
  readonly strangers: string[];
  /** Console errors and warnings, and uncaught exceptions. */
  readonly complaints: string[];
};

export async function openDesk(
  browser: Browser,
  desk: { readonly url: string; readonly token: string },
  options: BrowserContextOptions,
): Promise<DeskPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  // A wait ends when its condition holds; a loaded machine may take long.
  page.setDefaultTimeout(30_000);
  const strangers: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(desk.url).origin) strangers.push(request.url());
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${desk.url}/login#token=${desk.token}`);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  return { page, strangers, complaints };
}

const Findings = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullish(),
    help: z.string(),
    nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
  }),
);

/**
 * Runs axe through the debugger, which the page's content policy does not restrict. All table rows but the first are
 * hidden from axe: it compares the position of every element with every other.
 */
export async function seriousFindings(page: Page, withoutRules: readonly string[] = []): Promise<unknown[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined')
    await page.evaluate(
      await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
    );
  const rules = Object.fromEntries(withoutRules.map((rule) => [rule, { enabled: false }]));
  const found: unknown = await page.evaluate(`(() => {
    const fewRows = new CSSStyleSheet();
    fewRows.replaceSync('tbody tr:nth-child(n + 8) { display: none }');
    document.adoptedStyleSheets = [fewRows];
    return axe.run({ resultTypes: ['violations'], preload: false, rules: ${JSON.stringify(rules)} })
      .then(({ violations }) => violations)
      .finally(() => { document.adoptedStyleSheets = []; });
  })()`);
  return Findings.parse(found).filter(({ impact }) => impact === 'serious' || impact === 'critical');
}

/** The parts of the page that lie outside the window, or in a box that needs sideways scrolling. */
async function cutOff(page: Page): Promise<string[]> {
  const found: unknown = await page.evaluate(`(() => {
    const reach = document.documentElement.clientWidth + 1;
    const parts = document.querySelectorAll('main :is(a, button, td, input, select, p, li, h1, h2, dd, label)');
    return [...parts].flatMap((part) => {
      const { right, width } = part.getBoundingClientRect();
      const isHidden = width <= 1 || part.closest('.unseen, thead') !== null;
      return isHidden || right <= reach ? [] : [part.tagName + ' ' + part.textContent.slice(0, 60)];
    });
  })()`);
  return z.array(z.string()).parse(found);
}

/** Screenshots are saved to this folder, if it is set. */
const PICTURES = process.env.ALMONER_TEST_PICTURES;

/**
 * Everything that is wrong with the look of the page: parts that are cut off at the width of a desktop, a tablet or a
 * phone, and the findings of axe. The quick suite runs axe once, without dialogs and without the slow contrast checks.
 * The long suite runs all checks on a desktop in light colours and on a phone in dark ones. Restores the page's size
 * and colours.
 */
export async function flaws(page: Page, name: string): Promise<unknown[]> {
  const before = page.viewportSize() ?? DESKTOP;
  const found: unknown[] = [];
  for (const { viewport, colorScheme } of LOOKS) {
    await page.setViewportSize(viewport);
    const note = (what: unknown) => found.push([name, viewport.width, colorScheme, what]);
    if (!(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')))
      note('the page scrolls sideways');
    const hasDialog = (await page.getByRole('dialog').count()) > 0;
    // A dialog covers the page, so the page is not checked behind it.
    if (!hasDialog) for (const part of await cutOff(page)) note(part);
    if (colorScheme === null || (!isLong && (colorScheme === 'dark' || hasDialog))) continue;
    await page.emulateMedia({ colorScheme });
    for (const finding of await seriousFindings(page, isLong ? [] : ['color-contrast'])) note(finding);
    if (PICTURES !== undefined)
      await page.screenshot({
        path: join(PICTURES, `${name}-${viewport.width}-${colorScheme}.png`),
        fullPage: true,
      });
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(before);
  return found;
}

/** Each look has one size, because colours do not depend on the size. */
const LOOKS = [
  { viewport: TABLET, colorScheme: null },
  { viewport: PHONE, colorScheme: 'dark' },
  { viewport: DESKTOP, colorScheme: 'light' },
] as const;
