import { afterAll, beforeAll, expect, test } from 'vitest';
import { document, textField } from '../support/document.js';
import { type RealmAndOperator, startRealmAndOperator } from '../support/realm-and-operator.js';
import { until } from '../support/until.js';

/** A worker in the quiet hours of its realm, which end while it waits: the profile is changed, as a person would. */
let world: RealmAndOperator;
const hour = (offset: number) => new Date(Date.now() + offset * 3_600_000).toISOString().slice(11, 16);
beforeAll(async () => {
  const quietHours = [`${hour(-1)}-${hour(2)}`];
  world = await startRealmAndOperator({
    members: [{ member: '1', tokens: 0 }],
    profile: { quietHours, timezone: 'UTC' },
  });
  await world.file('gift.csv', 'member,tokens\n1,5\n');
});
afterAll(() => world.end());

test('nothing is sent, which is said with its end; once they are over it goes by itself', async () => {
  const plan = await world.run('plan', 'gift.csv');
  expect(plan.stdout).toMatch(/Quiet +\d\d:\d\d-\d\d:\d\d UTC: nothing is sent for the first time then/);
  const batch = textField(await world.run('import', 'gift.csv', '--yes', '--json'), 'batch');
  const worker = world.start(['worker']);
  await until(
    'it to be said',
    async () => {
      const { stdout } = await world.run('status', batch);
      return stdout.includes('(quiet)') && stdout.includes('nothing is sent for the first time before');
    },
    60_000,
  );
  expect(document(await world.run('status', batch, '--json'))).toMatchObject({
    waiting: [
      { why: 'quiet', orders: 1, tokens: '5', until: expect.stringMatching(/:00\.000Z$/), next: null },
    ],
  });
  expect(await world.appliedCount()).toBe(0);
  await worker.kill();
  await world.file('almoner.config.yaml', '{}');
  world.start(['worker']);
  await until('the payment', async () => (await world.appliedCount()) === 1, 60_000);
}, 180_000);
