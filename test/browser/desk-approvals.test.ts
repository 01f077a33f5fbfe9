import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DESKTOP, flaws, openDesk } from '../support/program/desk-browser.js';
import { deskInBrowser } from '../support/program/desk-in-browser.js';
import { DeskOperator } from '../support/program/desk-operator.js';
import { isLong } from '../support/suites.js';

/** Two people in two browsers: one prepares, the other approves. An admin adds and revokes their tokens. */

const ZONE = 'Asia/Tokyo';
const HOUR_MS = 3_600_000;
/** An hour that is quiet half a day from now: payments of these tests are never in it. */
const quietFrom = new Date(Date.now() + (12 + 9) * HOUR_MS).toISOString().slice(11, 13);
const QUIET = `${quietFrom}:00-${quietFrom}:59`;
const {
  members: MEMBERS,
  world,
  browser,
} = deskInBrowser([], [], { approval: { overTokens: 100 }, timezone: ZONE, quietHours: [QUIET] });

async function signIn(token: string) {
  const { page, complaints, strangers } = await openDesk(
    browser(),
    { url: world().desk.url, token },
    { viewport: DESKTOP },
  );
  return { page, at: new DeskOperator(page), complaints, strangers };
}
type Person = Awaited<ReturnType<typeof signIn>>;

/** Through the page, as an admin does. */
async function tokenFor(name: string, ...roles: string[]): Promise<string> {
  const { page } = admin;
  await page.getByLabel('Name').fill(name);
  for (const role of roles) await page.getByLabel(new RegExp(`^${role}:`)).check();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const made = page.locator('.notice', { hasText: `The token of ${name}` });
  await page.getByRole('cell', { name, exact: true }).waitFor();
  return z
    .string()
    .startsWith('almdesk_')
    .parse(await made.locator('code').textContent());
}

let admin: Person;
let ada: Person;
let ben: Person;

beforeAll(async () => {
  admin = await signIn(world().desk.token);
  await admin.at.goTo('People');
  await admin.page.getByText('Nobody has a token.').waitFor();
  ada = await signIn(await tokenFor('ada', 'operator'));
  ben = await signIn(await tokenFor('ben', 'approver'));
});
afterAll(async () => {
  for (const one of [admin, ada, ben]) await one?.page.context().close();
});

const rows = (tokens: number, from = 0) =>
  MEMBERS.slice(from, from + 3).map((member) => `${member},${tokens}`);
const approvals = (page: Page) =>
  page.getByRole('navigation', { name: 'Desk' }).getByRole('link', { name: 'Approvals' });

