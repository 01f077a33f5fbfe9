import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cutOff, DESKTOP, openDesk, PHONE, seriousFindings } from '../support/desk-browser.js';
import { DeskOperator } from '../support/desk-operator.js';
import { deskInBrowser } from '../support/desk-world.js';

/** Two people in two browsers: one prepares, the other says go; and an admin gives and takes their tokens. */

const { members: MEMBERS, world, browser } = deskInBrowser([], [], { approval: { overTokens: 100 } });

/** Pictures for people, where a folder is named. */
const PICTURES = process.env.ALMONER_TEST_PICTURES;

let admin: Page;

/** Looks at a page as it stands: nothing is cut off, and axe finds nothing. */
async function looked(page: Page, name: string): Promise<void> {
  for (const { size, viewport } of [
    { size: 'wide', viewport: DESKTOP },
    { size: 'phone', viewport: PHONE },
  ]) {
    await page.setViewportSize(viewport);
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    if ((await page.getByRole('dialog').count()) === 0) expect(await cutOff(page)).toEqual([]);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect([name, size, scheme, await seriousFindings(page)]).toEqual([name, size, scheme, []]);
      if (PICTURES !== undefined)
        await page.screenshot({ path: join(PICTURES, `${name}-${size}-${scheme}.png`), fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(DESKTOP);
}

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
  await admin.getByLabel('Name').fill(name);
  for (const role of roles) await admin.getByLabel(new RegExp(`^${role}:`)).check();
  await admin.getByRole('button', { name: 'Add', exact: true }).click();
  const made = admin.locator('.notice', { hasText: `The token of ${name}` });
  await admin.getByRole('cell', { name, exact: true }).waitFor();
  return z
    .string()
    .startsWith('almdesk_')
    .parse(await made.locator('code').textContent());
}

let ada: Person;
let ben: Person;

beforeAll(async () => {
  const { page, at } = await signIn(z.string().parse(world().desk.token));
  admin = page;
  await at.goTo('People');
  await admin.getByText('Nobody has a token.').waitFor();
  ada = await signIn(await tokenFor('ada', 'operator'));
  ben = await signIn(await tokenFor('ben', 'approver'));
});
afterAll(async () => {
  for (const page of [admin, ada?.page, ben?.page]) await page?.context().close();
});

const rows = (tokens: number, from = 0) =>
  MEMBERS.slice(from, from + 3).map((member) => `${member},${tokens}`);
const approvals = (page: Page) =>
  page.getByRole('navigation', { name: 'Desk' }).getByRole('link', { name: 'Approvals' });

describe('a batch', () => {
  test('ada prepares it, sees that it waits and why she cannot say go', async () => {
    await ada.at.importFile('may.csv', 'meadow', rows(30));
    await ada.at.stateSays('done');
    await ada.at.offer('june.csv', 'meadow', rows(70, 1));
    await ada.page.getByText(/a second person has to say go for what one person prepares/).waitFor();
    await looked(ada.page, 'import');
    await ada.at.start(210);
    await ada.page.getByRole('heading', { level: 1, name: 'june.csv' }).waitFor();
    await ada.at.stateSays('planned');
    await ada.page.getByText('somebody other than ada has to say go').waitFor();
    await ada.page.getByText('ben may say go.').waitFor();
    await looked(ada.page, 'batch');
    await ada.page.getByRole('link', { name: 'Look at it as the second person does' }).click();
    await ada.page.getByText('You prepared it; somebody else has to say go.').waitFor();
    expect(await ada.page.getByRole('button', { name: /^(Approve|Refuse)$/ }).count()).toBe(0);
    await looked(ada.page, 'own');
  });

  test('ben sees what it does and what is new in it, types the total, and it is paid', async () => {
    const { page } = ben;
    await approvals(page).getByText('1', { exact: true }).waitFor();
    await ben.at.goTo('Approvals');
    await looked(page, 'list');
    await page.getByRole('link', { name: 'june.csv' }).click();
    await page.getByText('With may.csv').waitFor();
    await page.getByText('0 orders alike, 1 new, 2 other amount, 1 not here any more.').waitFor();
    await looked(page, 'approval');
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog');
    const approve = dialog.getByRole('button', { name: 'Approve' });
    await dialog.getByLabel('Type the total to confirm').fill('209');
    expect(await approve.isDisabled()).toBe(true);
    await dialog.getByLabel('Type the total to confirm').fill('210');
    await looked(page, 'dialog');
    await approve.click();
    await page.getByRole('heading', { level: 1, name: 'june.csv' }).waitFor();
    await ben.at.stateSays('done');
    expect(await world().balance(MEMBERS[3] ?? '')).toBe(1_070);
    await expect.poll(() => approvals(page).textContent(), { timeout: 15_000 }).toBe('Approvals');
  });

  test('refused with a reason, nothing of it is sent', async () => {
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

  test('paused by its preparer it still waits, and says so; cancelled under an open dialog it is gone', async () => {
    const long = `${'a-very-long-name-of-a-file-without-a-blank'.repeat(2)}.csv`;
    await ada.at.importFile(long, 'meadow', rows(400, 5));
    const batch = ada.page.url();
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
    await looked(page, 'long-list');
    await page.getByRole('link', { name: long }).click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').getByText('It begins when somebody resumes it').waitFor();
    expect(await page.getByRole('dialog').getByText('as soon as a worker takes it').count()).toBe(0);
    expect(ada.page.url()).toBe(batch);
    await steer('Cancel the rest');
    await page.getByText('It was cancelled: nothing more of it is sent.').waitFor();
    expect(await page.getByRole('button', { name: /^(Approve|Refuse)$/ }).count()).toBe(0);
    await looked(page, 'cancelled');
    await looked(ada.page, 'long-batch');
  });

  test('the printed link cannot prepare one, and says so before the total is typed', async () => {
    const local = new DeskOperator(admin);
    await local.goTo('Import');
    await local.choose('own.csv', rows(1));
    await admin.getByLabel('Realm').selectOption('meadow');
    await admin.getByRole('button', { name: 'Plan it' }).click();
    await admin.getByText('ALM_PEOPLE_NAMELESS').waitFor();
    expect(await admin.getByLabel('Type the total to confirm').count()).toBe(0);
  });
});

test('a rule’s go is asked for by one and given by the other', async () => {
  await writeFile(join(world().folder, 'jobs', 'nightly.yaml'), RULE());
  await ada.at.goTo('Rules');
  const press = (page: Page, button: string) =>
    page.getByRole('button', { name: `${button}: nightly` }).click();
  const answer = (page: Page, verb: string) =>
    page.getByRole('dialog').getByRole('button', { name: verb, exact: true }).click();
  await press(ada.page, 'Ask for a go');
  await looked(ada.page, 'rule-ask');
  await answer(ada.page, 'Ask for it');
  await ada.page.getByText('You asked for it; somebody else has to say go.').waitFor();
  expect(await ada.page.getByRole('button', { name: 'Approve: nightly' }).count()).toBe(0);
  await ben.at.goTo('Approvals');
  await ben.page.getByRole('link', { name: 'Look at its text, then approve it' }).click();
  await looked(ben.page, 'rule-asked');
  await press(ben.page, 'Approve');
  await ben.page.getByRole('dialog').getByText('You are the second person.').waitFor();
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

describe('the page People', () => {
  test('is the admin’s: nobody else sees it', async () => {
    expect(await ada.page.getByRole('link', { name: 'People' }).count()).toBe(0);
    await ada.page.goto(`${world().desk.url}/people`);
    await ada.page.getByText('Tokens are given and taken by an admin').waitFor();
  });

  test('shows a token once, revokes one’s own and the last admin only with those words', async () => {
    await new DeskOperator(admin).goTo('People');
    const cleo = await signIn(await tokenFor('cleo', 'viewer', 'admin'));
    await looked(admin, 'people');
    // Long names break, and what others do is seen without a reload.
    const long = 'x'.repeat(64);
    await cleo.at.goTo('People');
    await tokenFor(long, 'viewer');
    await cleo.page.getByRole('cell', { name: long, exact: true }).waitFor();
    await looked(cleo.page, 'long-people');
    await admin.getByRole('button', { name: 'Copy' }).click();
    await admin.getByRole('button', { name: 'Done' }).click();
    expect(await admin.getByText('almdesk_').count()).toBe(0);
    const { page } = cleo;
    await cleo.at.goTo('People');
    await page.getByRole('button', { name: 'Revoke ben' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('waits for a second person again').waitFor();
    expect(await dialog.getByText('your own token').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke ben' }).waitFor({ state: 'detached' });
    await ben.page.reload();
    await ben.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.getByRole('button', { name: 'Revoke cleo' }).click();
    await dialog.getByText('This is your own token').waitFor();
    await dialog.getByText('Nobody else is admin').waitFor();
    await looked(page, 'revoke');
    await dialog.getByRole('button', { name: 'Revoke the last admin' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  test('nothing was fetched from elsewhere, and no page complained but of what was refused', () => {
    for (const { strangers, complaints } of [ada, ben]) {
      expect(strangers).toEqual([]);
      expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
    }
  });
});
