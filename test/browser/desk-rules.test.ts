import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DESKTOP, type DeskPage, openDesk, PHONE, seriousFindings } from '../support/desk-browser.js';
import { DeskOperator } from '../support/desk-operator.js';
import { deskInBrowser } from '../support/desk-world.js';

/** A rule's go is given by somebody who sees what it is for, and taken back by anybody who may. */

const { members: MEMBERS, world, browser } = deskInBrowser([]);

/** Pictures for people, where a folder is named. */
const PICTURES = process.env.ALMONER_TEST_PICTURES;
const picture = async (page: Page, name: string) => {
  if (PICTURES === undefined) return;
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.screenshot({ path: join(PICTURES, `${name}-${scheme}.png`), fullPage: true });
  }
};

const rule = (name: string, tokens: number) => `name: ${name}
realm: meadow
schedule: { cron: "30 2 * * *", timezone: Europe/Berlin, missed: once }
period: day
audience:
  members: [${MEMBERS.slice(0, 3).join(', ')}]
award:
  tokens: ${tokens}
limits:
  perRun: 500
reason: For every night
`;

describe.each([
  { name: 'desktop', viewport: DESKTOP },
  { name: 'phone', viewport: { ...PHONE, width: 360 } },
])('at a $name', ({ name, viewport }) => {
  const nightly = `nightly-${name}`;
  const put = (tokens: number) =>
    writeFile(join(world().folder, 'jobs', `${nightly}.yaml`), rule(nightly, tokens));
  let opened: DeskPage;
  let page: Page;
  let operator: DeskOperator;
  const card = () => page.getByRole('region', { name: nightly, exact: true });
  const press = (button: string) =>
    card()
      .getByRole('button', { name: `${button}: ${nightly}` })
      .click();
  const answer = async (verb: string, reason?: string) => {
    const dialog = page.getByRole('dialog');
    if (reason !== undefined) await dialog.getByLabel(/^Reason/).fill(reason);
    await dialog.getByRole('button', { name: verb, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const noSideways = async () =>
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);

  beforeAll(async () => {
    await put(5);
    opened = await openDesk(browser(), world().desk, { viewport });
    page = opened.page;
    operator = new DeskOperator(page);
  });
  afterAll(async () => {
    await page?.context().close();
  });

  test('a new rule is shown whole before its go: text, awards, limits, reason and ten runs', async () => {
    await operator.goTo('Rules');
    await press('Approve');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Gives 5 tokens each, once a day').waitFor();
    await dialog.getByText('At most 500 tokens in one run').waitFor();
    await dialog.getByText('Reason beside every order: For every night').waitFor();
    expect(await dialog.getByRole('region', { name: 'Next ten runs' }).locator('tbody tr').count()).toBe(10);
    const isWhole = (box: { scrollWidth: number; clientWidth: number }) => box.scrollWidth <= box.clientWidth;
    expect(await dialog.getByRole('region', { name: 'Next ten runs' }).evaluate(isWhole)).toBe(true);
    await dialog.getByText('No text of it had a go before.').waitFor();
    expect(await dialog.getByRole('region', { name: 'Text of the rule' }).textContent()).toContain(
      'tokens: 5',
    );
    expect(await seriousFindings(page)).toEqual([]);
    await picture(page, `new-${name}`);
    await answer('Approve');
    await card().getByText('ready').waitFor();
  });

  test('a changed one is shown with its difference to the approved text', async () => {
    await put(7);
    await page.reload();
    await press('Approve');
    const shown = page.getByRole('dialog').getByRole('region', { name: 'Difference to the approved text' });
    expect(await shown.locator('.gone').allTextContents()).toEqual(['-   tokens: 5\n']);
    expect(await shown.locator('.new').allTextContents()).toEqual(['+   tokens: 7\n']);
    expect(await seriousFindings(page)).toEqual([]);
    await noSideways();
    await picture(page, `changed-${name}`);
    await answer('Approve', 'two more for everybody');
    await card().getByText('two more for everybody').waitFor();
  });

  test('is paused with a note, resumed, skipped for one run, and its go is taken back', async () => {
    await press('Pause');
    await answer('Pause', 'the list is checked');
    await card().getByText('Its times pass without a run.').waitFor();
    await card()
      .getByText(/the list is checked/)
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await noSideways();
    await picture(page, `paused-${name}`);
    await press('Resume');
    await answer('Resume');
    await press('Skip next run');
    await answer('Skip it', 'holiday');
    await card()
      .getByText(/is skipped\..*holiday/)
      .waitFor();
    // One run skipped is no reason why the ones after it could not be stopped.
    await press('Pause');
    await answer('Pause', 'and the rest too');
    await card()
      .getByText(/and the rest too/)
      .waitFor();
    await press('Resume');
    await answer('Resume');
    await press('Take the go back');
    await answer('Take it back', 'not this month');
    await card().getByText('waits for a go', { exact: true }).waitFor();
    await operator.goTo('Audit');
    const audit = page.getByRole('region', { name: 'Audit of the desk' });
    for (const why of ['the list is checked', 'holiday', 'not this month'])
      await audit.getByText(why).first().waitFor();
  });

  test('met no error and asked no other host', () => {
    expect(opened).toMatchObject({ strangers: [], complaints: [] });
  });
});
