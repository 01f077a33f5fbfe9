import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { parseFaults } from '../../src/realm/server/faults.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { until } from '../support/until.js';

/** A store that answers nobody and closes no connection. */
const STOP_MS = 1_000;
let world: Program;
afterEach(async () => {
  process.kill(world.store.pid, 'SIGCONT');
  await world.end();
});

test('Ctrl-C while the store is frozen: a rule’s run leaves within its deadline', async () => {
  const members = Array.from({ length: 400 }, (_, index) => ({ member: String(1001 + index), tokens: 0 }));
  world = await Program.start({
    store: 'own',
    members,
    rate: '50/s',
    faults: parseFaults(['latency:1:20'], 1),
  });
  await world.file('almoner.config.yaml', `limits: { stopMs: ${STOP_MS}, storeAnswerMs: 500 }\n`);
  await world.file('jobs/audience.csv', `member\n${members.map(({ member }) => member).join('\n')}\n`);
  await world.file(
    'jobs/thanks.yaml',
    `name: thanks\nrealm: ${REALM_ID}\nperiod: day\naudience: { file: audience.csv }\naward: { tokens: 2 }\nreason: x\n`,
  );
  const { child } = world.start(['rules', 'run', 'thanks', '--yes']);
  await until('some to be paid', () => world.requests.length >= 10, 60_000);
  process.kill(world.store.pid, 'SIGSTOP');
  const startedAt = performance.now();
  child.kill('SIGINT');
  // Nobody wakes the store before it has left.
  const [status] = await once(child, 'close');
  expect(status).toBe(130);
  expect(performance.now() - startedAt).toBeGreaterThan(STOP_MS - 500);
}, 120_000);
