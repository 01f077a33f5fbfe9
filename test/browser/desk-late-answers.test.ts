import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESKTOP, type DeskPage, openDesk } from '../support/desk-browser.js';
import { DeskOperator } from '../support/desk-operator.js';
import { deskInBrowser } from '../support/desk-world.js';

/** Answers that come when something else is on the import page: nothing of that is lost by them. */
const { members: MEMBERS, world, browser } = deskInBrowser([]);
const [ADA = ''] = MEMBERS;

let opened: DeskPage;
let page: Page;
beforeAll(async () => {
  opened = await openDesk(browser(), world().desk, { viewport: DESKTOP });
  page = opened.page;
});
afterAll(() => page.context().close());

const csvFile = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
const choose = (name: string, text: string) =>
  page.getByLabel('CSV file', { exact: true }).last().setInputFiles(csvFile(name, text));

/** Holds the first request to such an address until it is let go. */
async function holdFirst(address: string): Promise<() => void> {
  let go = () => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  let first = true;
  await page.route(address, async (route: Route) => {
    const isFirst = first;
    first = false;
    if (isFirst) await gone;
    await route.continue();
  });
  return go;
}

test('a plan of the file before does not take the new file away', async () => {
  await new DeskOperator(page).goTo('Import');
  const go = await holdFirst('**/api/uploads/*/plan');
  await choose('first.csv', `member,tokens\n${ADA},5\n`);
  await page.getByLabel('Realm').selectOption('meadow');
  await page.getByRole('button', { name: 'Plan it' }).click();
  await page.getByRole('button', { name: 'Another file' }).click();
  await choose('second.csv', `member,tokens\n${ADA},6\n`);
  await page.getByText(`give 6 to ${ADA}`).waitFor();
  const answered = page.waitForResponse('**/api/uploads/*/plan');
  go();
  await answered;
  await page.waitForTimeout(500);
  expect(await page.getByRole('heading', { name: 'second.csv' }).count()).toBe(1);
  expect(await page.getByText(`give 6 to ${ADA}`).count()).toBe(1);
  expect(await page.getByText('There is no such upload').count()).toBe(0);
  await page.unroute('**/api/uploads/*/plan');
});

test('a table that arrives late leaves what was typed meanwhile', async () => {
  const go = await holdFirst('**/api/uploads?name=table.csv');
  await page
    .getByLabel('Table of members (wallets or handles)')
    .setInputFiles(csvFile('table.csv', `member,wallet\n${ADA},0xab\n`));
  await page.getByLabel('Begin at').fill('23:30');
  const planned = page.waitForResponse('**/api/uploads/*/plan');
  go();
  await planned;
  expect(await page.getByLabel('Begin at').inputValue()).toBe('23:30');
});
