import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import type { OPS } from '../../src/core/order.js';
import { grouped } from '../../src/words/spelling.js';
import { ask } from '../support/program/desk.js';
import { DESKTOP, type DeskPage, flaws, openDesk } from '../support/program/desk-browser.js';
import { deskInBrowser } from '../support/program/desk-in-browser.js';
import { DeskOperator } from '../support/program/desk-operator.js';

/** The page History over payments of today, compared with the realm's own log. */
const stage = deskInBrowser([]);
let opened: DeskPage;
let page: Page;

const UNKNOWN_MEMBER = '118999999999999999';
const today = () => new Date().toISOString().slice(0, 10);

beforeAll(async () => {
  const { members } = stage;
  opened = await openDesk(stage.browser(), stage.world().desk, { viewport: DESKTOP });
  page = opened.page;
  const operator = new DeskOperator(page);
  const rows = members.slice(0, 30).map((member, at) => `${member},${at + 1}`);
  await operator.importFile('gifts.csv', 'meadow', [...rows, `${UNKNOWN_MEMBER},7`]);
  await operator.stateSays('done');
  await operator.planned(async () => {
    await operator.goTo('Import');
    await operator.choose(
      'taken.csv',
      members.slice(30, 35).map((member) => `${member},-9`),
    );
    await page.getByLabel('Realm').selectOption('meadow');
    await page.getByRole('button', { name: /^Plan (it|again)$/ }).click();
  });
  await operator.start(45);
  await page.getByRole('heading', { level: 1, name: 'taken.csv' }).waitFor();
  await operator.stateSays('done');
});

/** What the realm says that it applied. */
async function recount() {
  const applied = await stage.world().applied();
  const sum = (op: (typeof OPS)[number]) =>
    applied.filter((one) => one.op === op).reduce((all, { tokens }) => all + tokens, 0);
  return { orders: applied.length, given: sum('credit'), taken: sum('debit') };
}

/** The cells of a table's row, by the names of its columns. */
async function rowOf(table: string, first: string): Promise<Record<string, string>> {
  const row = page
    .getByRole('region', { name: table, exact: true })
    .locator('tbody tr', { has: page.locator('th', { hasText: first }) });
  const cells = await row.locator('td').all();
  const found = cells.map(async (cell) => [await cell.getAttribute('data-head'), await cell.textContent()]);
  return Object.fromEntries(await Promise.all(found));
}

test('history shows what the realm itself has logged, as chart, table and CSV', async () => {
  const { orders, given, taken } = await recount();
  expect([orders, taken]).toEqual([35, 45]);
  await new DeskOperator(page).goTo('History');
  await page.getByText('As a table').first().click();
  expect(await rowOf('orders per day', today())).toEqual({ paid: String(orders), refused: '1' });
  expect(
    await page.getByRole('img', { name: `orders per day of realm meadow: ${orders} paid` }).count(),
  ).toBe(1);
  const compared =
    (await page.getByRole('region', { name: 'These days beside as many before' }).textContent()) ?? '';
  expect(compared).toContain(`Paid orders${orders}0+${orders}`);
  expect(compared).toContain(`Tokens given${grouped(given)}0`);
  expect(compared).toContain(`Tokens taken${taken}0`);
  expect(compared).toContain('Success97 %');
  expect(await rowOf('Top rules', 'files')).toMatchObject({
    Paid: String(orders),
    'Not paid': '1',
    Taken: '45',
  });
  await page.getByText('As a table').nth(2).click();
  const work = await rowOf('Requests per day', today());
  expect(Number(work.Requests)).toBeGreaterThanOrEqual(orders + 1);
  expect(await flaws(page, 'history')).toEqual([]);
  const { url, token } = stage.world().desk;
  const csv = await page.getByRole('link', { name: 'As CSV' }).first().getAttribute('href');
  const file = await ask(`${url}${csv}`, { as: token });
  expect(file.text).toContain(`meadow,${today()},${today()},${today()},,credit,paid,30,${given}\n`);
  expect(file.text).toContain(`meadow,${today()},${today()},${today()},,debit,paid,5,${taken}\n`);
});

test('the address holds the chosen view and opens it again', async () => {
  const { given } = await recount();
  await page.getByLabel('Show').selectOption('tokens given');
  await page.getByLabel('Stacked by').selectOption('rule');
  await page.getByLabel('By', { exact: true }).selectOption('month');
  await page
    .getByRole('img', { name: `tokens given per month of realm meadow: ${grouped(given)} files` })
    .waitFor();
  expect(new URL(page.url()).search).toBe('?show=credit&stack=rule&by=month');
  await page.reload();
  await page
    .getByRole('img', { name: `tokens given per month of realm meadow: ${grouped(given)} files` })
    .waitFor();
  expect(await page.getByLabel('Show').inputValue()).toBe('credit');
});

test('the statement of the month is what the realm has logged, and says that it is not final', async () => {
  const { orders, given, taken } = await recount();
  const month = today().slice(0, 7);
  expect(await rowOf(`Statement of ${month}`, 'meadow')).toEqual({
    'Paid orders': String(orders),
    Given: grouped(given),
    Taken: String(taken),
    Moved: '0',
    Net: `+${grouped(given - taken)}`,
    'Open orders': '0',
  });
  await page.getByText('Not final').waitFor();
  const { url, token } = stage.world().desk;
  const csv = await ask(`${url}/api/statement.csv?month=${month}`, { as: token });
  expect(csv.text.split('\n')[1]).toMatch(
    new RegExp(`^${month},meadow,meadow,http.*,,35,${given},${taken},0,${given - taken},0,0,0,0,no,`),
  );
  expect(await flaws(page, 'statement')).toEqual([]);
});

test('the overview has the last fortnight in small, with a link to the history of the realm', async () => {
  await new DeskOperator(page).goTo('Overview');
  const small = page.getByRole('img', { name: 'orders per day of realm meadow: 35 paid' });
  await small.waitFor();
  expect(await flaws(page, 'overview')).toEqual([]);
  await page.locator('main figcaption').getByRole('link', { name: 'meadow' }).click();
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor();
  expect(new URL(page.url()).search).toBe('?realm=meadow');
  expect(opened.complaints).toEqual([]);
  expect(opened.strangers).toEqual([]);
});
