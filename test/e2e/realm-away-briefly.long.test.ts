import { expect, onTestFinished, test } from 'vitest';
import { openMortalRealm } from '../support/program/realm-away.js';
import { until } from '../support/until.js';

test('three rows and a realm that is away from the start: when it is back they are paid at once, and the run ends 0', async () => {
  const { world, leave, comeBack, breakerOpens, probes } = await openMortalRealm(3);
  onTestFinished(() => world.end());
  await leave();
  const run = world.start(['run', 'pay.csv', '--yes', '--json']);
  await breakerOpens(run.stderr);
  await probes(3);
  const waiting = JSON.parse((await world.run('status', 'last', '--json')).stdout);
  expect(waiting).toMatchObject({
    state: 'running',
    counts: { planned: 3 },
    requests: 0,
    etaSeconds: null,
    waiting: [{ why: 'breaker', orders: 3, next: null }],
  });
  expect(Date.parse(waiting.waiting[0].until)).toBeGreaterThan(Date.now() + 600_000);
  // The process that waits says so itself.
  await until('its progress to say so', () => /3 wait \(breaker since/.test(run.stderr()));
  await comeBack();
  expect(await run.ended, run.stderr()).toBe(0);
  expect(JSON.parse(run.stdout())).toMatchObject({ state: 'done', counts: { paid: 3 } });
  expect(await world.applied()).toHaveLength(3);
}, 120_000);
