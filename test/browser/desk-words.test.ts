import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type DeskProcess, startDeskProcess } from '../support/almoner.js';
import { launchBrowser, openDesk, PHONE, seriousFindings } from '../support/desk-browser.js';
import { DeskOperator } from '../support/desk-operator.js';
import { type RealmAndOperator, startRealmAndOperator } from '../support/realm-and-operator.js';

/** What the pages say of a file that gives and takes, on a desk without a worker. */
let world: RealmAndOperator;
let desk: DeskProcess;
let browser: Browser;
let page: Page;
let operator: DeskOperator;
vi.setConfig({ testTimeout: 60_000 });
beforeAll(async () => {
  world = await startRealmAndOperator({ members: ['1', '2'].map((member) => ({ member, tokens: 100 })) });
  [desk, browser] = await Promise.all([
    startDeskProcess(['--port', '0'], world.env, world.folder),
    launchBrowser(),
  ]);
  ({ page } = await openDesk(browser, desk, { viewport: PHONE }));
  operator = new DeskOperator(page);
});
afterAll(async () => {
  await browser?.close();
  await desk?.end('SIGTERM');
  await world.end();
});

const text = async () => (await page.locator('main').allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ');
const offer = async (file: string, rows: readonly string[]) => {
  await operator.goTo('Import');
  await operator.planned(() => operator.choose(file, rows));
};

test('a fault of the whole file offers no good rows', async () => {
  await operator.goTo('Import');
  await page
    .getByLabel('CSV file', { exact: true })
    .last()
    .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('member,tokns\n1,5\n') });
  await page.getByText('Refused as a whole').waitFor();
  expect(await text()).not.toContain('good rows with the switch');
  await page.getByRole('button', { name: 'Another file' }).click();
  await operator.planned(() => operator.choose('b.csv', ['1,5', '2,x']));
  expect(await text()).toContain('or take only the good rows with the switch above');
});

test('a warning names the switch of the page, not the option of a command', async () => {
  await offer('both.csv', ['1,50', '1,-20']);
  const warned = await text();
  expect(warned).toContain('if it matters (“Strictly in file order”, below).');
  expect(warned).not.toContain('--in-order');
  await page.getByRole('button', { name: 'Another file' }).click();
});

test('a file that takes is not confirmed as a payment, and that no worker runs is said before and after', async () => {
  await offer('mixed.csv', ['1,50', '2,-20']);
  const asked = await text();
  expect(asked).toContain('This sends 2 orders to realm town: give 50 · take 20 · net +30 tokens.');
  expect(asked).toContain('The total is 70, the amounts given and taken together.');
  expect(asked).toContain('NO WORKER IS RUNNING for realm town.');
  expect(asked).not.toMatch(/\bpays\b/);
  expect(await seriousFindings(page)).toEqual([]);
  await operator.start(70);
  await page.getByRole('heading', { level: 1, name: 'mixed.csv' }).waitFor();
  await page.getByText('NO WORKER IS RUNNING for realm town').waitFor();
  const shown = await text();
  expect(shown).toContain('In all: give 50 · take 20 · net +30 tokens');
  expect(shown).toContain('Tokens, absolute');
  expect(shown).toContain('2 orders, 70 tokens, absolute no-worker');
  expect(await seriousFindings(page)).toEqual([]);
});

test('no command stands beside the button that does the same', async () => {
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
});

test('the printed token is not called one for a single sign-in', async () => {
  const { page: stranger } = await openDesk(browser, desk, { viewport: PHONE });
  await stranger.context().clearCookies();
  await stranger.goto(`${desk.url}/login`);
  await stranger.getByLabel('Desk token').waitFor();
  const help = (await stranger.locator('#token-help').allInnerTexts()).join(' ');
  expect(help).toContain('good until the desk stops');
  expect(help).not.toContain('one-time');
  await stranger.context().close();
});
