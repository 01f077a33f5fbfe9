import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listJournals } from '../../src/ledger/journal/folder.js';
import { listBatches, readBatch } from '../../src/ledger/read/batches.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import { ledgerOf } from '../support/program/daily-schedule.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { timePasses, wakeUntilNoted } from '../support/program/schedule-clock.js';
import { until } from '../support/until.js';

const MEMBERS = Array.from({ length: 10 }, (_, i) => String(101 + i));
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

async function answersIn(folder: string): Promise<number> {
  const found = await listJournals(folder);
  const texts = found.flatMap(({ files }) => files.map(({ path }) => readFile(path, 'utf8')));
  return (await Promise.all(texts)).join('').split(' ["R",').length - 1;
}

/** The awards follow from balances, so that after the payment the same rule makes other orders. */
test('a store that is restored to before a run of a rule over balances: serve pays nobody a second time', async () => {
  const members = MEMBERS.map((member) => ({ member, tokens: 100 }));
  const world = await Program.start({ store: 'own', certainty: 'manual', members });
  onTestFinished(() => world.end());
  const app = await world.app();
  const now = Date.now();
  const time = new Date(Math.floor(now / MINUTE_MS) * MINUTE_MS - 2 * MINUTE_MS);
  const rule = [
    'name: interest',
    `realm: ${REALM_ID}`,
    `schedule: { cron: "${time.getUTCMinutes()} ${time.getUTCHours()} * * *", missed: once }`,
    'period: month',
    `audience: { members: [${MEMBERS.join(', ')}] }`,
    'award: { tokens: "int(balance / 10)" }',
    'limits: { perRun: 1000 }',
    'reason: Interest',
  ];
  await world.file('jobs/interest.yaml', rule.join('\n'));
  await syncRules(app, { cwd: world.folder, approve: ['interest'], prune: false, now });
  const restore = await world.photograph('before');
  const serve = async () => {
    const served = world.start(['serve', '--port', '0', '--with-worker']);
    await timePasses(ledgerOf(app), world.store, 'interest', DAY_MS);
    await wakeUntilNoted(ledgerOf(app), world.store, 'interest');
    return served;
  };
  const first = await serve();
  const counts = async () => {
    const views = await Promise.all((await listBatches(ledgerOf(await world.app()))).map(readBatch));
    return views.map((view) => ({ recovered: view?.recovered, ...view?.counts }));
  };
  // Whose answer is in the journal is recovered as paid, not as a doubt.
  await until(
    'the payments and their answers',
    async () => (await answersIn(join(world.folder, 'data', 'journal'))) === MEMBERS.length,
    60_000,
  );
  expect(await world.appliedCount()).toBe(MEMBERS.length);
  await first.kill();
  await restore();

  const second = await serve();
  await until(
    'what the journals know to be back',
    async () => (await counts()).some((one) => one.recovered),
    60_000,
  );
  // Unattended payments wait for a person.
  expect((await world.run('resume', '--after-rollback')).status).toBe(0);
  await wakeUntilNoted(ledgerOf(app), world.store, 'interest');
  await until(
    'the time to be dealt with',
    async () => {
      const list = await world.run('rules', 'list', '--json');
      return JSON.parse(list.stdout).rules[0].lastScheduled !== null;
    },
    60_000,
  );
  expect(await world.appliedWhenQuiet()).toBe(MEMBERS.length);
  expect((await counts()).filter(({ recovered }) => recovered)).toEqual([{ recovered: true, paid: 10 }]);
  await second.kill();
});
