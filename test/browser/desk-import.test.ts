import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DESKTOP, type DeskPage, openDesk, PHONE, seriousFindings } from '../support/desk-browser.js';
import { DeskOperator } from '../support/desk-operator.js';
import { deskInBrowser } from '../support/desk-world.js';

/** What only a person can decide about a file: that rows were paid before, and that an address is another one. */

const { members: MEMBERS, world, browser } = deskInBrowser([], ['harbour', 'lagoon']);

type Screen = { readonly name: string; readonly viewport: typeof DESKTOP; readonly tokens: number };
/** Each pays other amounts: the same again would be what the other one paid. */
const A_DESKTOP: Screen = { name: 'a desktop', viewport: DESKTOP, tokens: 5 };
const A_PHONE: Screen = { name: 'a phone', viewport: PHONE, tokens: 7 };

let opened: DeskPage;
let page: Page;
let operator: DeskOperator;
const openScreen = async ({ viewport }: Screen) => {
  opened = await openDesk(browser(), world().desk, { viewport });
  page = opened.page;
  operator = new DeskOperator(page);
};
const closeScreen = async () => {
  expect(opened).toMatchObject({ strangers: [], complaints: [] });
  await page.context().close();
};

const rowsOf = (from: number, to: number, tokens: number) =>
  MEMBERS.slice(from, to).map((member) => `${member},${tokens}`);
const balances = () => Promise.all(MEMBERS.map((member) => world().balance(member)));
const fault = () => page.getByRole('region', { name: 'Faults' }).locator('td.what').allTextContents();
const onlyNew = () => page.getByLabel(/^Only new rows/);
const addressMeant = () => page.getByLabel(/^The new address is meant/);
const total = () => page.getByLabel('Type the total to confirm');
const fitsTheScreen = () =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
const countsShown = async () => {
  const reply = await fetch(`${world().desk.url}/api${new URL(page.url()).pathname}`, {
    headers: { authorization: `Bearer ${world().desk.token}` },
  });
  const shape = z.object({ summary: z.object({ counts: z.record(z.string(), z.number()) }) });
  return shape.parse(await reply.json()).summary.counts;
};

