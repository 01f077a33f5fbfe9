import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESKTOP, type DeskPage, flaws, openDesk, PHONE } from '../support/program/desk-browser.js';
import { deskInBrowser } from '../support/program/desk-in-browser.js';
import { DeskOperator } from '../support/program/desk-operator.js';

/** Rules: a person approves one that has a schedule after seeing what it does, steers it, and runs another by hand. */

const { members: MEMBERS, world, browser } = deskInBrowser(['award']);

const NAME = 'nightly';
const putRule = (tokens: number) =>
  writeFile(
    join(world().folder, 'jobs', `${NAME}.yaml`),
    `name: ${NAME}
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
`,
  );

let opened: DeskPage;
let page: Page;
let operator: DeskOperator;
const card = () => page.getByRole('region', { name: NAME, exact: true });
const press = (button: string) =>
  card()
    .getByRole('button', { name: `${button}: ${NAME}` })
    .click();
const answer = async (verb: string, reason?: string) => {
  const dialog = page.getByRole('dialog');
  if (reason !== undefined) await dialog.getByLabel(/^Reason/).fill(reason);
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
};

beforeAll(async () => {
  await putRule(5);
  opened = await openDesk(browser(), world().desk, { viewport: DESKTOP });
  page = opened.page;
  operator = new DeskOperator(page);
});
afterAll(async () => {
  await page?.context().close();
});

test('a new rule is shown whole before its approval, and a changed one with its difference', async () => {
  await operator.goTo('Rules');
  await press('Approve');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Gives 5 tokens each, once a day').waitFor();
  await dialog.getByText('At most 500 tokens in one run').waitFor();
  await dialog.getByText('Reason beside every order: For every night').waitFor();
  const runs = dialog.getByRole('region', { name: 'Next ten runs' });
  expect(await runs.locator('tbody tr').count()).toBe(10);
  const isWhole = (box: { scrollWidth: number; clientWidth: number }) => box.scrollWidth <= box.clientWidth;
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport);
    expect(await runs.evaluate(isWhole)).toBe(true);
  }
  await dialog.getByText('No text of this rule was approved before.').waitFor();
  const text = dialog.getByRole('region', { name: 'Text of the rule' });
  expect(await text.textContent()).toContain('tokens: 5');
  expect(await flaws(page, 'new-rule')).toEqual([]);
  await answer('Approve');
  await card().getByText('ready').waitFor();

  await putRule(7);
  await page.reload();
  await press('Approve');
  const shown = dialog.getByRole('region', { name: 'Difference to the approved text' });
  expect(await shown.locator('.gone').allTextContents()).toEqual(['-   tokens: 5\n']);
  expect(await shown.locator('.new').allTextContents()).toEqual(['+   tokens: 7\n']);
  expect(await flaws(page, 'changed-rule')).toEqual([]);
  await answer('Approve', 'two more for everybody');
  await card().getByText('two more for everybody').waitFor();
});

test('is paused with a note, resumed, skipped for one run, and its approval is withdrawn', async () => {
  await press('Pause');
  await answer('Pause', 'the list is checked');
  await card().getByText('Its times pass without a run.').waitFor();
  await card()
    .getByText(/the list is checked/)
    .waitFor();
  expect(await flaws(page, 'paused-rule')).toEqual([]);
  await press('Resume');
  await answer('Resume');
  await press('Skip next run');
  await answer('Skip it', 'holiday');
  await card()
    .getByText(/is skipped\..*holiday/)
    .waitFor();
  // With one run skipped, the ones after it can still be paused.
  await press('Pause');
  await answer('Pause', 'and the rest too');
  await card()
    .getByText(/and the rest too/)
    .waitFor();
  await press('Resume');
  await answer('Resume');
  await press('Withdraw approval');
  await answer('Withdraw', 'not this month');
  await card().getByText('waits for approval', { exact: true }).waitFor();
  await operator.goTo('Audit');
  const audit = page.getByRole('region', { name: 'Audit of the desk' });
  for (const why of ['the list is checked', 'holiday', 'not this month'])
    await audit.getByText(why).first().waitFor();
});

