import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { almoner, type DeskProcess, startDeskProcess } from '../support/almoner.js';
import { ask } from '../support/desk.js';
import { DESKTOP, launchBrowser, openDesk, seriousFindings } from '../support/desk-browser.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** A desk without a worker, on a store that was started again, and later frozen: neither answers nor refuses. */

let redis: TestRedis;
let folder: string;
let desk: DeskProcess;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  redis = await startRedis();
  folder = await mkdtemp(join(tmpdir(), 'almoner-desk-'));
  const env = { REDIS_URL: redis.url, ALMONER_DATA: folder };
  await writeFile(join(folder, 'paid.csv'), 'member,tokens\n1001,5\n');
  await almoner(['run', 'paid.csv', '--yes', '--json'], { env, cwd: folder });
  await redis.kill();
  await redis.restart();
  desk = await startDeskProcess(['--port', '0'], env, folder);
  browser = await launchBrowser();
  ({ page } = await openDesk(browser, desk, { viewport: DESKTOP }));
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await desk?.end('SIGTERM');
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('where nobody has sent since the store started, nothing calls for a recovery', async () => {
  await page.getByText('nothing sent since the store started').waitFor();
  expect(await page.locator('main').textContent()).not.toMatch(/Fenced|almoner recover/);
  const metrics = await ask(`${desk.url}/metrics`, { as: desk.token });
  expect(metrics.text).toMatch(/almoner_fence_armed\{realm="[^"]+"\} 1/);
}, 60_000);

test('a frozen store is said within seconds, everywhere, and so is its return', async () => {
  await page.locator('.live', { hasText: 'Live' }).waitFor();
  process.kill(redis.pid, 'SIGSTOP');
  try {
    const begun = performance.now();
    const within = async <T>(what: Promise<T>) => {
      const from = performance.now();
      await what;
      return Math.round((performance.now() - from) / 1000);
    };
    await page.locator('.live', { hasText: 'No store' }).waitFor({ timeout: 10_000 });
    await page.getByText(/^The store does not answer, showing state of \d\d:\d\d:\d\d\./).waitFor();
    expect(await page.locator('.tile', { hasText: 'Store' }).textContent()).toContain('DOWN');
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(await seriousFindings(page)).toEqual([]);

    expect((await ask(`${desk.url}/health`)).status).toBe(200);
    const ready = ask(`${desk.url}/ready`);
    expect(await within(ready)).toBeLessThan(5);
    expect([(await ready).status, (await ready).json()]).toEqual([503, { ok: false }]);
    const overview = ask(`${desk.url}/api/overview`, { as: desk.token });
    expect(await within(overview)).toBeLessThan(8);
    expect((await overview).json()).toMatchObject({ store: { up: false, latencyMs: null } });
    for (const path of ['/api/dead', '/api/doubts', '/api/audit', '/api/batches/last/orders']) {
      const reply = ask(`${desk.url}${path}`, { as: desk.token });
      expect(await within(reply)).toBeLessThan(8);
      expect([path, (await reply).status]).toEqual([path, 503]);
      expect((await reply).json()).toMatchObject({ error: { code: 'ALM_STORE_UNREACHABLE' } });
    }
    await page.getByRole('link', { name: 'Doubts' }).first().click();
    await page.getByText('ALM_STORE_UNREACHABLE').waitFor({ timeout: 10_000 });
  } finally {
    process.kill(redis.pid, 'SIGCONT');
  }
  await page.locator('.live', { hasText: 'Live' }).waitFor();
  await until('the desk to be ready', async () => (await ask(`${desk.url}/ready`)).status === 200, 20_000);
}, 120_000);
