import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DESKTOP, type DeskPage, flaws, openDesk, PHONE } from '../support/program/desk-browser.js';
import { deskInBrowser } from '../support/program/desk-in-browser.js';
import { DeskOperator } from '../support/program/desk-operator.js';

/** Decisions about a file that only a person can make: rows that were paid before, and a realm at another address. */
const {
  members: MEMBERS,
  world,
  browser,
} = deskInBrowser([], ['harbour'], {
  currencies: ['gold', 'gems'],
});
const [ADA = ''] = MEMBERS;

let opened: DeskPage;
let page: Page;
let operator: DeskOperator;
beforeAll(async () => {
  opened = await openDesk(browser(), world().desk, { viewport: DESKTOP });
  page = opened.page;
  operator = new DeskOperator(page);
});
afterAll(async () => {
  await page?.context().close();
});

const csvFile = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
const choose = (name: string, text: string) =>
  page.getByLabel('CSV file', { exact: true }).last().setInputFiles(csvFile(name, text));
const rows = (from: number, to: number, tokens: number) =>
  MEMBERS.slice(from, to).map((member) => `${member},${tokens}`);
const balances = () => Promise.all(MEMBERS.map((member) => world().balance(member)));
const fault = () => page.getByRole('region', { name: 'Faults' }).locator('td.what').allTextContents();
const goodRows = () => page.getByLabel('Take the good rows, carry the bad ones as invalid');
const total = () => page.getByLabel('Type the total to confirm');
const anotherFile = () => page.getByRole('button', { name: 'Another file' }).click();

test('rows that were paid before stop a file; only new rows are paid, and the decision does not carry over to the next file', async () => {
  const onlyNew = () => page.getByLabel(/^Only new rows/);
  await operator.importFile('paid.csv', 'meadow', rows(0, 20, 5));
  await operator.stateSays('done');
  await operator.offer('appended.csv', 'meadow', rows(0, 26, 5));
  const [told = ''] = await fault();
  expect(told).toContain('20 of its 26 rows without a reference are orders already');
  expect(told).toContain('“Only new rows” pays the other 6 rows');
  expect(told).not.toContain('--');
  await page.getByText('Rows of this file were paid before, or may still be.').waitFor();
  expect(await page.getByText('Mend the file').count()).toBe(0);
  expect(await total().count()).toBe(0);
  expect(await flaws(page, 'paid-before')).toEqual([]);

  await operator.planBy('Plan only the new rows');
  expect(await onlyNew().isChecked()).toBe(true);
  const pay = page.getByRole('button', { name: 'Pay 6 orders' });
  await total().fill('30');
  expect(await pay.isEnabled()).toBe(true);
  await onlyNew().uncheck();
  expect(await pay.isDisabled()).toBe(true);
  await page.getByText('The switches above were changed. Plan again').waitFor();
  await onlyNew().check();
  expect(await pay.isEnabled()).toBe(true);
  const before = await balances();
  await operator.start(30);
  await page.getByRole('heading', { level: 1, name: 'appended.csv' }).waitFor();
  await operator.stateSays('done');
  expect(await balances()).toEqual(before.map((had, at) => (at >= 20 && at < 26 ? had + 5 : had)));

  await operator.offer('more.csv', 'meadow', rows(20, 32, 5));
  await operator.planBy('Plan only the new rows');
  await page.getByRole('button', { name: 'Pay 6 orders' }).waitFor();
  await anotherFile();
  await operator.planned(() => operator.choose('again.csv', rows(10, 33, 5)));
  expect((await fault()).join()).toContain('16 of its 23 rows');
  expect(await onlyNew().isChecked()).toBe(false);
  expect(await total().count()).toBe(0);
});

test('a file is paid in the currency that was chosen for it, and the next one in the realm’s own again', async () => {
  const currency = () => page.getByLabel('Currency', { exact: true });
  await operator.offer('golden.csv', 'meadow', [`${ADA},61`]);
  expect(await currency().locator('option').allTextContents()).toEqual(['the realm’s own', 'gold', 'gems']);
  await currency().selectOption('gold');
  expect(await page.getByRole('button', { name: 'Pay 1 order' }).isDisabled()).toBe(true);
  await operator.planBy('Plan again');
  expect(await flaws(page, 'currency')).toEqual([]);
  const before = await world().balance(ADA);
  await operator.start(61);
  await page.getByRole('heading', { level: 1, name: 'golden.csv' }).waitFor();
  await operator.stateSays('done');
  await page.getByText('meadow, in gold').waitFor();
  expect(await world().balance(ADA)).toBe(before);
  const paid = (await world().applied()).filter(({ tokens }) => tokens === 61);
  expect(paid.map((one) => one.currency)).toEqual(['gold']);
  await operator.goTo('Batches');
  await page.getByText(/^give 61.*, in gold$/).waitFor();
  await operator.offer('plain.csv', 'meadow', [`${ADA},62`]);
  expect(await currency().inputValue()).toBe('');
});

test('a file that is already a batch is recognised, even after another file was paid again on purpose', async () => {
  await operator.offer('labelled.csv', 'meadow', [`${ADA},51`]);
  await page.getByRole('button', { name: 'Pay 1 order' }).waitFor();
  await page.getByLabel('Again on purpose').fill('spring');
  await goodRows().check();
  await operator.planBy('Plan again');
  await anotherFile();
  await operator.choose('paid.csv', rows(0, 20, 5));
  await page.getByText('These very orders are already a batch:').waitFor();
  expect(await page.getByLabel('Again on purpose').inputValue()).toBe('');
  expect(await goodRows().isChecked()).toBe(false);
  expect(await page.getByLabel('Realm').inputValue()).toBe('meadow');
  await anotherFile();
});

