import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { syncRules } from '../../src/operations/rules/sync.js';
import { ledgerOf } from '../support/program/daily-schedule.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { timePasses, wakeUntilNoted } from '../support/program/schedule-clock.js';
import { until } from '../support/until.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

test('almoner serve pays what is due, tells it, and calls the dead-man URL; killed, the list says that nobody serves', async () => {
  const world = await Program.start({ store: 'own', members: [{ member: '101', tokens: 0 }] });
  onTestFinished(() => world.end());
  let calls = 0;
  const outside = createServer((_, reply) => {
    calls += 1;
    reply.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    outside.closeAllConnections();
    outside.close();
  });
  await until('the port', () => outside.listening);
  const { port } = outside.address() as AddressInfo;
  world.env.ALMONER_DEAD_MAN_URL = `http://127.0.0.1:${port}/alive`;
  await world.file('almoner.config.yaml', 'deadMan: { urlEnv: ALMONER_DEAD_MAN_URL }\n');
  const app = await world.app();
  /** A daily rule at that time, approved at the other one. */
  const approve = async (time: Date, now: number) => {
    const rule = [
      'name: daily',
      `realm: ${REALM_ID}`,
      `schedule: { cron: "${time.getUTCMinutes()} ${time.getUTCHours()} * * *", missed: once }`,
      'period: day',
      'audience: { members: [101] }',
      'award: { tokens: 5 }',
      'limits: { perRun: 10 }',
      'reason: Daily',
    ];
    await world.file('jobs/daily.yaml', rule.join('\n'));
    await syncRules(app, { cwd: world.folder, approve: ['daily'], prune: false, now });
  };
  const standing = async () => {
    const list = await world.run('rules', 'list', '--json');
    return JSON.parse(list.stdout).rules[0].standing;
  };
  const now = Date.now();
  const due = new Date(Math.floor(now / MINUTE_MS) * MINUTE_MS - 3 * MINUTE_MS);
  await approve(due, due.getTime() - 1);
  expect(await standing()).toMatchObject({ outcome: 'unserved', isGood: false, at: due.toISOString() });

  const later = new Date(due.getTime() + MINUTE_MS);
  await approve(later, now);
  const served = world.start(['serve', '--port', '0', '--with-worker']);
  await until('the call of the first round', () => calls > 0, 60_000);
  await timePasses(ledgerOf(app), world.store, 'daily', DAY_MS);
  await wakeUntilNoted(ledgerOf(app), world.store, 'daily');
  await until('the payment', async () => (await standing()).outcome === 'paid', 60_000);
  expect(await world.realm.admin.balance(REALM_ID, '101')).toBe(5);
  expect(served.stderr()).not.toContain('/alive');
  await served.kill();

  const before = calls;
  // The next time comes, and nobody has looked for a while.
  await timePasses(ledgerOf(app), world.store, 'daily', DAY_MS);
  const client = world.store.client();
  await client.hset((await client.keys('*:rules:rounds'))[0] ?? '', 'looked', due.getTime());
  expect(await standing()).toMatchObject({ outcome: 'unserved', at: later.toISOString() });
  expect(calls).toBe(before);
}, 180_000);
