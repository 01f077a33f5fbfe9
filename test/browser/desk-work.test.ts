import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DESKTOP, type DeskPage, openDesk, PHONE, seriousFindings } from '../support/desk-browser.js';
import { DeskOperator } from '../support/desk-operator.js';
import { deskInBrowser } from '../support/desk-world.js';

/** What an operator does on a day at the desk, on a desktop and on a phone, against real processes. */

const { members: MEMBERS, world, browser } = deskInBrowser(['award-5', 'award-7']);

type Viewport = { readonly name: string; readonly viewport: typeof DESKTOP; readonly tokens: number };
/** Each viewport pays other amounts and runs another rule: the same again would be the same batch. */
const VIEWPORTS: readonly Viewport[] = [
  { name: 'a desktop', viewport: DESKTOP, tokens: 5 },
  { name: 'a phone', viewport: PHONE, tokens: 7 },
];

describe.each(VIEWPORTS)('an operator at $name', ({ name, viewport, tokens }) => {
  let opened: DeskPage;
  let page: Page;
  let operator: DeskOperator;

  beforeAll(async () => {
    opened = await openDesk(browser(), world().desk, { viewport });
    page = opened.page;
    operator = new DeskOperator(page);
  });
  afterAll(async () => {
    await page?.context().close();
  });

  test('is signed in by the printed link, which leaves no token in the address', () => {
    expect(page.url()).toBe(`${world().desk.url}/`);
  });

  test('sees every fault of a faulty file with line and column, and cannot start it', async () => {
    await operator.offer('faulty.csv', 'meadow', [
      `${MEMBERS[0]},${tokens}`,
      `${MEMBERS[1]},1.5`,
      `1.19E+18,5`,
    ]);
    const faults = page.getByRole('region', { name: 'Faults' }).locator('tbody tr');
    await faults.first().waitFor();
    expect(await faults.count()).toBe(2);
    expect(await faults.nth(0).locator('td').first().textContent()).toBe('3');
    expect(await faults.nth(0).locator('td').nth(1).textContent()).toBe('tokens');
    expect(await faults.nth(1).locator('td').nth(1).textContent()).toBe('member');
    expect(await page.getByText('Refused as a whole; nothing was enqueued.').count()).toBe(1);
    expect(await page.getByLabel('Type the total to confirm').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('starts a good file only with its total, and watches it finish without reloading', async () => {
    const rows = MEMBERS.map((member) => `${member},${tokens}`);
    await operator.offer(`good-${tokens}.csv`, 'meadow', rows);
    const pay = page.getByRole('button', { name: 'Pay 40 orders' });
    await pay.waitFor();
    await page.getByLabel('Type the total to confirm').fill('41');
    expect(await pay.isDisabled()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await page.evaluate('window.notReloaded = true');
    await operator.start(40 * tokens);
    await page.getByRole('heading', { level: 1, name: `good-${tokens}.csv` }).waitFor();
    await operator.stateSays('done');
    await page.getByRole('heading', { name: '100 % settled' }).waitFor();
    expect(await page.evaluate('window.notReloaded')).toBe(true);
    // Its report comes by itself.
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'results.csv' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toContain(MEMBERS[0]);
  });

  test('is warned that a file was paid, also after another one was to be paid again on purpose', async () => {
    await operator.offer(`labelled-${tokens}.csv`, 'meadow', [`${MEMBERS[0]},${tokens + 50}`]);
    await page.getByRole('button', { name: 'Pay 1 order' }).waitFor();
    await page.getByLabel('Again on purpose').fill('spring');
    await page.getByLabel('Take the good rows, carry the bad ones as invalid').check();
    await operator.planBy('Plan again');
    await page.getByRole('button', { name: 'Another file' }).click();
    await operator.choose(
      `good-${tokens}.csv`,
      MEMBERS.map((member) => `${member},${tokens}`),
    );
    await page.getByText('These very orders are already a batch:').waitFor();
    expect(await page.getByLabel('Again on purpose').inputValue()).toBe('');
    expect(await page.getByLabel('Take the good rows, carry the bad ones as invalid').isChecked()).toBe(
      false,
    );
    expect(await page.getByLabel('Realm').inputValue()).toBe('meadow');
  });

  test('pauses a running batch and resumes it', async () => {
    const rows = Array.from({ length: 240 }, (_, at) => `${MEMBERS[at % 40]},${tokens + 100 + at}`);
    await operator.importFile(`long-${tokens}.csv`, 'meadow', rows);
    await page.getByRole('button', { name: 'Pause' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pause this batch?' });
    await dialog.getByLabel(/^Reason/).fill(`looking twice on ${name}`);
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await operator.stateSays('paused');
    expect(await page.getByRole('heading', { name: '100 % settled' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await operator.stateSays('done');
    const audit = page.getByRole('region', { name: 'Audit of this batch' });
    await audit.getByText(`looking twice on ${name}`).waitFor();
  });

  test('retries a group of dead letters after its members have joined', async () => {
    const late = ['1', '2', '3'].map((digit) => `88${tokens}00${digit}`);
    const rows = [...MEMBERS.slice(0, 8), ...late].map((member) => `${member},${tokens + 50}`);
    await operator.importFile(`late-${tokens}.csv`, 'meadow', rows);
    await operator.stateSays('done');
    await world().join(late);
    await operator.goTo('Dead letters');
    const group = page.locator('.dead-group').first();
    await group.getByText('3', { exact: true }).waitFor();
    await group.getByRole('button', { name: 'Show orders' }).click();
    await group.getByRole('link', { name: late[0] ?? '' }).waitFor();
    await group.getByRole('button', { name: 'Retry', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Retry 3 orders' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Retry 3 orders' }).click();
    await page.getByText('3 of 3 put back to work: 3 paid').waitFor();
    await page.getByText('No dead letters.').waitFor();
  });

  test('decides a doubt by its evidence, with a reason', async () => {
    const rows = MEMBERS.slice(0, 6).map((member) => `${member},${tokens}`);
    await operator.importFile(`doubtful-${tokens}.csv`, 'moor', rows);
    await operator.stateSays('done');
    await page.locator('table.sums').getByRole('link', { name: 'doubt' }).waitFor();
    await operator.stateSays('in doubt');
    await page.getByRole('heading', { name: /^\d+ % settled, \d+ % in doubt$/ }).waitFor();
    await operator.goTo('Doubts');
    await page.getByRole('link', { name: 'Evidence' }).first().click();
    await page.getByRole('rowheader', { name: 'Should be, if paid' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'It was paid' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Reason/).fill(`seen in the log on ${name}`);
    await dialog.getByRole('button', { name: 'Settle 1 order as paid' }).click();
    await page.getByText('Decided.').waitFor();
    await page
      .getByRole('link', { name: /^See what became|-\d+$/ })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: /^Order / }).waitFor();
    await page.getByText('The points were moved.').waitFor();
  });

  test('runs exactly the plan of a rule that was looked at, and has a member explained', async () => {
    await operator.goTo('Rules');
    await page.getByRole('button', { name: `Plan and run award-${tokens}` }).click();
    await page.getByRole('heading', { level: 1, name: `Plan of award-${tokens}` }).waitFor();
    await page.getByRole('heading', { name: 'Would give 50 tokens to 5 members of 12' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run now' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Pay 5 members' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Type the total to confirm').fill('50');
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Pay 5 members' }).click();
    await operator.stateSays('done');
    await operator.goTo('Rules');
    const explain = page.getByRole('region', { name: 'Explain a member' });
    const run = explain.getByRole('option', { name: new RegExp(`^award-${tokens}:`) });
    await explain.getByLabel('Run').selectOption(String(await run.getAttribute('value')));
    await explain.getByLabel('Member').fill(MEMBERS[6] ?? '');
    await explain.getByRole('button', { name: 'Explain' }).click();
    await explain.getByText(`${MEMBERS[6]}: 10 tokens`).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('finds a file, an amount and a member from the one search field', async () => {
    const field = page.getByLabel('Find a reference, file, member, order, amount or day');
    const search = async (text: string) => {
      await field.fill(text);
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByRole('heading', { level: 1, name: `Search for “${text}”` }).waitFor();
    };
    const batches = page.getByRole('region', { name: 'Batches found' }).locator('tbody tr');
    const orders = page.getByRole('region', { name: 'Orders found' }).locator('tbody tr');
    await search(`LATE-${tokens}`);
    await batches.getByRole('link', { name: `late-${tokens}.csv` }).waitFor();
    expect(await batches.count()).toBe(1);
    await page.getByText('No order matches.').waitFor();
    await search(String(tokens + 100));
    await orders.first().waitFor();
    expect(await orders.first().locator('.o-by').textContent()).toBe('amount');
    await search(MEMBERS[0] ?? '');
    await orders.nth(2).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.getByLabel('Found by').selectOption('amount');
    await page.getByText('No order matches.').waitFor();
    await search(MEMBERS[0] ?? '');
    await page.getByRole('link', { name: `Member ${MEMBERS[0]}` }).click();
    await page.getByRole('heading', { level: 1, name: `Member ${MEMBERS[0]}` }).waitFor();
    await page.locator('table.orders tbody tr').nth(2).waitFor();
  });

  test('reads who did what, when and why', async () => {
    await operator.goTo('Audit');
    const audit = page.getByRole('region', { name: 'Audit of the desk' });
    await audit.getByText(`seen in the log on ${name}`).first().waitFor();
    await audit.getByText(`looking twice on ${name}`).first().waitFor();
  });

  test('met no error and asked no other host', () => {
    expect(opened).toMatchObject({ strangers: [], complaints: [] });
  });
});
