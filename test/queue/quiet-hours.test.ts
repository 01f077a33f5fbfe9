import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { document, textField } from '../support/document.js';
import { Program } from '../support/program/program.js';
import { startWorkerBeside } from '../support/program/worker-beside.js';
import { until } from '../support/until.js';

/** A worker in the realm’s quiet hours, which end while it waits because a person changes the profile. */
let world: Program;
const hour = (offset: number) => new Date(Date.now() + offset * 3_600_000).toISOString().slice(11, 16);
beforeAll(async () => {
  const quietHours = [`${hour(-1)}-${hour(2)}`];
  world = await Program.start({
    members: [{ member: '1', tokens: 0 }],
    profile: { quietHours, timezone: 'UTC' },
  });
  await world.file('gift.csv', 'member,tokens\n1,5\n');
});
afterAll(() => world.end());

test('no order is sent, the worker reports when the quiet hours end, and it resumes by itself', async () => {
  const plan = await world.run('plan', 'gift.csv');
  expect(plan.stdout).toMatch(/Quiet +\d\d:\d\d-\d\d:\d\d UTC: nothing is sent for the first time then/);
  const batch = textField(await world.run('import', 'gift.csv', '--yes', '--json'), 'batch');
  const quiet = await startWorkerBeside({ env: world.env, cwd: world.folder });
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
  await quiet.stop();
  await world.file('almoner.config.yaml', '{}');
  const worker = await startWorkerBeside({ env: world.env, cwd: world.folder });
  onTestFinished(() => worker.stop());
  await until('the payment', async () => (await world.appliedCount()) === 1, 60_000);
}, 180_000);
