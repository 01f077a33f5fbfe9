import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBatch, readBatch } from '../../src/ledger/read/batches.js';
import { auditByContent } from '../support/program/auditor.js';
import { onBadNetwork, Program } from '../support/program/program.js';
import { uniqueRows } from '../support/program/unique-rows.js';
import { until } from '../support/until.js';

/**
 * The store answers a real worker, and refuses to run scripts. The realm honours no key and the certainty is manual, so
 * a second payment or a needless doubt would show.
 */
const ROWS = 120;
const USER = 'clerk';
let world: Program;

beforeAll(async () => {
  world = await Program.start(
    onBadNetwork({
      certainty: 'manual',
      members: uniqueRows(ROWS * 2).seeds,
      rate: '60/s',
      faults: ['latency:1:150'],
      limits: { refusedMs: 500, stopMs: 4_000 },
    }),
  );
  await world.store.client().call('ACL', 'SETUSER', USER, 'on', '>secret', '~*', '&*', '+@all');
});
afterAll(() => world.end());

const rights = (...words: string[]) => world.store.client().call('ACL', 'SETUSER', USER, ...words);
const refuse = () => rights('-evalsha', '-eval');
const allow = () => rights('+evalsha', '+eval');
const worker = () =>
  world.start(['worker'], { REDIS_URL: `redis://${USER}:secret@127.0.0.1:${world.store.port}` });

async function imported(name: string, first: number) {
  await world.file(name, uniqueRows(ROWS, first).csv);
  const ran = await world.run('import', name, '--yes', '--json');
  expect(ran.status, ran.stderr).toBe(0);
  return findBatch(world.ledger().scripts, String(JSON.parse(ran.stdout).batch));
}

async function expectAllPaid(ref: Awaited<ReturnType<typeof imported>>, by: ReturnType<typeof worker>) {
  await until(`the end: ${by.stderr()}`, async () => (await readBatch(ref))?.state === 'done', 60_000);
  expect((await readBatch(ref))?.counts).toEqual({ paid: ROWS });
  const report = await world.run('report', ref.id, '--json');
  expect(report.status, report.stderr).toBe(0);
  const { wrong } = await auditByContent(await world.applied(), `${world.folder}/reports`, ref.id);
  expect(wrong).toEqual([]);
}

test('scripts are refused for three seconds: every answer is stored afterwards, and no member is paid twice', async () => {
  const ref = await imported('cut.csv', 0);
  const one = worker();
  await until('payments', async () => (await world.appliedCount()) >= 30, 60_000);
  await refuse();
  await sleep(3_000);
  expect((await readBatch(ref))?.counts.sending).toBeGreaterThan(0);
  await allow();
  await expectAllPaid(ref, one);
  one.child.kill('SIGTERM');
  expect(await one.ended, one.stderr()).toBe(0);
}, 120_000);

test('refused until the worker is stopped: it lists them, ends with 1, and the next worker settles them', async () => {
  const ref = await imported('stopped.csv', ROWS);
  const one = worker();
  const before = await world.appliedCount();
  await until('payments', async () => (await world.appliedCount()) >= before + 30, 60_000);
  await refuse();
  const waiting = await until('the refusal to be listed', async () => {
    const status = JSON.parse((await world.run('status', ref.id, '--json')).stdout);
    return status.waiting.find(({ why }: { why: string }) => why === 'store-refuses');
  });
  expect(waiting).toMatchObject({ until: null, next: 'almoner recover' });
  expect(waiting.message).toContain('NOPERM');
  const asked = performance.now();
  one.child.kill('SIGTERM');
  expect(await one.ended, one.stderr()).toBe(1);
  expect(performance.now() - asked).toBeLessThan(7_000);
  const kept = (await readBatch(ref))?.counts.sending ?? 0;
  expect(kept).toBeGreaterThan(0);
  await allow();
  const next = worker();
  await expectAllPaid(ref, next);
  next.child.kill('SIGTERM');
  expect(await next.ended, next.stderr()).toBe(0);
}, 120_000);
