import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  cutOff,
  DESKTOP,
  type DeskPage,
  openDesk,
  PHONE,
  seriousFindings,
  TABLET,
} from '../support/desk-browser.js';
import { DeskOperator } from '../support/desk-operator.js';
import { deskInBrowser } from '../support/desk-world.js';

/** Dead letters and doubts in two tabs: one works, the other only looks and is never reloaded. */

const { members: MEMBERS, world, browser } = deskInBrowser(['award-5']);
let opened: DeskPage;
let page: Page;
let looking: Page;
let operator: DeskOperator;

beforeAll(async () => {
  opened = await openDesk(browser(), world().desk, { viewport: DESKTOP });
  page = opened.page;
  operator = new DeskOperator(page);
  looking = await page.context().newPage();
  looking.setDefaultTimeout(15_000);
});
afterAll(async () => {
  await page?.context().close();
});

const badge = (on: Page, place: string) =>
  on.getByRole('navigation', { name: 'Desk' }).getByRole('link', { name: place }).locator('.tally');

async function open(path: string): Promise<void> {
  await looking.goto(`${world().desk.url}${path}`);
  await looking.evaluate('window.notReloaded = true');
}

describe('dead letters', () => {
  test('a retried group says that it was refused again, and the other tab follows', async () => {
    await open('/dead');
    await looking.getByText('No dead letters.').waitFor();
    await operator.importFile('strangers.csv', 'meadow', ['770001,5', '770002,6', `${MEMBERS[0]},7`]);
    await operator.stateSays('done');
    await looking.locator('.dead-group').first().waitFor();
    await operator.goTo('Dead letters');
    await page.locator('.dead-group').getByRole('button', { name: 'Retry', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 2 orders' }).click();
    await page.getByText('2 of 2 put back to work: 2 refused again').waitFor();
    await page.getByText('What was not paid again, and why').click();
    expect(await page.locator('.task li').count()).toBe(2);
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('discarded, they leave list, badge and tile without a reload, and nothing calls them paid', async () => {
    expect(await badge(looking, 'Dead letters').textContent()).toBe('2');
    await page.locator('.dead-group').getByRole('button', { name: 'Discard', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Reason/).fill('they left');
    await dialog.getByRole('button', { name: 'Discard 2 orders' }).click();
    await looking.getByText('No dead letters.').waitFor();
    await badge(looking, 'Dead letters').waitFor({ state: 'detached' });
    expect(await looking.locator('main').textContent()).not.toMatch(/was paid/);
    await operator.goTo('Overview');
    const tile = page.locator('.tile', { hasText: 'Dead letters' });
    expect(await tile.locator('.tile-value').textContent()).toBe('0');
    expect(await looking.evaluate('window.notReloaded')).toBe(true);
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
  /** The batch is over: what the list shows is what there is, a moment later. */
  const shownAll = async () => {
    const of = await looking.evaluate<number>(
      "fetch('/api/doubts').then((reply) => reply.json()).then(({ of }) => of)",
    );
    const shown = { heading: of, badge: String(of) };
    await expect
      .poll(async () => ({ heading: await counted(), badge: await badge(looking, 'Doubts').textContent() }), {
        timeout: 30_000,
      })
      .toEqual(shown);
    return of;
  };

  test('come to a list that is open; its heading counts all, and each shows its evidence', async () => {
    await open('/doubts');
    await looking.getByText('No doubts.').waitFor();
    await importDoubts('doubtful.csv', 100, 120);
    const rows = looking.locator('table.orders tbody tr');
    await rows.nth(49).waitFor();
    await badge(looking, 'Doubts').waitFor();
    expect(await shownAll()).toBeGreaterThan(50);
    expect(await rows.count()).toBe(50);
    // Read after the doubt arose, and of some not at all: the realm cuts these lines as well.
    await expect
      .poll(() => looking.locator('table.orders').textContent(), { timeout: 15_000 })
      .toMatch(/then \d/);
    expect(await rows.first().locator('time').count()).toBe(1);
    expect(await seriousFindings(looking)).toEqual([]);
    expect(await looking.evaluate('window.notReloaded')).toBe(true);
  });

  test.each([TABLET, PHONE])('nothing is cut off at $width px', async (viewport) => {
    const narrow = await page.context().newPage();
    narrow.setDefaultTimeout(15_000);
    await narrow.setViewportSize(viewport);
    const places: readonly (readonly [string, string])[] = [
      ['/doubts', 'table.orders tbody tr'],
      ['/', '.realms .plot'],
      ['/batches', '.tallies'],
      [new URL(page.url()).pathname, 'table.orders tbody tr'],
      ['/audit', 'tbody tr'],
      ['/import', '.drop'],
      ['/rules', '[aria-label="Plan and run award-5"]'],
    ];
    for (const [path, sign] of places) {
      await narrow.goto(`${world().desk.url}${path}`);
      await narrow.locator(sign).first().waitFor();
      expect([path, await cutOff(narrow)]).toEqual([path, []]);
    }
    await narrow.getByRole('button', { name: 'Plan and run award-5' }).click();
    await narrow.getByRole('region', { name: 'Awards' }).locator('td.what').first().waitFor();
    expect(await cutOff(narrow)).toEqual([]);
    await narrow.goto(`${world().desk.url}/doubts`);
    await narrow.getByRole('link', { name: 'Evidence' }).first().click();
    await narrow.getByRole('rowheader', { name: 'Should be, if paid' }).waitFor();
    expect(await cutOff(narrow)).toEqual([]);
    expect(await seriousFindings(narrow)).toEqual([]);
    await narrow.close();
  });

  test('the chart of the run calls them neither paid nor not paid', async () => {
    const figure = page.locator('figure', { hasText: 'settled per' });
    await figure.locator('.key.k-doubt').waitFor();
    expect(await figure.locator('rect.f-refused').count()).toBe(0);
    expect(await figure.locator('rect.f-doubt').count()).toBeGreaterThan(0);
    expect(await figure.locator('svg').getAttribute('aria-label')).toMatch(/, 0 not paid, \d+ in doubt/);
  });

  test('a choice is kept over pages, with its sum', async () => {
    await looking
      .getByLabel(/^Choose order/)
      .nth(0)
      .check();
    await looking
      .getByLabel(/^Choose order/)
      .nth(1)
      .check();
    await looking.getByRole('button', { name: 'Next' }).click();
    await looking.waitForURL(/cursor=/);
    await expect
      .poll(() =>
        looking
          .getByLabel(/^Choose order/)
          .nth(0)
          .isChecked(),
      )
      .toBe(false);
    await looking
      .getByLabel(/^Choose order/)
      .nth(0)
      .check();
    await looking.getByText(/^3 chosen, give [\d,]+ · net \+[\d,]+ tokens/).waitFor();
    await looking.getByRole('button', { name: 'Chosen were paid' }).click();
    const dialog = looking.getByRole('dialog', { name: 'Settle 3 orders as paid?' });
    await dialog.getByText(/^3 orders: give [\d,]+ · net \+[\d,]+ tokens/).waitFor();
    await dialog.getByRole('button', { name: 'Go back' }).click();
  });

  test('what comes after all were chosen is not among them', async () => {
    const all = await counted();
    await looking.getByRole('button', { name: `Choose all ${all}` }).click();
    await looking.getByText(`All ${all} chosen`).waitFor();
    await importDoubts('later.csv', 400, 20);
    await looking.getByText('Other doubts match than when all were chosen').waitFor();
    await looking.getByText('None chosen').waitFor();
    expect(await shownAll()).toBeGreaterThan(all);
  });

  test('all that match are ended at once, after their number and sum were shown', async () => {
    await looking.getByRole('button', { name: 'First' }).click();
    const all = await counted();
    await looking.getByRole('button', { name: `Choose all ${all}` }).click();
    await looking.getByRole('button', { name: 'Chosen were paid' }).click();
    const dialog = looking.getByRole('dialog', { name: `Settle ${all} orders as paid?` });
    await dialog.getByText(/^\d+ orders: give [\d,]+ · net \+[\d,]+ tokens/).waitFor();
    expect(await seriousFindings(looking)).toEqual([]);
    await dialog.getByLabel(/^Reason/).fill('seen in the log');
    await dialog.getByRole('button', { name: `Settle ${all} orders as paid` }).click();
    await looking.getByText(`${all} of ${all} done`).waitFor();
    await looking.getByText('No doubts.').waitFor();
  });

  test('met no error', () => {
    expect(opened).toMatchObject({ strangers: [], complaints: [] });
  });
});
