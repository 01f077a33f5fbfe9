import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DESKTOP, type DeskPage, flaws, openDesk } from '../support/program/desk-browser.js';
import { deskInBrowser } from '../support/program/desk-in-browser.js';
import { DeskOperator } from '../support/program/desk-operator.js';
import { until } from '../support/until.js';

/** A store that had forgotten something under a running batch: found on the overview, decided on the page Recovery. */
const { members: MEMBERS, world, browser } = deskInBrowser([], [], { slow: true });

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

/** As after a restore: the ledger is closed, and opens once the worker has merged its journal. */
async function putBack(): Promise<void> {
  await world().store.hset(await openLedger(), 'forgot', '1', 'armed', 'another-server');
}

/** The key of the one ledger that has an open batch. */
async function openLedger(): Promise<string> {
  const { store } = world();
  const keys = (await store.keys('almoner:{*}')).filter((key) => /^almoner:\{[0-9a-f]+\}$/.test(key));
  for (const key of keys) if ((await store.zcard(`${key}:open`)) > 0) return key;
  throw new Error('no batch is open');
}

/** A process of a machine that is gone with its disk. */
async function loseMachine(session: string): Promise<void> {
  const { store } = world();
  const sessions = `${await openLedger()}:sessions`;
  const [entry = '{}'] = await store.hvals(sessions);
  const far = { machine: 'gone', boot: 'another', socket: '/nowhere/x.sock', place: 'gone', placeId: 'gone' };
  await store.hset(sessions, session, JSON.stringify({ ...JSON.parse(entry), ...far, id: session }));
}

const shown = async () => (await page.locator('main').allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ');

test('the banner over a batch leads to the decision, which names what will be sent', async () => {
  await operator.goTo('Recovery');
  await page.getByText('The store has forgotten nothing that the journals here know of.').first().waitFor();
  const rows = MEMBERS.map((member) => `${member},3`);
  await operator.importFile('fen.csv', 'fen', rows);
  await operator.stateSays('running');
  await until('a payment', async () => /paid [1-9]/.test(await shown()));
  await putBack();
  await operator.stateSays('halted');
  expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Decide about its realm on the page Recovery' }).waitFor();
  expect(await flaws(page, 'batch-after-rollback')).toEqual([]);

  await operator.goTo('Overview');
  await page.getByText('Realm fen: first sends wait for a person').waitFor();
  expect(await flaws(page, 'overview-after-rollback')).toEqual([]);
  await page.getByRole('link', { name: 'Look at it on the page Recovery' }).click();
  await page.getByRole('heading', { level: 2, name: 'fen' }).waitFor();
  expect(await shown()).toMatch(/fen\.csv: \d+ orders \(\d+ tokens\)/);
  expect(await flaws(page, 'recovery')).toEqual([]);

  await page.getByRole('button', { name: 'Resume fen' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This decision then starts 1 batch and all schedules').waitFor();
  await dialog.getByText(/From then on \d+ orders may be sent \(\d+ tokens\)/).waitFor();
  expect(await flaws(page, 'recovery-dialog')).toEqual([]);
  await dialog.getByRole('button', { name: 'Resume' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 2, name: 'Nothing to decide' }).waitFor();
  expect(await flaws(page, 'recovery-quiet')).toEqual([]);
  await operator.goTo('Batches');
  await page.getByRole('link', { name: 'fen.csv' }).click();
  await operator.stateSays('running');
  expect(opened).toMatchObject({ strangers: [], complaints: [] });
});

test('a closed realm shows what it waits for, and opens once the lost machine is given up', async () => {
  const LOST = '0a1b2c3d4e5f';
  await loseMachine(LOST);
  await putBack();
  await operator.goTo('Overview');
  await page.getByText('Realm fen is closed: nothing is sent.').waitFor();
  await page.getByRole('link', { name: 'Look at it on the page Recovery' }).click();
  await page
    .getByRole('listitem')
    .filter({ hasText: `Session ${LOST} (` })
    .waitFor();
  await page.getByText('closed, nothing is sent').waitFor();
  expect(await flaws(page, 'recovery-closed')).toEqual([]);
  await page.getByRole('button', { name: `Give up ${LOST}` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/becomes a doubt, up to \d+ orders \(\d+ tokens\)/).waitFor();
  expect(await flaws(page, 'recovery-give-up')).toEqual([]);
  await dialog.getByRole('button', { name: 'Give up' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('open, and first sends wait for a person').waitFor();
  await operator.goTo('Audit');
  await page.getByText(`gave up session ${LOST} of realm fen as lost`).waitFor();
  expect(opened).toMatchObject({ strangers: [], complaints: [] });
});
