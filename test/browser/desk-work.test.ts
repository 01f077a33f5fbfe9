import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DESKTOP, type DeskPage, flaws, openDesk } from '../support/program/desk-browser.js';
import { deskInBrowser } from '../support/program/desk-in-browser.js';
import { DeskOperator } from '../support/program/desk-operator.js';
import { isLong } from '../support/suites.js';
import { until } from '../support/until.js';

/**
 * An operator’s day at the desk, against real processes, in two windows: one works, the other only watches and never
 * reloads. The tests share one day: later ones continue the batches of earlier ones.
 */
const { members: MEMBERS, world, browser } = deskInBrowser([], [], { slow: true });
const [ADA = ''] = MEMBERS;
/** Unknown to the realm; the first two join it later. */
const STRANGERS = ['770001', '770002', '770003'];

let opened: DeskPage;
let page: Page;
let onlooker: DeskPage;
let looking: Page;
let operator: DeskOperator;

beforeAll(async () => {
  opened = await openDesk(browser(), world().desk, { viewport: DESKTOP });
  page = opened.page;
  operator = new DeskOperator(page);
  // In a window of its own: a tab behind another one is drawn once a second, and every click on it waits for that.
  onlooker = await openDesk(browser(), world().desk, { viewport: DESKTOP });
  looking = onlooker.page;
});
afterAll(async () => {
  for (const one of [page, looking]) await one?.context().close();
});

const badge = (on: Page, place: string) =>
  on.getByRole('navigation', { name: 'Desk' }).getByRole('link', { name: place }).locator('.tally');

/** Opens an address in the window that only looks. */
async function look(path: string): Promise<void> {
  await looking.goto(`${world().desk.url}${path}`);
  await looking.evaluate('window.notReloaded = true');
}
const wasNotReloaded = async () => expect(await looking.evaluate('window.notReloaded')).toBe(true);

