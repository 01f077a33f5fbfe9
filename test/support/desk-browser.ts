import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { z } from 'zod';

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}

export const DESKTOP = { width: 1_280, height: 900 };
export const PHONE = { width: 360, height: 740 };
export const TABLET = { width: 768, height: 1_024 };

/** A signed-in page, and everything that must not happen on it. */
export type DeskPage = {
  readonly page: Page;
  /** Requests to any other host. */
  readonly strangers: string[];
  /** Errors and warnings of the console, and uncaught ones. */
  readonly complaints: string[];
};

export async function openDesk(
  browser: Browser,
  desk: { readonly url: string; readonly token: string },
  options: BrowserContextOptions,
): Promise<DeskPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
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

/** axe runs through the debugger, which the page's own content policy does not bind. */
export async function seriousFindings(page: Page): Promise<unknown[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined')
    await page.evaluate(
      await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'),
    );
  const found: unknown = await page.evaluate(
    "axe.run({ resultTypes: ['violations'] }).then((result) => result.violations)",
  );
  return Findings.parse(found).filter(({ impact }) => impact === 'serious' || impact === 'critical');
}

/** What of the page stands outside the window, or in a box that must be scrolled sideways to be read. */
export async function cutOff(page: Page): Promise<string[]> {
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