describe.each([A_DESKTOP, A_PHONE])('rows that were paid before, at $name', (screen) => {
  const { tokens } = screen;
  const rows = (from: number, to: number) => rowsOf(from, to, tokens);
  beforeAll(async () => {
    await openScreen(screen);
    await operator.importFile(`paid-${tokens}.csv`, 'meadow', rows(0, 20));
    await operator.stateSays('done');
  });
  afterAll(closeScreen);

  test('stop the file in the words of this page, which offers the new ones alone', async () => {
    await operator.offer(`appended-${tokens}.csv`, 'meadow', rows(0, 26));
    const [told = ''] = await fault();
    expect(told).toContain('20 of its 26 rows without a reference are orders already');
    expect(told).toContain('“Only new rows” pays the other 6 rows');
    expect(told).not.toContain('--');
    await page.getByText('Rows of this file were paid before, or may still be.').waitFor();
    expect(await page.getByText('Mend the file').count()).toBe(0);
    expect(await total().count()).toBe(0);
    expect(await fitsTheScreen()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('a choice is seen in the switches, and a plan they no longer belong to cannot be started', async () => {
    await operator.planBy('Plan only the new rows');
    expect(await onlyNew().isChecked()).toBe(true);
    const pay = page.getByRole('button', { name: 'Pay 6 orders' });
    await total().fill(String(6 * tokens));
    expect(await pay.isEnabled()).toBe(true);
    await onlyNew().uncheck();
    expect(await pay.isDisabled()).toBe(true);
    await page.getByText('The switches above were changed. Plan again').waitFor();
    await onlyNew().check();
    expect(await pay.isEnabled()).toBe(true);
  });

  test('exactly the new rows that were confirmed are paid', async () => {
    const before = await balances();
    await operator.start(6 * tokens);
    await page.getByRole('heading', { level: 1, name: `appended-${tokens}.csv` }).waitFor();
    await operator.stateSays('done');
    expect(await countsShown()).toEqual({ paid: 6, duplicate: 20 });
    expect(await balances()).toEqual(before.map((had, at) => (at >= 20 && at < 26 ? had + tokens : had)));
  });

  test('stop the next file again: what was said of one ends with it', async () => {
    await operator.offer(`more-${tokens}.csv`, 'meadow', rows(20, 32));
    await operator.planBy('Plan only the new rows');
    await page.getByRole('button', { name: 'Pay 6 orders' }).waitFor();
    await page.getByRole('button', { name: 'Another file' }).click();
    await operator.planned(() => operator.choose(`again-${tokens}.csv`, rows(10, 33)));
    expect((await fault()).join()).toContain('16 of its 23 rows');
    expect(await onlyNew().isChecked()).toBe(false);
    expect(await total().count()).toBe(0);
  });
});

/** Once said, an address is not asked for again: each screen moves to one of its own. */
const MOVES = [
  { ...A_DESKTOP, door: 'harbour' },
  { ...A_PHONE, door: 'lagoon' },
];

describe.each(MOVES)('a realm under another address, at $name', (screen) => {
  const { tokens, door } = screen;
  const rows = (from: number, to: number) => rowsOf(from, to, tokens);
  beforeAll(() => openScreen(screen));
  afterAll(closeScreen);

  test('stops the file with what it would mean to go on', async () => {
    await operator.offer(`moved-${tokens}.csv`, door, rows(0, 3));
    const [told = ''] = await fault();
    expect(told).toMatch(
      /Realm meadow was paid before under another address: http:\/\/127\.0\.0\.1:\d+ \(\d+ orders paid/,
    );
    await page.getByText('Go on only if the realm has moved, or is another one with the same id.').waitFor();
    expect(await page.getByText('Mend the file').count()).toBe(0);
    expect(await addressMeant().isChecked()).toBe(false);
    expect(await total().count()).toBe(0);
    expect(await fitsTheScreen()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('is meant of one realm and one file only', async () => {
    await operator.planBy('The new address is meant');
    expect(await addressMeant().isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Pay 3 orders' }).waitFor();
    await page.getByRole('region', { name: 'Warnings' }).getByText('under another address').waitFor();
    await page.getByLabel('Realm').selectOption('moor');
    await page.getByLabel('Realm').selectOption(door);
    expect(await addressMeant().isChecked()).toBe(false);
    await addressMeant().check();
    await page.getByRole('button', { name: 'Another file' }).click();
    await operator.planned(() => operator.choose(`moved-on-${tokens}.csv`, rows(0, 4)));
    expect((await fault()).join()).toContain('under another address');
    expect(await addressMeant().isChecked()).toBe(false);
  });

  test('is meant beside other switches, pays the file that was confirmed, and is asked once', async () => {
    await operator.planBy('The new address is meant');
    await page.getByLabel('Take the good rows, carry the bad ones as invalid').check();
    await operator.planBy('Plan again');
    const before = await balances();
    await operator.start(4 * tokens);
    await page.getByRole('heading', { level: 1, name: `moved-on-${tokens}.csv` }).waitFor();
    await operator.stateSays('done');
    expect(await balances()).toEqual(before.map((had, at) => (at < 4 ? had + tokens : had)));
    const audit = page.getByRole('region', { name: 'Audit of this batch' });
    await audit.getByText('new address: the realm was paid before at').waitFor();
    await operator.offer(`settled-${tokens}.csv`, door, [`${MEMBERS[5]},${tokens + 1}`]);
    await page.getByRole('button', { name: 'Pay 1 order' }).waitFor();
    expect(await addressMeant().count()).toBe(0);
  });
});

describe('files left in tabs that were closed', () => {
  beforeAll(() => openScreen(A_DESKTOP));
  afterAll(closeScreen);

  test('are shown to their owner, gone on with, and thrown away', async () => {
    for (const [file, tokens] of [
      ['left-one.csv', 61],
      ['left-two.csv', 62],
    ] as const) {
      const tab = await page.context().newPage();
      await tab.goto(`${world().desk.url}/import`);
      await new DeskOperator(tab).choose(file, rowsOf(0, 3, tokens));
      await tab.getByRole('button', { name: /^Plan (it|again)$/ }).waitFor();
      await tab.close();
    }
    await operator.goTo('Import');
    const left = page.getByRole('region', { name: 'Uploaded and not started' });
    await left.getByText('left-two.csv').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await left.getByRole('button', { name: 'Throw away left-one.csv' }).click();
    await left.getByText('left-one.csv').waitFor({ state: 'detached' });
    await left.getByRole('button', { name: 'Go on with left-two.csv' }).click();
    await page.getByLabel('Realm').selectOption('moor');
    await operator.planBy(/^Plan (it|again)$/);
    await page.getByRole('button', { name: 'Pay 3 orders' }).waitFor();
    await page.getByRole('button', { name: 'Another file' }).click();
    await page.getByText('Drop a CSV here').waitFor();
    await page.getByText('left-two.csv').waitFor({ state: 'detached' });
  });

  test('the hidden field for files is no stop on the way through the page by Tab', async () => {
    await page.getByRole('button', { name: 'Choose a file' }).focus();
    await page.keyboard.press('Shift+Tab');
    expect(await page.evaluate('document.activeElement.id')).not.toBe('csv');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Choose a file');
  });
});
