import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Program } from '../support/program/program.js';
import { openStandingStill } from '../support/program/standing-still.js';
import { until } from '../support/until.js';

const ROWS = 60;

test('a worker lost with its machine and its disk: named by status, doctor and recover, with the command', async () => {
  const { world, status, sendingNow } = await openStandingStill(ROWS, { faults: ['latency:1:300'] });
  onTestFinished(() => world.end());
  await world.run('import', 'pay.csv', '--yes', '--json');
  const lost = world.start(['worker', '--concurrency', '3'], world.envOf('lost'));
  await sendingNow(3, lost.stderr);
  lost.child.kill('SIGKILL');
  await lost.ended;
  await rm(join(world.folder, 'lost'), { recursive: true });
  const session = await movedAway(world);
  const { sending } = (await status()).counts;
  expect(sending).toBeGreaterThan(0);

  const other = world.start(['worker']);
  const named = await until(
    `only what was lost to be left: ${other.stderr()}`,
    async () => {
      const now = await status();
      return (now.counts.planned ?? 0) === 0 && now.counts.sending === sending ? now : undefined;
    },
    90_000,
  );
  expect(named).toMatchObject({ state: 'running', counts: { paid: ROWS - sending }, etaSeconds: null });
  expect(named.waiting).toMatchObject([
    {
      why: 'missing-session',
      orders: sending,
      tokens: named.tokens.sending,
      until: null,
      next: 'almoner recover',
      session,
    },
  ]);
  expect(named.waiting[0].message).toContain('machine away');
  const text = await world.run('status', 'last');
  expect(text.stdout).toContain('almoner recover');
  const doctor = await world.run('doctor', '--json');
  expect(JSON.parse(doctor.stdout).checks).toContainEqual(
    expect.objectContaining({
      name: 'waiting',
      state: 'failed',
      message: expect.stringContaining(session),
      remedy: expect.stringContaining('almoner recover'),
    }),
  );
  const recover = await world.run('recover');
  expect(recover.stdout).toContain(
    `${sending} orders stand still (${named.tokens.sending} tokens). Session ${session}`,
  );
  expect(recover.stdout).toContain(`almoner recover --accept-missing ${session}`);
  // A worker that waits says for what.
  await until('its log to say so', () => other.stderr().includes('missing-session'), 60_000);
}, 240_000);

/** As far as this machine can tell, the only registered session was on another one, and is silent for a while. */
async function movedAway(world: Program): Promise<string> {
  const { scripts, keyPrefix } = world.ledger();
  const [entry] = Object.entries(await scripts.redis.hgetall(`${keyPrefix}:sessions`));
  const [id = '', json = '{}'] = entry ?? [];
  const far = { machine: 'away', boot: 'another', socket: '/nowhere/sessions/x.sock', place: '1:1' };
  const silentMs = Date.now() - 50_000;
  await scripts.redis.hset(
    `${keyPrefix}:sessions`,
    id,
    JSON.stringify({ ...JSON.parse(json), ...far, startedAt: silentMs }),
  );
  await scripts.redis.hset(`${keyPrefix}:seen`, id, silentMs);
  return id;
}
