import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { parseFaults } from '../../src/realm/server/faults.js';
import { almoner } from '../support/program/almoner.js';
import { auditReport } from '../support/program/auditor.js';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';

let world: Program;
afterEach(() => world.end());

const ROWS = 300;
const members = Array.from({ length: 60 }, (_, n) => ({ member: String(5_000_000 + n), tokens: 0 }));
const csv = (rows: number) =>
  `member,tokens,reference\n${Array.from({ length: rows }, (_, i) => `${5_000_000 + (i % 60)},${i + 1},r-${i}`).join('\n')}\n`;

test('Ctrl-C pauses after what is being sent, says so, and the same command goes on', async () => {
  world = await Program.start({ members, faults: parseFaults(['latency:1:60']) });
  await world.file('a.csv', csv(ROWS));
  const run = world.start(['run', 'a.csv', '--yes', '--json']);
  await until('some are paid', async () => (await world.appliedCount()) > 50 || undefined);
  run.child.kill('SIGINT');
  expect(await run.ended).toBe(130);
  const paused = JSON.parse(run.stdout());
  expect(paused).toMatchObject({ state: 'paused', reason: { code: 'ALM_BATCH_INTERRUPTED' } });
  expect(paused.counts.sending ?? 0).toBe(0);
  // Nothing moves after the command has ended.
  const settled = await world.appliedCount();
  expect(settled).toBe(paused.counts.paid);
  const status = JSON.parse((await world.run('status', 'last', '--json')).stdout);
  expect(status).toMatchObject({ batch: paused.batch, state: 'paused' });
  expect(await world.appliedCount()).toBe(settled);
  const again = await world.run('run', 'a.csv', '--yes', '--json');
  expect(again.status, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({
    batch: paused.batch,
    existing: true,
    state: 'done',
    counts: { paid: ROWS },
  });
  await auditReport(await world.applied(), join(world.folder, 'reports'), paused.batch);
});

test('--first N pays N orders, reports and pauses; the rest follows without it', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', csv(50));
  const first = await world.run('run', 'a.csv', '--yes', '--first', '7', '--json');
  expect(first.status, first.stderr).toBe(5);
  expect(JSON.parse(first.stdout)).toMatchObject({
    state: 'paused',
    reason: { code: 'ALM_BATCH_FIRST' },
    counts: { paid: 7, planned: 43 },
  });
  expect(await world.appliedCount()).toBe(7);
  const rest = await world.run('run', 'a.csv', '--yes', '--json');
  expect(rest.status, rest.stderr).toBe(0);
  expect(await world.appliedCount()).toBe(50);
});

test('--in-order applies the rows strictly in file order', async () => {
  world = await Program.start({
    members,
    faults: parseFaults(['error-after:0.1', 'reset-before:0.1', 'latency:0.3:20']),
    profile: { attempts: { backoffMs: 10, backoffMaxMs: 50 } },
  });
  await world.file('a.csv', csv(25));
  const ran = await world.run('run', 'a.csv', '--yes', '--in-order', '--json');
  expect(ran.status, ran.stderr).toBe(0);
  expect((await world.applied()).map(({ tokens }) => tokens)).toEqual(
    Array.from({ length: 25 }, (_, i) => i + 1),
  );
});

test('a refused key halts the realm at once, burns no order, and the mended key goes on', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', csv(40));
  await world.file('key', 'wrong-key-of-nobody-0123456789');
  const env = { ...world.env, ALMONER_API_KEY: undefined, ALMONER_API_KEY_FILE: join(world.folder, 'key') };
  const run = () => almoner(['run', 'a.csv', '--yes', '--json'], { cwd: world.folder, env });
  const halted = await run();
  expect(halted.status).toBe(5);
  const told = JSON.parse(halted.stdout);
  expect(told).toMatchObject({ state: 'halted', counts: { planned: 40 } });
  expect(told.reason.message).toContain('401');
  expect((await run()).status).toBe(5);
  await world.file('key', `${world.env.ALMONER_API_KEY}\n`);
  const mended = await run();
  expect(mended.status, mended.stderr).toBe(0);
  expect(JSON.parse(mended.stdout)).toMatchObject({ state: 'done', counts: { paid: 40 } });
});

test('a wrong address that answers 404 burns five rows, not the file', async () => {
  world = await Program.start({ members: [] });
  await world.file('a.csv', csv(300));
  const ran = await world.run('run', 'a.csv', '--yes', '--json');
  expect(ran.status, ran.stderr).toBe(5);
  const status = JSON.parse(ran.stdout);
  expect(status).toMatchObject({ state: 'halted', reason: { code: 'ALM_BATCH_REFUSALS' } });
  // Eight orders are under way before the first is paid. Those at the fifth refusal finish; nothing new begins.
  expect(status.counts.refused).toBeLessThan(5 + 8);
  expect(status.counts.planned + status.counts.refused).toBe(300);
  const failed = await readFile(join(status.report, 'failed.csv'), 'utf8');
  expect(failed.trim().split('\n')).toHaveLength(status.counts.refused + 1);
});

test('an address where nothing listens halts the realm in the end and burns nothing', async () => {
  world = await Program.start({
    members,
    limits: { breakerHaltMs: 1_000 },
    profile: { attempts: { max: 3, backoffMs: 10, backoffMaxMs: 20 } },
  });
  await world.file('a.csv', csv(3));
  await world.realm.close();
  const ran = await world.run('run', 'a.csv', '--yes', '--json');
  expect(ran.status, ran.stderr).toBe(5);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    state: 'halted',
    reason: { code: 'ALM_BATCH_BREAKER' },
    counts: { planned: 3 },
    requests: 0,
  });
  expect(await world.applied()).toEqual([]);
});
