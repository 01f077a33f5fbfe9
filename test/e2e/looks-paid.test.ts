import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Program } from '../support/program/program.js';

let world: Program;
afterEach(() => world.end());

const id = (n: number) => String(7_000_000 + n);
const members = Array.from({ length: 140 }, (_, n) => ({ member: id(n), tokens: 10_000 }));
/** Rows without references: member n gets n + 1. */
const bare = (from: number, to: number) =>
  [
    'member,tokens',
    ...Array.from({ length: to - from }, (_, i) => `${id(from + i)},${from + i + 1}`),
    '',
  ].join('\n');

async function json(...args: string[]) {
  const ran = await world.run(...args, '--json');
  return { status: ran.status, told: JSON.parse(ran.stdout), stderr: ran.stderr };
}

test('a paid file with rows appended stops and says which rows; --new-rows-only pays the others, once', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', bare(0, 100));
  const first = await json('run', 'a.csv', '--yes');
  await world.file('b.csv', bare(0, 130));
  const stopped = await json('run', 'b.csv', '--yes');
  expect(stopped.status).toBe(3);
  expect(stopped.told.faults).toMatchObject([{ line: 0, code: 'ALM_PLAN_LOOKS_PAID' }]);
  const [{ message }] = stopped.told.faults;
  expect(message).toContain(`lines 2-101 in batch ${first.told.batch}`);
  expect(message).toContain('100 of its 130');
  expect(message).toContain('--new-rows-only');
  expect(message).toContain('--again LABEL');
  expect(message).toContain('reference column');
  expect(await world.applied()).toHaveLength(100);

  const plan = await json('plan', 'b.csv', '--new-rows-only');
  expect(plan.told).toMatchObject({ duplicates: 100, payable: { orders: 30 }, faults: [] });
  const { stdout } = await world.run('plan', 'b.csv', '--new-rows-only');
  expect(stdout).toContain(`Duplicates 100, not paid again (orders of ${first.told.batch})`);
  expect(stdout).toMatch(/then almoner run b\.csv --new-rows-only$/m);
  const some = await json('run', 'b.csv', '--yes', '--new-rows-only', '--first', '10');
  expect(some.told).toMatchObject({ state: 'paused', counts: { paid: 10, planned: 20, duplicate: 100 } });
  const rest = await json('run', 'b.csv', '--yes', '--new-rows-only');
  expect(rest.told).toMatchObject({ batch: some.told.batch, existing: true, state: 'done' });
  expect(rest.told.counts).toEqual({ paid: 30, duplicate: 100 });
  for (const flags of [['--new-rows-only'], []]) {
    const again = await json('run', 'b.csv', '--yes', ...flags);
    expect(again).toMatchObject({
      status: 0,
      told: { batch: some.told.batch, existing: true, state: 'done' },
    });
  }
  const duplicates = await readFile(join(rest.told.report, 'duplicate.csv'), 'utf8');
  expect(duplicates).toContain(`the same row is order ${first.told.batch}-1`);
  expect(await world.applied()).toHaveLength(130);
});

test('a small file stops from a fifth on, whatever --yes says; below that a warning names the row', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', bare(0, 19));
  const first = await json('run', 'a.csv', '--yes');
  await world.file('b.csv', `${bare(1, 19)}${id(0)},1\n`);
  expect(await json('run', 'b.csv', '--yes')).toMatchObject({ status: 3 });
  await world.file('c.csv', `${bare(100, 104)}${id(0)},1\n`);
  expect(await json('run', 'c.csv', '--yes')).toMatchObject({
    status: 3,
    told: { faults: [{ code: 'ALM_PLAN_LOOKS_PAID' }] },
  });
  await world.file('d.csv', `${bare(100, 105)}${id(0)},1\n`);
  const warned = await json('plan', 'd.csv');
  expect(warned.status).toBe(0);
  expect(warned.told.warnings).toMatchObject([
    { line: 7, code: 'ALM_PLAN_LOOKS_PAID', message: expect.stringContaining(`${first.told.batch}-1 `) },
  ]);
  expect(await world.applied()).toHaveLength(19);
});

test('after a cancelled run nothing advises to pay its paid rows again, and the rest is paid once by either way', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', bare(0, 100));
  const first = await json('run', 'a.csv', '--yes', '--first', '38');
  expect((await world.run('cancel', first.told.batch, '--json')).status).toBe(0);
  await world.run('report', first.told.batch, '--json');
  for (const command of [['plan'], ['run', '--yes'], ['import', '--yes']]) {
    const { stdout } = await world.run(...command, 'a.csv');
    expect(stdout, command[0]).not.toContain('--again');
    expect(stdout, command[0]).toContain('unprocessed.csv');
    expect(stdout, command[0]).toContain('--new-rows-only');
    expect(stdout, command[0]).not.toMatch(/To send +(?:100|62) orders/);
  }
  expect((await json('plan', 'a.csv')).told).toMatchObject({ existing: true, payable: { orders: 0 } });
  const some = await json('run', 'a.csv', '--yes', '--new-rows-only', '--first', '12');
  expect(some.told).toMatchObject({ existing: false, counts: { paid: 12, planned: 50, duplicate: 38 } });
  expect(some.told.batch).not.toBe(first.told.batch);
  const rest = await json('run', 'a.csv', '--yes', '--new-rows-only');
  expect(rest.told).toMatchObject({ batch: some.told.batch, existing: true, counts: { paid: 62 } });
  expect(await world.applied()).toHaveLength(100);
  // Its rows stand in for orders that were never sent, and yet they were paid since.
  await world.file('rest.csv', await readFile(join(first.told.report, 'unprocessed.csv'), 'utf8'));
  const refused = await json('run', 'rest.csv', '--yes');
  expect(refused).toMatchObject({ status: 3, told: { faults: [{ code: 'ALM_PLAN_LOOKS_PAID' }] } });
  expect(await world.applied()).toHaveLength(100);
});

test('the plan of a batch that is over has nothing to pay', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', bare(0, 100));
  const { told } = await json('run', 'a.csv', '--yes');
  expect((await json('plan', 'a.csv')).told).toMatchObject({
    batch: told.batch,
    payable: { orders: 0, tokens: '0' },
    requests: 0,
    seconds: 0,
  });
  const { stdout } = await world.run('plan', 'a.csv');
  expect(stdout).toContain(`batch ${told.batch} is done`);
  expect(stdout).not.toContain('To send    100');
});

test('a refused file does not count a spent reference as to be paid', async () => {
  world = await Program.start({ members });
  const rows = (tokens: (n: number) => number) =>
    ['member,tokens,reference', ...[0, 1, 2, 3].map((n) => `${id(n)},${tokens(n)},r-${n}`), ''].join('\n');
  await world.file(
    'a.csv',
    rows(() => 5),
  );
  await json('run', 'a.csv', '--yes');
  await world.file('b.csv', `${rows((n) => (n === 0 ? 6 : 5))}${id(9)},5,r-9\n`);
  const { status, told } = await json('plan', 'b.csv');
  expect(status).toBe(3);
  expect(told.faults).toMatchObject([{ line: 2, code: 'ALM_ROW_REFERENCE_SPENT' }]);
  expect(told).toMatchObject({ rows: 5, duplicates: 3, payable: { orders: 1, tokens: '5' } });
});

test('--new-rows-only and --again are two different wishes', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', bare(0, 3));
  const { status, stderr } = await world.run('plan', 'a.csv', '--again', 'x', '--new-rows-only');
  expect(status).toBe(2);
  expect(stderr).toContain('--new-rows-only');
});
