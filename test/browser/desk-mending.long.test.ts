import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type DeskPage, flaws, openDesk, PHONE } from '../support/program/desk-browser.js';
import { deskInBrowser } from '../support/program/desk-in-browser.js';
import { DeskOperator } from '../support/program/desk-operator.js';
import { isLong } from '../support/suites.js';

/** Realistic files, corrected on a phone: other column names, wallets, wrong cells. */
const { members: MEMBERS, world, browser } = deskInBrowser([]);
const [ADA = '', BEN = '', CLEO = ''] = MEMBERS;

let opened: DeskPage;
let page: Page;
let operator: DeskOperator;
beforeAll(async () => {
  opened = await openDesk(browser(), world().desk, { viewport: PHONE, acceptDownloads: true });
  page = opened.page;
  operator = new DeskOperator(page);
});
afterAll(async () => {
  await page?.context().close();
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const csvFile = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
const offer = async (name: string, csv: string) => {
  await operator.goTo('Import');
  await page.getByLabel('CSV file', { exact: true }).last().setInputFiles(csvFile(name, csv));
  await page.getByLabel('Realm').selectOption('meadow');
  await operator.planBy(/^Plan (it|again)$/);
};
const faults = async () =>
  (await page.getByRole('region', { name: 'Faults' }).locator('td.what').allTextContents()).join();
const tableField = () => page.getByLabel('Table of members (wallets or handles)');
const total = () => page.getByLabel('Type the total to confirm');
const shown = async () => (await page.locator('main').allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ');

test('columns with blanks in their names are mapped, shown as orders in words, kept, and forgotten', async () => {
  const takenFor = (column: string) => page.getByLabel(`${column} is taken for`);
  const columns = 'Who is it,My Points,to';
  await offer('bot.csv', `${columns}\n${ADA},7,x\n`);
  expect(await faults()).toContain('under “Columns”');
  expect(await faults()).not.toContain('--');
  // A fault of the whole file offers no good rows.
  expect(await shown()).not.toContain('good rows with the switch');
  expect(await total().count()).toBe(0);
  expect(await flaws(page, 'columns')).toEqual([]);
  await takenFor('My Points').selectOption('tokens');
  await takenFor('Who is it').selectOption('tokens');
  expect(await takenFor('My Points').inputValue()).toBe('');
  await takenFor('Who is it').selectOption('member');
  await takenFor('My Points').selectOption('tokens');
  await takenFor('to').selectOption('');
  await operator.planBy('Plan with these columns');
  await page.getByText(`give 7 to ${ADA}`).waitFor();
  expect(await page.getByText('as you said').count()).toBe(2);
  expect(await flaws(page, 'mapped')).toEqual([]);
  await operator.start(7);
  await operator.stateSays('done');

  await offer('bot-next.csv', `${columns}\n${BEN},7,x\n`);
  await page.getByText('said something of the same header').waitFor();
  // The name of a meaning counts again in every file: only a person who looks at this one closes it.
  await page
    .getByText('No column is the recipient. It is not taken, because a column bears the name.')
    .waitFor();
  expect(await total().count()).toBe(0);
  await takenFor('to').selectOption('');
  await operator.planBy('Plan with these columns');
  await page.getByRole('button', { name: 'Pay 1 order' }).waitFor();
  await operator.planBy('Forget what was said of this header');
  expect(await faults()).toContain('There is no column for');
  expect(await page.getByText('said something of the same header').count()).toBe(0);
});

if (isLong)
  test('the header below a title is taken by a button; wallets are paid by a table beside the file', async () => {
    await offer('titled.csv', `Airdrop of June\n\nmember,tokens\n${BEN},27\n`);
    expect(await faults()).toContain('“Take line 3 as the header”');
    await page.getByText('Line 3 looks like the header.').waitFor();
    await operator.planBy('Take line 3 as the header');
    await page.getByText(`give 27 to ${BEN}`).waitFor();
    expect(await page.getByLabel('Header line').inputValue()).toBe('3');

    await offer('wallets.csv', 'wallet,tokens\n0xAB7,37\n');
    expect(await faults()).toContain('with “Table of members”');
    const table = `member,wallet\n${CLEO},0xab7\n`;
    await operator.planned(() => tableField().setInputFiles(csvFile('table.csv', table)));
    await page.getByText(`SHA-256 ${sha256(table)}`).waitFor();
    expect(await page.getByText('by the table of members').count()).toBe(1);
    expect(await flaws(page, 'table')).toEqual([]);
    await operator.planBy('Without a table');
    expect(await faults()).toContain('There is no column for member');
  });

test('faulty cells are corrected in place, and the corrected file is downloaded, hashed and paid', async () => {
  const csv = `member,tokens,reason\r\n${ADA},47,"a, b"\r\n${BEN},1.000,c\r\nx,y,d\r\n${CLEO},1\r\n`;
  await offer('june.csv', csv);
  await page.getByText('only in the file itself').waitFor();
  await page.getByLabel('tokens on line 3').fill('3');
  expect(await flaws(page, 'faulty')).toEqual([]);
  await offer('june.csv', csv.replace(`${CLEO},1\r\n`, ''));
  const cells = page.getByRole('region', { name: 'Faults' }).locator('tbody tr');
  expect(await cells.first().locator('td').nth(0).textContent()).toBe('3');
  expect(await cells.first().locator('td').nth(1).textContent()).toBe('tokens');
  expect(await page.getByText('Refused as a whole; nothing was enqueued.').count()).toBe(1);
  expect(await shown()).toContain('or take only the good rows with the switch above');
  expect(await total().count()).toBe(0);
  const take = page.getByRole('button', { name: 'Take these cells' });
  expect(await take.isDisabled()).toBe(true);
  await page.getByLabel('tokens on line 3').fill('1007');
  await page.getByLabel('member on line 4').fill(CLEO);
  await page.getByLabel('tokens on line 4').fill('8');
  await operator.planned(() => take.click());
  await page.getByRole('button', { name: 'Pay 3 orders' }).waitFor();
  const mended = `member,tokens,reason\r\n${ADA},47,"a, b"\r\n${BEN},1007,c\r\n${CLEO},8,d\r\n`;
  await page.getByText(sha256(mended)).waitFor();
  expect(await flaws(page, 'mended')).toEqual([]);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('june-mended.csv');
  expect(await readFile(await download.path(), 'utf8')).toBe(mended);
  const before = await world().balance(BEN);
  await operator.start(1062);
  await page.getByRole('heading', { level: 1, name: 'june-mended.csv' }).waitFor();
  await operator.stateSays('done');
  expect((await world().balance(BEN)) - before).toBe(1007);
  expect(opened).toMatchObject({ strangers: [], complaints: [] });
});

/** Last: a refused request is an error of the console. */
test('a missing table is reported, and nothing continues without it', async () => {
  await operator.offer('gone.csv', 'meadow', [`${ADA},91`]);
  await operator.planned(() =>
    tableField().setInputFiles(csvFile('gone-table.csv', `member,handle\n${ADA},@ada\n`)),
  );
  const headers = { authorization: `Bearer ${world().desk.token}` };
  const listed = z.object({ uploads: z.array(z.object({ upload: z.string(), name: z.string() })) });
  const { uploads } = listed.parse(
    await (await fetch(`${world().desk.url}/api/uploads`, { headers })).json(),
  );
  const { upload = '' } = uploads.find(({ name }) => name === 'gone-table.csv') ?? {};
  const thrown = await fetch(`${world().desk.url}/api/uploads/${upload}`, { method: 'DELETE', headers });
  expect(thrown.status).toBe(200);
  await page.getByRole('button', { name: 'Plan again' }).click();
  await page.getByRole('alert').getByText('The table of members is not there any more').waitFor();
  await page.getByRole('button', { name: 'Plan it' }).waitFor();
  expect(await page.getByText('gone-table.csv').count()).toBe(0);
  expect(await total().count()).toBe(0);
});