describe('a batch', () => {
  test('its preparer sees that it waits and why they cannot approve it', async () => {
    await ada.at.importFile('may.csv', 'meadow', rows(30));
    await ada.at.stateSays('done');
    await ada.at.offer('june.csv', 'meadow', rows(70, 1));
    await ada.page.getByText(/a second person has to approve more than 100 tokens from one person/).waitFor();
    await ada.at.start(210);
    await ada.page.getByRole('heading', { level: 1, name: 'june.csv' }).waitFor();
    await ada.at.stateSays('planned');
    await ada.page.getByText('It needs the approval of a person other than ada.').waitFor();
    await ada.page.getByText('ben may approve it.').waitFor();
    expect(await flaws(ada.page, 'batch')).toEqual([]);
    await ada.page.getByRole('link', { name: 'Look at it as the second person does' }).click();
    await ada.page.getByText('You prepared it; another person has to approve it.').waitFor();
    expect(await ada.page.getByRole('button', { name: /^(Approve|Refuse)$/ }).count()).toBe(0);
  });

  test('a second person sees its payments and changes, types the total, and it is paid', async () => {
    const { page } = ben;
    await approvals(page).getByText('1', { exact: true }).waitFor();
    await ben.at.goTo('Approvals');
    expect(await flaws(page, 'approvals')).toEqual([]);
    await page.getByRole('link', { name: 'june.csv' }).click();
    await page.getByText('With may.csv').waitFor();
    await page.getByText('0 orders alike, 1 new, 2 other amount, 1 not here any more.').waitFor();
    expect(await flaws(page, 'approval')).toEqual([]);
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog');
    const approve = dialog.getByRole('button', { name: 'Approve' });
    await dialog.getByLabel('Type the total to confirm').fill('209');
    expect(await approve.isDisabled()).toBe(true);
    await dialog.getByLabel('Type the total to confirm').fill('210');
    expect(await flaws(page, 'approve')).toEqual([]);
    await approve.click();
    await page.getByRole('heading', { level: 1, name: 'june.csv' }).waitFor();
    await ben.at.stateSays('done');
    expect(await world().balance(MEMBERS[3] ?? '')).toBe(1_070);
    await expect.poll(() => approvals(page).textContent(), { timeout: 30_000 }).toBe('Approvals');
  });

  test('once rejected with a reason, no order of it is sent', async () => {
    await ada.at.importFile('july.csv', 'meadow', rows(500, 5));
    const { page } = ben;
    await ben.at.goTo('Approvals');
    await page.getByRole('link', { name: 'july.csv' }).click();
    await page.getByRole('button', { name: 'Refuse' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Reason/).fill('twice as much as agreed');
    await dialog.getByRole('button', { name: 'Refuse' }).click();
    await page.getByRole('heading', { level: 1, name: 'july.csv' }).waitFor();
    await ben.at.stateSays('cancelled');
    await page.getByText('twice as much as agreed').first().waitFor();
    expect(await world().balance(MEMBERS[5] ?? '')).toBe(1_000);
  });

  if (isLong)
    test('paused by its preparer it still waits; cancelled under an open dialog it disappears', async () => {
      const long = `${'a-very-long-name-of-a-file-without-a-blank'.repeat(2)}.csv`;
      await ada.at.importFile(long, 'meadow', rows(400, 5));
      const steer = async (button: string) => {
        await ada.page.getByRole('button', { name: button, exact: true }).click();
        const dialog = ada.page.getByRole('dialog');
        await dialog.getByLabel(/^Reason/).fill('wait for the list');
        await dialog.getByRole('button', { name: button, exact: true }).click();
      };
      await steer('Pause');
      await ada.at.stateSays('paused');
      const { page } = ben;
      await ben.at.goTo('Approvals');
      await page.getByText('ada paused the batch: wait for the list').waitFor();
      await approvals(page).getByText('1', { exact: true }).waitFor();
      expect(await flaws(page, 'long-name')).toEqual([]);
      await page.getByRole('link', { name: long }).click();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('dialog').getByText('It begins when a person resumes it').waitFor();
      expect(await page.getByRole('dialog').getByText('as soon as a worker takes it').count()).toBe(0);
      await steer('Cancel the rest');
      await page.getByText('It was cancelled: no more of its orders are sent.').waitFor();
      expect(await page.getByRole('button', { name: /^(Approve|Refuse)$/ }).count()).toBe(0);
      expect(await flaws(page, 'cancelled')).toEqual([]);
      expect(await flaws(ada.page, 'long-batch')).toEqual([]);
    });

  if (isLong)
    test('its set time and quiet hours are shown to both people by the zone of the realm', async () => {
      const day = new Date(Date.now() + 48 * HOUR_MS).toISOString().slice(0, 10);
      const begins = `${day} 18:30 ${ZONE}`;
      const quiet = `${QUIET} ${ZONE}: nothing is sent for the first time then`;
      const { page, at } = ada;
      await at.goTo('Import');
      await at.choose('later.csv', [`${MEMBERS[0]},500`]);
      await page.getByLabel('Realm').selectOption('meadow');
      await page.getByLabel('Begin at').fill(`${day} 18:30`);
      await at.planBy(/^Plan (it|again)$/);
      await page.getByText(begins).first().waitFor();
      await page.getByText(quiet).waitFor();
      await at.start(500);
      await page.getByRole('heading', { level: 1, name: 'later.csv' }).waitFor();
      await page.getByText(begins).first().waitFor();
      await ben.at.goTo('Approvals');
      await ben.page.getByText(`begins ${begins}`).waitFor();
      await ben.page.getByRole('link', { name: 'later.csv' }).click();
      await ben.page.getByText(quiet).waitFor();
      await ben.page.getByRole('button', { name: 'Approve' }).click();
      const dialog = ben.page.getByRole('dialog');
      await dialog.getByText(`It begins at ${begins}.`).waitFor();
      await dialog.getByLabel('Type the total to confirm').fill('500');
      await dialog.getByRole('button', { name: 'Approve' }).click();
      await page.getByText(`It begins at ${begins}.`).waitFor();
    });
});

test('one person requests a rule’s approval and another gives it', async () => {
  await writeFile(join(world().folder, 'jobs', 'nightly.yaml'), RULE());
  await ada.at.goTo('Rules');
  const press = (page: Page, button: string) =>
    page.getByRole('button', { name: `${button}: nightly` }).click();
  const answer = (page: Page, verb: string) =>
    page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
  await press(ada.page, 'Ask for approval');
  await answer(ada.page, 'Ask for it');
  await ada.page.getByText('You asked for it; another person has to approve it.').waitFor();
  expect(await ada.page.getByRole('button', { name: 'Approve: nightly' }).count()).toBe(0);
  await ben.at.goTo('Approvals');
  await ben.page.getByRole('link', { name: 'Look at its text, then approve it' }).click();
  await press(ben.page, 'Approve');
  await ben.page.getByRole('dialog').getByText('You are the second person.').waitFor();
  expect(await flaws(ben.page, 'rule')).toEqual([]);
  await answer(ben.page, 'Approve');
  await ben.page.getByRole('dialog').waitFor({ state: 'detached' });
  const card = ben.page.getByRole('region', { name: 'nightly', exact: true });
  await card.getByText('ready', { exact: true }).waitFor();
  await card.getByText('by ada', { exact: true }).waitFor();
});

const RULE = () => `name: nightly
realm: meadow
schedule: { cron: "30 2 * * *", timezone: Europe/Berlin, missed: once }
period: day
audience:
  members: [${MEMBERS.slice(0, 3).join(', ')}]
award:
  tokens: 5
limits:
  perRun: 500
reason: For every night
`;

test('the pages fetch nothing from other hosts and log no error', () => {
  expect(ada).toMatchObject({ strangers: [], complaints: [] });
  expect(ben).toMatchObject({ strangers: [], complaints: [] });
});

/** Last: tokens end, and a refused request is an error of the console. */
describe('the page People', () => {
  test('is the admin’s, whose printed link prepares no payment and says so before the total is typed', async () => {
    expect(await ada.page.getByRole('link', { name: 'People' }).count()).toBe(0);
    await ada.page.goto(`${world().desk.url}/people`);
    await ada.page.getByText('Tokens are given and taken by an admin').waitFor();
    const { page, at } = admin;
    await at.goTo('Import');
    await at.choose('own.csv', rows(1));
    await page.getByLabel('Realm').selectOption('meadow');
    await page.getByRole('button', { name: 'Plan it' }).click();
    await page.getByText('ALM_PEOPLE_NAMELESS').waitFor();
    expect(await page.getByLabel('Type the total to confirm').count()).toBe(0);
  });

  test('shows a token once, revokes one’s own and the last admin only with those words', async () => {
    await admin.at.goTo('People');
    const cleo = await signIn(await tokenFor('cleo', 'viewer', 'admin'));
    const { page } = cleo;
    // Long names wrap, and changes by others show without a reload.
    const long = 'x'.repeat(64);
    await cleo.at.goTo('People');
    await tokenFor(long, 'viewer');
    await page.getByRole('cell', { name: long, exact: true }).waitFor();
    expect(await flaws(admin.page, 'people')).toEqual([]);
    await admin.page.getByRole('button', { name: 'Copy' }).click();
    await admin.page.getByRole('button', { name: 'Done' }).click();
    expect(await admin.page.getByText('almdesk_').count()).toBe(0);
    await page.getByRole('button', { name: 'Revoke ben' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('waits for an approval again').waitFor();
    expect(await dialog.getByText('your own token').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke ben' }).waitFor({ state: 'detached' });
    await page.getByText(/^Rule \w+ of realm \w+ loses its approval/).waitFor();
    await ben.page.reload();
    await ben.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.getByRole('button', { name: 'Revoke cleo' }).click();
    await dialog.getByText('This is your own token').waitFor();
    await dialog.getByText('There is no other admin').waitFor();
    expect(await flaws(page, 'revoke')).toEqual([]);
    await dialog.getByRole('button', { name: 'Revoke the last admin' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });
});
