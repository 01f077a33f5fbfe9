import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Role } from '../../src/core/people.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { Tokens } from '../../src/operations/people/tokens.js';
import { DESKTOP, openDesk } from '../support/desk-browser.js';
import { DeskOperator } from '../support/desk-operator.js';
import { deskInBrowser } from '../support/desk-world.js';

/** What stands before a person who says go: times by the realm's own wall, and a dialog that stays what it was. */
const ZONE = 'Asia/Tokyo';
const {
  members: MEMBERS,
  world,
  browser,
} = deskInBrowser([], [], { approval: { overTokens: 100 }, timezone: ZONE, quietHours: ['01:00-02:00'] });

async function signIn(name: string, ...roles: Role[]) {
  const tokens = new Tokens(new ScriptClient(world().store, 10_000, () => {}));
  const token = await tokens.add(name, roles, 'tester', Date.now());
  const { page } = await openDesk(browser(), { url: world().desk.url, token }, { viewport: DESKTOP });
  return { page, at: new DeskOperator(page) };
}
type Person = Awaited<ReturnType<typeof signIn>>;
let ada: Person;
let ben: Person;
beforeAll(async () => {
  ada = await signIn('ada', 'operator', 'approver');
  ben = await signIn('ben', 'approver');
});
afterAll(async () => {
  for (const one of [ada, ben]) await one?.page.context().close();
});

test('set time and quiet hours stand there by the zone of the realm, for both people', async () => {
  const day = new Date(Date.now() + 48 * 3_600_000).toISOString().slice(0, 10);
  const begins = `${day} 18:30 ${ZONE}`;
  const quiet = `01:00-02:00 ${ZONE}: nothing is sent for the first time then`;
  const { page, at } = ada;
  await at.goTo('Import');
  await at.choose('later.csv', [`${MEMBERS[0]},500`]);
  await page.getByLabel('Realm').selectOption('meadow');
  await page.getByLabel('Begin at').fill(`${day} 18:30`);
  await at.planBy('Plan it');
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

/** The books of the meadow, which require something. */
async function booksKey(): Promise<string> {
  for (const key of await world().store.keys('almoner:{*}'))
    if ((await world().store.hexists(key, 'overTokens')) === 1) return key;
  throw new Error('nothing is required');
}

test('a dialog that asks for less agrees to nothing that somebody asked for meanwhile', async () => {
  const key = await booksKey();
  const most = () => world().store.hget(key, 'overTokens');
  await world().store.hset(key, 'overTokens', 50);
  const ask = async ({ page, at }: Person) => {
    await at.goTo('Overview');
    await at.goTo('Approvals');
    await page.getByRole('button', { name: 'Ask for it' }).click();
    return page.getByRole('dialog');
  };
  const open = await ask(ada);
  const button = open.getByRole('button', { name: 'Ask for it' });
  expect(await button.isEnabled()).toBe(true);
  await (await ask(ben)).getByRole('button', { name: 'Ask for it' }).click();
  await ben.page.getByText('You asked for it; somebody else has to say go.').waitFor();
  await open.getByText('ben asked for it meanwhile.').waitFor();
  expect(await button.isDisabled()).toBe(true);
  expect(await open.getByRole('button', { name: 'Agree' }).count()).toBe(0);
  expect(await most()).toBe('50');
  await open.getByRole('button', { name: 'Go back' }).click();
  await ada.page.getByRole('button', { name: 'Agree' }).click();
  await open.getByText('ben asked for it. From then on').waitFor();
  await open.getByRole('button', { name: 'Agree' }).click();
  await open.waitFor({ state: 'detached' });
  expect(await most()).toBe('100');
});
