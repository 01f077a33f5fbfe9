import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cutOff, DESKTOP, type DeskPage, openDesk, PHONE, seriousFindings } from '../support/desk-browser.js';
import { DeskOperator } from '../support/desk-operator.js';
import { deskInBrowser } from '../support/desk-world.js';

/** Files as people have them: columns of other names, wallets, cells that are wrong. All of it is put right on the page. */

const { members: MEMBERS, world, browser } = deskInBrowser([]);
const [ADA = '', BEN = '', CLEO = ''] = MEMBERS;

const SCREENS = [
  { name: 'a desktop', viewport: DESKTOP, tokens: 5 },
  { name: 'a phone', viewport: PHONE, tokens: 7 },
];

const csvFile = (name: string, text: string) => {
  return { name, mimeType: 'text/csv', buffer: Buffer.from(text) };
};
const tableField = (page: Page) => page.getByLabel('Table of members (wallets or handles)');

describe.each(SCREENS)('at $name', ({ viewport, tokens }) => {
  let opened: DeskPage;
  let page: Page;
  let operator: DeskOperator;
  beforeAll(async () => {
    opened = await openDesk(browser(), world().desk, { viewport, acceptDownloads: true });
    page = opened.page;
    operator = new DeskOperator(page);
  });
  afterAll(async () => {
    expect(opened).toMatchObject({ strangers: [], complaints: [] });
    await page.context().close();
  });

  const offer = async (name: string, csv: string) => {
    await operator.goTo('Import');
    await page.getByLabel('CSV file', { exact: true }).last().setInputFiles(csvFile(name, csv));
    await page.getByLabel('Realm').selectOption('meadow');
    await operator.planBy(/^Plan (it|again)$/);
  };
  const faults = () => page.getByRole('region', { name: 'Faults' }).locator('td.what').allTextContents();
  const takenFor = (column: string) => page.getByLabel(`${column} is taken for`);
  const looksRight = async () => {
    expect(await cutOff(page)).toEqual([]);
    expect(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    ).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
  };

  test('columns with blanks in their names are mapped, shown as orders in words, kept, and forgotten', async () => {
    const columns = `Who is it ${tokens},My Points,to`;
    await offer('bot.csv', `${columns}\n${ADA},${tokens},x\n`);
    const [told = ''] = await faults();
    expect(told).toContain('under “Columns”');
    expect(told).not.toContain('--');
    await looksRight();
    await takenFor('My Points').selectOption('tokens');
    await takenFor(`Who is it ${tokens}`).selectOption('tokens');
    expect(await takenFor('My Points').inputValue()).toBe('');
    await takenFor(`Who is it ${tokens}`).selectOption('member');
    await takenFor('My Points').selectOption('tokens');
    await takenFor('to').selectOption('');
    await operator.planBy('Plan with these columns');
    await page.getByText(`give ${tokens} to ${ADA}`).waitFor();
    expect(await page.getByText('as you said').count()).toBe(2);
    await looksRight();
    await operator.start(tokens);
    await operator.stateSays('done');

    await offer('bot-next.csv', `${columns}\n${BEN},${tokens},x\n`);
    await page.getByText('said of the same header').waitFor();
    await page.getByRole('button', { name: 'Pay 1 order' }).waitFor();
    await looksRight();
    await operator.planBy('Forget what was said of this header');
    expect((await faults()).join()).toContain('There is no column for');
    expect(await page.getByText('said of the same header').count()).toBe(0);
  });

  test('a title above the header is found, and its line is taken by a button', async () => {
    await offer('titled.csv', `Airdrop of June\n\nmember,tokens\n${BEN},${tokens + 20}\n`);
    expect((await faults()).join()).toContain('“Take line 3 as the header”');
    await page.getByText('Line 3 looks like the header.').waitFor();
    await looksRight();
    await operator.planBy('Take line 3 as the header');
    await page.getByText(`give ${tokens + 20} to ${BEN}`).waitFor();
    expect(await page.getByLabel('Header line').inputValue()).toBe('3');
  });

  test('wallets are paid by a table beside the file, which can be taken away', async () => {
    await offer('wallets.csv', `wallet,tokens\n0xAB${tokens},${tokens + 30}\n`);
    expect((await faults()).join()).toContain('with “Table of members”');
    const table = `member,wallet\n${CLEO},0xab${tokens}\n`;
    await operator.planned(() => tableField(page).setInputFiles(csvFile('table.csv', table)));
    await page.getByText(`SHA-256 ${createHash('sha256').update(table).digest('hex')}`).waitFor();
    expect(await page.getByText('by the table of members').count()).toBe(1);
    await looksRight();
    await operator.planBy('Without a table');
    expect((await faults()).join()).toContain('There is no column for member');
  });

  test('faulty cells are mended in place, and the mended file is what is downloaded, hashed and paid', async () => {
    const csv = `member,tokens,reason\r\n${ADA},${tokens + 40},"a, b"\r\n${BEN},1.000,c\r\nx,y,d\r\n${CLEO},1\r\n`;
    await offer('june.csv', csv);
    await page.getByText('only in the file itself').waitFor();
    await page.getByLabel('tokens on line 3').fill('3');
    await looksRight();
    await offer('june.csv', csv.replace(`${CLEO},1\r\n`, ''));
    const take = page.getByRole('button', { name: 'Take these cells' });
    expect(await take.isDisabled()).toBe(true);
    await page.getByLabel('tokens on line 3').fill(String(1000 + tokens));
    await page.getByLabel('member on line 4').fill(CLEO);
    await page.getByLabel('tokens on line 4').fill(String(tokens + 1));
    await operator.planned(() => take.click());
    await page.getByRole('button', { name: 'Pay 3 orders' }).waitFor();
    const mended = `member,tokens,reason\r\n${ADA},${tokens + 40},"a, b"\r\n${BEN},${1000 + tokens},c\r\n${CLEO},${tokens + 1},d\r\n`;
    const hash = createHash('sha256').update(mended).digest('hex');
    await page.getByText(hash).waitFor();
    await looksRight();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('june-mended.csv');
    expect(await readFile((await download.path()) ?? '', 'utf8')).toBe(mended);
    const before = await world().balance(BEN);
    await operator.start(3 * tokens + 1041);
    await page.getByRole('heading', { level: 1, name: 'june-mended.csv' }).waitFor();
    await operator.stateSays('done');
    expect((await world().balance(BEN)) - before).toBe(1000 + tokens);
  });
});

test('a table that is gone is said so, and nothing goes on without it by itself', async () => {
  // A refused request is an error of the console, so that the page is one of its own.
  const { page } = await openDesk(browser(), world().desk, { viewport: DESKTOP });
  const operator = new DeskOperator(page);
  await operator.offer('gone.csv', 'meadow', [`${ADA},91`]);
  await operator.planned(() =>
    tableField(page).setInputFiles(csvFile('gone-table.csv', `member,handle\n${ADA},@ada\n`)),
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
  expect(await page.getByLabel('Type the total to confirm').count()).toBe(0);
  await page.context().close();
});