test('a realm at another address stops a file; a confirmation counts for one realm and one file', async () => {
  const addressMeant = () => page.getByLabel(/^The new address is meant/);
  await page.setViewportSize(PHONE);
  await operator.offer('moved.csv', 'harbour', rows(0, 3, 7));
  const [told = ''] = await fault();
  expect(told).toMatch(
    /Realm meadow was paid before under another address: http:\/\/127\.0\.0\.1:\d+ \(\d+ orders paid/,
  );
  await page.getByText('Go on only if the realm has moved, or is another one with the same id.').waitFor();
  expect(await page.getByText('Mend the file').count()).toBe(0);
  expect(await addressMeant().isChecked()).toBe(false);
  expect(await total().count()).toBe(0);
  expect(await flaws(page, 'other-address')).toEqual([]);

  await operator.planBy('The new address is meant');
  expect(await addressMeant().isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Pay 3 orders' }).waitFor();
  await page.getByRole('region', { name: 'Warnings' }).getByText('under another address').waitFor();
  await page.getByLabel('Realm').selectOption('moor');
  await page.getByLabel('Realm').selectOption('harbour');
  expect(await addressMeant().isChecked()).toBe(false);
  await addressMeant().check();
  await anotherFile();
  await operator.planned(() => operator.choose('moved-on.csv', rows(0, 4, 7)));
  expect((await fault()).join()).toContain('under another address');
  expect(await addressMeant().isChecked()).toBe(false);

  await operator.planBy('The new address is meant');
  await goodRows().check();
  await operator.planBy('Plan again');
  const before = await balances();
  await operator.start(28);
  await page.getByRole('heading', { level: 1, name: 'moved-on.csv' }).waitFor();
  await operator.stateSays('done');
  expect(await balances()).toEqual(before.map((had, at) => (at < 4 ? had + 7 : had)));
  const audit = page.getByRole('region', { name: 'Audit of this batch' });
  await audit.getByText('new address: the realm was paid before at').waitFor();
  await operator.offer('settled.csv', 'harbour', [`${MEMBERS[5]},8`]);
  await page.getByRole('button', { name: 'Pay 1 order' }).waitFor();
  expect(await addressMeant().count()).toBe(0);
  await anotherFile();
  await page.setViewportSize(DESKTOP);
});

test('files from closed tabs are shown to their owner, who resumes or discards them', async () => {
  for (const [file, tokens] of [
    ['left-one.csv', 61],
    ['left-two.csv', 62],
  ] as const) {
    const tab = await page.context().newPage();
    await tab.goto(`${world().desk.url}/import`);
    await new DeskOperator(tab).choose(file, rows(0, 3, tokens));
    await tab.getByRole('button', { name: /^Plan (it|again)$/ }).waitFor();
    await tab.close();
  }
  await operator.goTo('Overview');
  await operator.goTo('Import');
  const left = page.getByRole('region', { name: 'Uploaded and not started' });
  await left.getByText('left-two.csv').waitFor();
  expect(await flaws(page, 'left')).toEqual([]);
  await left.getByRole('button', { name: 'Throw away left-one.csv' }).click();
  await left.getByText('left-one.csv').waitFor({ state: 'detached' });
  await left.getByRole('button', { name: 'Go on with left-two.csv' }).click();
  await page.getByLabel('Realm').selectOption('moor');
  await operator.planBy(/^Plan (it|again)$/);
  await page.getByRole('button', { name: 'Pay 3 orders' }).waitFor();
  await anotherFile();
  await page.getByText('Drop a CSV here').waitFor();
  await page.getByText('left-two.csv').waitFor({ state: 'detached' });

  // The hidden field for files is no stop on the way through the page by Tab.
  await page.getByRole('button', { name: 'Choose a file' }).focus();
  await page.keyboard.press('Shift+Tab');
  expect(await page.evaluate('document.activeElement.id')).not.toBe('csv');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Choose a file');
});

describe('an answer that comes late', () => {
  /** Holds the first request to this address until the returned function is called. */
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

  test('does not replace a newer file or later input', async () => {
    await operator.goTo('Import');
    const go = await holdFirst('**/api/uploads/*/plan');
    await choose('first.csv', `member,tokens\n${ADA},5\n`);
    await page.getByLabel('Realm').selectOption('meadow');
    await page.getByRole('button', { name: /^Plan (it|again)$/ }).click();
    await anotherFile();
    await choose('second.csv', `member,tokens\n${ADA},6\n`);
    await page.getByText(`give 6 to ${ADA}`).waitFor();
    const answered = page.waitForResponse('**/api/uploads/*/plan');
    go();
    await (await answered).finished();
    await page.unroute('**/api/uploads/*/plan');
    // Asked after it, answered after it: by then the page has shown whatever the late answer makes it show.
    await page.evaluate(
      "fetch('/health').then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))",
    );
    expect(await page.getByRole('heading', { name: 'second.csv' }).count()).toBe(1);
    expect(await page.getByText(`give 6 to ${ADA}`).count()).toBe(1);
    expect(await page.getByText('There is no such upload').count()).toBe(0);

    const letGo = await holdFirst('**/api/uploads?name=table.csv');
    await page
      .getByLabel('Table of members (wallets or handles)')
      .setInputFiles(csvFile('table.csv', `member,wallet\n${ADA},0xab\n`));
    await page.getByLabel('Begin at').fill('23:30');
    const planned = page.waitForResponse('**/api/uploads/*/plan');
    letGo();
    await planned;
    expect(await page.getByLabel('Begin at').inputValue()).toBe('23:30');
  });
});

test('the pages log no error but the refused plan, and call no other host', () => {
  expect(opened.strangers).toEqual([]);
  expect(opened.complaints.filter((text) => !/ 404 .*\/plan$/.test(text))).toEqual([]);
});
