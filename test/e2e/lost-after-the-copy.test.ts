import { afterAll, beforeAll, expect, test } from 'vitest';
import { Program } from '../support/program/program.js';

/** A machine begins to send after the copy of the store, and is lost with its disk: nothing that is left knows of it. */
const ROWS = 60;

let world: Program;
beforeAll(async () => {
  const members = Array.from({ length: ROWS }, (_, at) => ({ member: String(at + 1), tokens: 0 }));
  world = await Program.start({ store: 'own', certainty: 'manual', members, rate: '200/s' });
});
afterAll(() => world.end());

const recover = (...args: string[]) => world.run('recover', ...args, '--json');

test('a person gives the lost machine up; unsettled orders become doubts, and no member is paid twice', async () => {
  const rows = Array.from({ length: ROWS }, (_, at) => `${at + 1},5,r${at + 1}`);
  await world.file('pay.csv', `member,tokens,reference\n${rows.join('\n')}\n`);
  const { batch } = JSON.parse((await world.run('import', 'pay.csv', '--yes', '--json')).stdout);
  await world.file('seed.csv', 'member,tokens,reference\n1,1,seed\n');
  expect((await world.run('run', 'seed.csv', '--yes')).status).toBe(0);
  const nothing = await recover('--accept-missing', 'removed');
  expect([nothing.status === 0, JSON.parse(nothing.stdout).error?.code]).toEqual([
    false,
    'ALM_LEDGER_SESSION',
  ]);

  const restore = await world.photograph('copy');
  const far = world.start(['worker'], world.envOf('far'));
  while ((await world.appliedCount()) < 10) await new Promise((done) => setTimeout(done, 20));
  await far.kill();
  const sent = (await world.appliedWhenQuiet()) - 1;
  await restore();

  const shown = JSON.parse((await recover('--restored')).stdout);
  expect(shown.stories).toMatchObject([
    {
      state: 'waiting for a person',
      decisions: [
        { kind: 'resume' },
        { kind: 'accept-missing', of: 'removed', does: expect.stringContaining(`up to ${ROWS} orders`) },
      ],
    },
  ]);
  const given = await recover('--accept-missing', 'removed');
  expect(JSON.parse(given.stdout)).toMatchObject({ accepted: { exact: false, orders: ROWS } });
  expect((await world.run('resume', '--after-rollback')).status).toBe(0);
  const worker = world.start(['worker']);
  expect(await world.appliedWhenQuiet(1_500)).toBe(sent + 1);
  await worker.kill();
  expect(JSON.parse((await world.run('status', batch, '--json')).stdout)).toMatchObject({
    counts: { doubt: ROWS },
  });
}, 120_000);