/** Opens an address by the page's own router: loading each page anew would only test the browser. */
async function visit(name: string | RegExp, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new Event('popstate'))`,
  );
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await until(`${path} to have loaded`, async () => (await page.locator('.loading').count()) === 0);
}

async function confirm(button: string, reason?: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  if (reason !== undefined) await dialog.getByLabel(/^Reason/).fill(reason);
  await dialog.getByRole('button', { name: button, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

describe('a batch', () => {
  test('starts only with its total, finishes without a reload, and its report can be downloaded', async () => {
    await operator.offer(
      'good.csv',
      'meadow',
      MEMBERS.map((member) => `${member},5`),
    );
    const pay = page.getByRole('button', { name: 'Pay 40 orders' });
    await page.getByLabel('Type the total to confirm').fill('41');
    expect(await pay.isDisabled()).toBe(true);
    await page.evaluate('window.notReloaded = true');
    await operator.start(200);
    await page.getByRole('heading', { level: 1, name: 'good.csv' }).waitFor();
    await operator.stateSays('done');
    await page.getByRole('heading', { name: '100 % settled' }).waitFor();
    // A worker writes the report; the page shows it by itself.
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'results.csv' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toContain(ADA);
    expect(await page.evaluate('window.notReloaded')).toBe(true);
  });

  test('is paused while it runs, resumed and cancelled, each after a dialog', async () => {
    const rows = Array.from({ length: 200 }, (_, at) => `${MEMBERS[at % 40]},${at + 1}`);
    await operator.importFile('slow.csv', 'fen', rows);
    await operator.stateSays('running');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog', { name: 'Pause this batch?' }).waitFor();
    await confirm('Pause', 'looking twice');
    await operator.stateSays('paused');
    await page.getByRole('button', { name: 'Resume' }).click();
    await confirm('Resume');
    await operator.stateSays('running');
    expect(await page.getByRole('heading', { name: '100 % settled' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Cancel the rest' }).click();
    await confirm('Cancel the rest', 'seen enough');
    await operator.stateSays('cancelled');
    const audit = page.getByRole('region', { name: 'Audit of this batch' });
    for (const why of ['looking twice', 'seen enough']) await audit.getByText(why).first().waitFor();
  });
});

describe('dead letters', () => {
  const group = () => page.locator('.dead-group').first();

  test('appear on an open list; a retry reports the outcome of each order', async () => {
    await look('/dead');
    await looking.getByText('No dead letters.').waitFor();
    await operator.importFile('late.csv', 'meadow', [`${ADA},7`, ...STRANGERS.map((one) => `${one},7`)]);
    await operator.stateSays('done');
    await looking.locator('.dead-group').first().waitFor();
    await operator.goTo('Dead letters');
    await group().getByText('3', { exact: true }).waitFor();
    await group().getByRole('button', { name: 'Show orders' }).click();
    await group()
      .getByRole('link', { name: STRANGERS[0] ?? '' })
      .waitFor();
    await group().getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 3 orders' }).waitFor();
    expect(await flaws(page, 'retry')).toEqual([]);
    await world().join(STRANGERS.slice(0, 2));
    await confirm('Retry 3 orders');
    await page.getByText('3 of 3 put back to work: 2 paid, 1 refused again').waitFor();
    await page.getByText('What was not paid again, and why').click();
    expect(await page.locator('.task li').count()).toBe(1);
    await expect.poll(() => badge(looking, 'Dead letters').textContent(), { timeout: 30_000 }).toBe('1');
    await wasNotReloaded();
  });
});

describe('doubts', () => {
  const importDoubts = async (file: string, from: number, rows: number) => {
    const list = Array.from({ length: rows }, (_, at) => `${MEMBERS[at % 40]},${from + at}`);
    await operator.importFile(file, 'moor', list);
    await operator.stateSays('done');
  };
  const heading = () => looking.getByRole('heading', { level: 2, name: /^\d+ doubts$/ });
  const counted = async () => Number.parseInt((await heading().textContent()) ?? '', 10);
  /** The batch is over: the list shows all there are, a moment later. */
  const shownAll = async () => {
    const of = await looking.evaluate<number>(
      "fetch('/api/doubts').then((reply) => reply.json()).then(({ of }) => of)",
    );
    await expect
      .poll(async () => ({ heading: await counted(), badge: await badge(looking, 'Doubts').textContent() }), {
        timeout: 30_000,
      })
      .toEqual({ heading: of, badge: String(of) });
    return of;
  };
  const choose = (at: number) => looking.getByLabel(/^Choose order/).nth(at);

  test('appear on an open list; its heading counts all, and each shows its evidence', async () => {
    await look('/doubts');
    await looking.getByText('No doubts.').waitFor();
    await importDoubts('doubtful.csv', 100, 120);
    await operator.stateSays('in doubt');
    await page.getByRole('heading', { name: /^\d+ % settled, \d+ % in doubt$/ }).waitFor();
    // The chart of the run calls them neither paid nor not paid.
    const figure = page.locator('figure', { hasText: 'settled per' });
    await figure.locator('.key.k-doubt').waitFor();
    expect(await figure.locator('rect.f-refused').count()).toBe(0);
    expect(await figure.locator('rect.f-doubt').count()).toBeGreaterThan(0);
    expect(await figure.locator('svg').getAttribute('aria-label')).toMatch(/, 0 not paid, \d+ in doubt/);
    const rows = looking.locator('table.orders tbody tr');
    await rows.nth(49).waitFor();
    expect(await shownAll()).toBeGreaterThan(50);
    expect(await rows.count()).toBe(50);
    // The worker reads it after the doubt arose, and of some not at all: the realm cuts these lines as well.
    await expect
      .poll(() => looking.locator('table.orders').textContent(), { timeout: 30_000 })
      .toMatch(/then \d/);
    expect(await rows.first().locator('time').count()).toBe(1);
    await wasNotReloaded();
  });

  if (isLong)
    test('a choice is kept over pages with its sum, and ends when other doubts come', async () => {
      await choose(0).check();
      await choose(1).check();
      await looking.getByRole('button', { name: 'Next' }).click();
      await looking.waitForURL(/cursor=/);
      await expect.poll(() => choose(0).isChecked(), { timeout: 30_000 }).toBe(false);
      await choose(0).check();
      await looking.getByText(/^3 chosen, give [\d,]+ · net \+[\d,]+ tokens/).waitFor();
      await looking.getByRole('button', { name: 'Chosen were paid' }).click();
      const dialog = looking.getByRole('dialog', { name: 'Settle 3 orders as paid?' });
      await dialog.getByText(/^3 orders: give [\d,]+ · net \+[\d,]+ tokens/).waitFor();
      await dialog.getByRole('button', { name: 'Go back' }).click();
      const all = await counted();
      await looking.getByRole('button', { name: `Choose all ${all}` }).click();
      await looking.getByText(`All ${all} chosen`).waitFor();
      await importDoubts('later.csv', 400, 20);
      await looking.getByText('Other doubts match than when all were chosen').waitFor();
      await looking.getByText('None chosen').waitFor();
      expect(await shownAll()).toBeGreaterThan(all);
    });

  test('one is decided by its evidence, with a reason', async () => {
    await operator.goTo('Doubts');
    await page.getByRole('link', { name: 'Evidence' }).first().click();
    await page.getByRole('rowheader', { name: 'Should be, if paid' }).waitFor();
    expect(await flaws(page, 'evidence')).toEqual([]);
    await page.getByRole('button', { name: 'It was paid' }).click();
    await confirm('Settle 1 order as paid', 'seen in the log');
    await page.getByText('Decided.').waitFor();
    await page
      .getByRole('link', { name: /^See what became|-\d+$/ })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: /^Order / }).waitFor();
    await page.getByText('The points were moved.').waitFor();
  });
});

/** Thirteen pages with a check of every element: generous, because machines under load are slow at it. */
const TOUR_MS = 240_000;

test(
  'every page is whole and without a barrier: desktop, tablet and phone, light and dark',
  async () => {
    const batch = new URL(await linkTo('late.csv')).pathname;
    const pages: readonly (readonly [name: string | RegExp, path: string])[] = [
      ['Overview', '/'],
      ['Batches', '/batches'],
      ['late.csv', batch],
      ['History', '/history'],
      [/^Order /, `${batch.replace('/batches/', '/orders/')}-2`],
      ['Dead letters', '/dead'],
      ['Doubts', '/doubts'],
      [`Member ${ADA}`, `/members/${ADA}`],
      [`Search for “${ADA}”`, `/find?q=${ADA}`],
      ['Import', '/import'],
      ['Rules', '/rules'],
      ['Calendar', '/calendar'],
      ['Notices', '/notices'],
      ['Audit', '/audit'],
      ['No such page', '/nowhere'],
    ];
    const found: unknown[] = [];
    for (const [name, path] of pages) {
      await visit(name, path);
      found.push(...(await flaws(page, path.replaceAll('/', '_'))));
    }
    expect(found).toEqual([]);
  },
  TOUR_MS,
);

async function linkTo(batch: string): Promise<string> {
  await operator.goTo('Batches');
  const path = await page.getByRole('link', { name: batch }).first().getAttribute('href');
  return `${world().desk.url}${path}`;
}

test('decided doubts leave list, badge and tile of an open page, and no label calls them paid', async () => {
  await operator.goTo('Dead letters');
  await page.locator('.dead-group').getByRole('button', { name: 'Discard', exact: true }).click();
  await confirm('Discard 1 order', 'they left');
  await badge(looking, 'Dead letters').waitFor({ state: 'detached' });
  await operator.goTo('Overview');
  const tile = page.locator('.tile', { hasText: 'Dead letters' });
  expect(await tile.locator('.tile-value').textContent()).toBe('0');
  await operator.goTo('Dead letters');
  await page.getByText('No dead letters.').waitFor();
  expect(await page.locator('main').textContent()).not.toMatch(/was paid/);

  // All doubts that match are settled at once, after their number and sum were shown.
  if (isLong) await looking.getByRole('button', { name: 'First' }).click();
  const button = looking.getByRole('button', { name: /^Choose all \d+$/ });
  await button.click();
  await looking.getByRole('button', { name: 'Chosen were paid' }).click();
  const dialog = looking.getByRole('dialog', { name: /^Settle \d+ orders as paid\?$/ });
  await dialog.getByText(/^\d+ orders: give [\d,]+ · net \+[\d,]+ tokens/).waitFor();
  expect(await flaws(looking, 'settle')).toEqual([]);
  await dialog.getByLabel(/^Reason/).fill('seen in their log');
  await dialog.getByRole('button', { name: /^Settle \d+ orders as paid$/ }).click();
  await looking.getByText(/^(\d+) of \1 done/).waitFor();
  await looking.getByText('No doubts.').waitFor();
  await wasNotReloaded();
});

test('the search field finds a file, an amount and a member', async () => {
  const field = page.getByLabel('Find a reference, file, member, order, amount or day');
  const search = async (text: string) => {
    await field.fill(text);
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { level: 1, name: `Search for “${text}”` }).waitFor();
  };
  const batches = page.getByRole('region', { name: 'Batches found' }).locator('tbody tr');
  const orders = page.getByRole('region', { name: 'Orders found' }).locator('tbody tr');
  await search('LATE.csv');
  await batches.getByRole('link', { name: 'late.csv' }).waitFor();
  expect(await batches.count()).toBe(1);
  await page.getByText('No order matches.').waitFor();
  await search('105');
  await orders.first().waitFor();
  expect(await orders.first().locator('.o-by').textContent()).toBe('amount');
  await search(ADA);
  await orders.nth(2).waitFor();
  await page.getByLabel('Found by').selectOption('amount');
  await page.getByText('No order matches.').waitFor();
  await search(ADA);
  await page.getByRole('link', { name: `Member ${ADA}` }).click();
  await page.getByRole('heading', { level: 1, name: `Member ${ADA}` }).waitFor();
  await page.locator('table.orders tbody tr').nth(2).waitFor();
});

test('the audit says who did what, and why', async () => {
  await operator.goTo('Audit');
  const audit = page.getByRole('region', { name: 'Audit of the desk' });
  for (const why of ['looking twice', 'seen in the log', 'they left'])
    await audit.getByText(why).first().waitFor();
});

test('met no error and asked no other host', () => {
  for (const one of [opened, onlooker]) expect(one).toMatchObject({ strangers: [], complaints: [] });
});
