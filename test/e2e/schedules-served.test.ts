import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { syncRules } from '../../src/operations/rules/sync.js';
import { REALM_ID, startRulesWorld } from '../support/rules-world.js';
import { until } from '../support/until.js';

test('almoner serve pays what is due, tells it, and calls the dead-man URL; killed, the list says that nobody serves', async () => {
  const world = await startRulesWorld({ members: [{ member: '101', tokens: 0 }] });
  let calls = 0;
  const outside = createServer((_, reply) => {
    calls += 1;
    reply.end();
  }).listen(0, '127.0.0.1');
  try {
    await until('the port', () => outside.listening);
    const { port } = outside.address() as AddressInfo;
    world.env.ALMONER_DEAD_MAN_URL = `http://127.0.0.1:${port}/alive`;
    await world.file('almoner.config.yaml', 'deadMan: { urlEnv: ALMONER_DEAD_MAN_URL }\n');
    const due = Math.floor(Date.now() / 60_000) * 60_000 - 180_000;
    const at = new Date(due);
    const rule = [
      'name: daily',
      `realm: ${REALM_ID}`,
      `schedule: { cron: "${at.getUTCMinutes()} ${at.getUTCHours()} * * *", missed: once }`,
      'period: day',
      'audience: { members: [101] }',
      'award: { tokens: 5 }',
      'limits: { perRun: 10 }',
      'reason: Daily',
    ];
    await world.file('jobs/daily.yaml', rule.join('\n'));
    await syncRules(await world.app(), { cwd: world.folder, approve: ['daily'], prune: false, now: due - 1 });
    const standing = async () => {
      const list = await world.run('list', '--json');
      return JSON.parse(list.stdout).rules[0].standing;
    };
    expect(await standing()).toMatchObject({ outcome: 'unserved', isGood: false, at: at.toISOString() });
    const served = world.start('serve', '--port', '0', '--with-worker');
    await until('the payment', async () => (await standing()).outcome === 'paid', 60_000);
    await until('the call', () => calls > 0, 60_000);
    expect(await world.realm.admin.balance(REALM_ID, '101')).toBe(5);
    expect(served.stderr()).not.toContain('/alive');
    await served.kill();
    const before = calls;
    // Another time comes, as it were: nobody is there for it.
    const later = new Date(due + 60_000);
    rule[2] = `schedule: { cron: "${later.getUTCMinutes()} ${later.getUTCHours()} * * *", missed: once }`;
    await world.file('jobs/daily.yaml', rule.join('\n'));
    await syncRules(await world.app(), { cwd: world.folder, approve: ['daily'], prune: false, now: due + 1 });
    await world.store
      .client()
      .hset((await world.store.client().keys('*:rules:rounds'))[0] ?? '', 'looked', due);
    expect(await standing()).toMatchObject({ outcome: 'unserved', at: later.toISOString() });
    expect(calls).toBe(before);
  } finally {
    outside.closeAllConnections();
    outside.close();
    await world.end();
  }
}, 180_000);