test('the plan of a rule that was looked at is run as it is, and a member is explained', async () => {
  await operator.goTo('Rules');
  await page.getByRole('button', { name: 'Plan and run award' }).click();
  await page.getByRole('heading', { level: 1, name: 'Plan of award' }).waitFor();
  await page.getByRole('heading', { name: 'Would give 50 tokens to 5 members of 12' }).waitFor();
  await page.getByRole('region', { name: 'Awards' }).locator('td.what').first().waitFor();
  expect(await flaws(page, 'rule-plan')).toEqual([]);
  await page.getByRole('button', { name: 'Run now' }).click();
  const dialog = page.getByRole('dialog');
  expect(await dialog.getByRole('button', { name: 'Pay 5 members' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Type the total to confirm').fill('50');
  expect(await flaws(page, 'rule-run')).toEqual([]);
  await dialog.getByRole('button', { name: 'Pay 5 members' }).click();
  await operator.stateSays('done');
  await operator.goTo('Rules');
  const explain = page.getByRole('region', { name: 'Explain a member' });
  const run = explain.getByRole('option', { name: /^award:/ });
  await explain.getByLabel('Run').selectOption(String(await run.getAttribute('value')));
  await explain.getByLabel('Member').fill(MEMBERS[6] ?? '');
  await explain.getByRole('button', { name: 'Explain' }).click();
  await explain.getByText(`${MEMBERS[6]}: 10 tokens`).waitFor();
  expect(await flaws(page, 'rules')).toEqual([]);
});

test('missed times stand on the calendar and the overview; one is made up, the others are let go by keyboard', async () => {
  await operator.goTo('Rules');
  await press('Approve');
  await answer('Approve');
  const days = [4, 3, 2].map((ago) => new Date(Date.now() - ago * 24 * 3_600_000).toISOString().slice(0, 10));
  for (const day of days) await missTime(Date.parse(`${day}T00:30:00Z`), day);
  await operator.goTo('Overview');
  const told = page.getByRole('region', { name: 'Missed times' });
  await told.getByText('3 scheduled times').waitFor();
  expect(await flaws(page, 'overview-missed')).toEqual([]);
  await told.getByRole('link', { name: NAME }).click();
  await page.getByRole('heading', { level: 1, name: 'Calendar' }).waitFor();
  expect(new URL(page.url()).search).toBe(`?rule=${NAME}`);
  const missed = page.getByRole('region', { name: /missed times? paid nobody$/ });
  await missed.getByText('No process ran the schedules').first().waitFor();
  const coming = page.getByRole('region', { name: 'Coming runs' });
  expect(await coming.locator('li').count()).toBe(10);
  expect(await flaws(page, 'calendar')).toEqual([]);

  await missed.getByRole('button', { name: new RegExp(`^Make up: ${NAME}, ${days[0]}`) }).click();
  await page.getByRole('heading', { level: 1, name: `Plan of ${NAME}` }).waitFor();
  await page.getByRole('button', { name: 'Run now' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Type the total to confirm').fill('21');
  await dialog.getByRole('button', { name: 'Pay 3 members' }).click();
  await operator.stateSays('done');

  await operator.goTo('Calendar');
  const past = page.getByRole('region', { name: 'Past runs' });
  await past.getByText('made up', { exact: true }).waitFor();
  await past.getByText('paid 3 (21 tokens)').waitFor();
  const all = missed.getByRole('button', { name: `Dismiss all 2 of ${NAME}` });
  await all.focus();
  await page.keyboard.press('Enter');
  expect(await flaws(page, 'let-go')).toEqual([]);
  await dialog.getByLabel(/^Reason/).fill('nobody was there');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('No scheduled time was missed.').waitFor();
  expect(await past.getByText('let go', { exact: true }).count()).toBe(2);
  await past
    .getByText(/nobody was there/)
    .first()
    .waitFor();
  expect(await flaws(page, 'calendar-past')).toEqual([]);
  await operator.goTo('Audit');
  await page.getByText(`let 2 missed times of rule ${NAME} go`).waitFor();
});

/** As the scheduler notes it when no process has served. */
async function missTime(at: number, period: string): Promise<void> {
  const { store } = world();
  const [schedules = ''] = await store.keys('*:rules:schedules');
  const key = schedules.replace(/schedules$/, 'missed');
  const why = 'No process ran the schedules at that time.';
  const time = { at, period, zone: 'Europe/Berlin', why, notedAt: Date.now() };
  await store.zadd(`${key}:${NAME}`, at, JSON.stringify(time));
  await store.hset(key, NAME, 0);
}

test('met no error and asked no other host', () => {
  expect(opened).toMatchObject({ strangers: [], complaints: [] });
});
